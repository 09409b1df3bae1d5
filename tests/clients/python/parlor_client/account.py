"""What came of a storm: what was done, what went wrong on purpose, and what should not have."""

from collections import Counter
from dataclasses import dataclass

from parlor_client.faults import Kind
from parlor_client.findings import Report, Rule

# What is looked for, and the findings that it would be seen by.
WRONGS: dict[str, set[Rule]] = {
    "lost": {Rule.LOST},
    "doubled": {Rule.DOUBLED, Rule.UNSENT},
    "reordered": {Rule.TIME, Rule.STALE, Rule.EARLY},
    "forked": {Rule.FORK, Rule.RESET},
    "gaps": {Rule.GAP, Rule.START, Rule.END},
    "repeated": {Rule.REPEAT, Rule.ORDER},
    "answered in two ways": {Rule.ANSWER},
}
WRONGS["wrong otherwise"] = set(Rule).difference(*WRONGS.values())


@dataclass
class Account:
    """What came of one seed."""

    seed: int
    secs: float
    # Actions accepted in a second before the first fault.
    rate: float
    drawn: Counter[Kind]
    # Faults that had an effect.
    occurred: Counter[Kind]
    # Streams that went on elsewhere after their server was killed.
    resumed: int
    report: Report
    # What servers logged that should never happen.
    errors: list[str]

    @property
    def wrongs(self) -> Counter[str]:
        """How much of what was looked for was found."""
        found = Counter(finding.rule for finding in self.report.findings)
        return Counter({name: sum(found[rule] for rule in of) for name, of in WRONGS.items()})

    @property
    def is_good(self) -> bool:
        """Whether nothing was found."""
        return not self.report.findings and not self.errors

    def __str__(self) -> str:
        counts = self.report.counts
        refused = sum(count for what, count in counts.items() if what.startswith("refused"))
        faults = [f"{kind} {self.occurred[kind]}/{self.drawn[kind]}" for kind in self.drawn]
        lines = [
            f"seed {self.seed}: {self.secs:.1f} s, {self.rate:.0f} actions/s before any fault",
            f"  faults that had an effect: {', '.join(sorted(faults))}",
            f"  matches {counts['matches']}, actions sent {counts['actions sent']}, "
            f"accepted {counts['actions accepted']}, conflicts {refused}, "
            f"repeats {counts['repeats']}, tries without an answer "
            f"{counts['tries without an answer']}",
            f"  updates and snapshots {counts['frames checked']}, streams resumed "
            f"{counts['stream resumes']}, of them after a kill {self.resumed}, started over "
            f"{counts['streams that started over']}",
            "  " + ", ".join(f"{name} {count}" for name, count in self.wrongs.items()),
        ]
        lines += [f"  {finding}" for finding in self.report.findings[:20]]
        return "\n".join([*lines, *(f"  logged: {error}" for error in self.errors[:20])])

    def to_json(self) -> dict[str, object]:
        """The same for programs."""
        return {
            "seed": self.seed,
            "secs": round(self.secs, 1),
            "actions_per_sec_before_faults": round(self.rate, 1),
            "faults_drawn": {kind.name.lower(): count for kind, count in self.drawn.items()},
            "faults_with_effect": {kind.name.lower(): n for kind, n in self.occurred.items()},
            "streams_resumed_after_a_kill": self.resumed,
            "counts": dict(self.report.counts),
            "wrongs": dict(self.wrongs),
            "findings": [str(finding) for finding in self.report.findings],
            "errors": self.errors,
        }
