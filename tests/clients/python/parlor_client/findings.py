"""What a checker can find, and its report."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class Rule(StrEnum):
    """What is promised, by what breaks it."""

    START = "a stream does not begin as it was asked to"
    GAP = "a version is missing in a stream"
    REPEAT = "a version stands twice in a stream"
    ORDER = "versions are not in order in a stream"
    END = "a stream ends before the match, or not at all"
    RESET = "a stream takes back what it told"
    LOST = "an acknowledged action is not in the match"
    DOUBLED = "an action stands twice in the match, or two actions have one version"
    UNSENT = "something happened that nobody sent"
    UNANSWERED = "an action was neither carried out nor refused"
    REFUSED = "an action was refused without need"
    FORK = "two who may see the same are told different things of one version"
    ANSWER = "an action was answered in several ways"
    TIME = "an action comes before one that was acknowledged before it was sent"
    STALE = "what is read is older than what was acknowledged before"
    EARLY = "a version was seen before its action was sent"
    ILLEGAL = "an action was carried out against the rules"
    DEAL = "the cards of a deal are not those of the game"
    LEAK = "a viewer sees what is hidden from it"
    EVENTS = "what a viewer is told is not what happened"
    DECISIONS = "the wrong seat is asked"
    LEGAL = "the actions that are offered are not those that the rules allow"
    VIEW = "a view is not what happened"
    OUTCOME = "the match did not end as its actions say"


@dataclass(frozen=True)
class Finding:
    """A promise that was broken, and where."""

    rule: Rule
    match_id: str
    viewer: str
    version: int | None
    details: str

    def __str__(self) -> str:
        place = f"match {self.match_id}, {self.viewer}, version {self.version}"
        return f"{self.rule}: {place}: {self.details}"


@dataclass
class Report:
    """What was found, and how much was looked at."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        width = max(map(len, self.counts), default=0)
        lines = [f"  {name:{width}} {count:6}" for name, count in sorted(self.counts.items())]
        found = [f"  {finding}" for finding in self.findings[:20]]
        return "\n".join(["checked:", *lines, f"findings: {len(self.findings)}", *found])

    def add(self, other: "Report") -> None:
        """Adds what was found elsewhere."""
        self.findings += other.findings
        self.counts += other.counts
