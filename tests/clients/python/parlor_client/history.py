"""Judges what the recordings of a match's viewers say of its history, whatever the game.

It shares no code with the server and knows no rules, only what the API promises. Every version of
the match is a seat that was taken, or one action that a seat sent and that was acknowledged with
this version; every viewer is told every version once and in order; and all who may see the same are
told the same.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

from google.protobuf.text_format import MessageToString

from parlor_client.findings import Finding, Report, Rule
from parlor_client.recording import Recording, Viewer
from parlor_client.stubs import matches as m

# Lines that a stream leaves.
STREAM = ("opened", "broken", "snapshot", "update", "heartbeat", "ended", "left", "failed")

# Refusals that come of answering twice, or of what is no longer asked.
EXPECTED_REFUSALS = {"REVISION_CONFLICT", "MATCH_OVER"}

# Refusals of who was shown a change that was then lost, because it was not safe yet.
REFUSALS_OF_THE_LOST = {
    "HISTORY_FORKED",
    "ILLEGAL_ACTION",
    "NOT_YOUR_TURN",
    "REVISION_IN_FUTURE",
}


@dataclass
class Frame:
    """What a viewer was told of one version, on its stream or as an answer."""

    viewer: Viewer
    line: SimpleNamespace
    version: int
    view: m.View
    # None where there was a view only.
    events: list[m.Event] | None = None

    @property
    def at(self) -> int:
        return self.line.at


@dataclass
class Action:
    """One action and all that came of it."""

    action_id: str
    seat: int
    sent: SimpleNamespace
    answers: list[SimpleNamespace] = field(default_factory=list)
    refusals: list[SimpleNamespace] = field(default_factory=list)

    @property
    def version(self) -> int:
        return self.answers[0].version

    def __str__(self) -> str:
        return f"action {self.action_id} of seat {self.seat}"


class History:
    """The check of one match.

    Where a store may lose what was not acknowledged, viewers can have been shown it; then they are
    told to forget it.
    """

    def __init__(self, recording: Recording, report: Report, *, may_forget: bool = False) -> None:
        self._found = recording.found
        self._viewers = recording.viewers
        self._report = report
        self._may_forget = may_forget
        self._seats = len(recording.found.seats)
        # Every seat's taking is a version, the last of them the start.
        self._start = 1 + self._seats
        self._frames: dict[int, list[Frame]] = defaultdict(list)
        self._acted: dict[int, Action] = {}

    def check(self) -> None:
        """Finds all that is wrong."""
        for viewer in self._viewers:
            self._check_stream(viewer)
            self._collect(viewer)
        for action in self._actions:
            self._check_answers(action)
        self._check_seats()
        self._check_versions()
        self._check_decisions()
        self._check_times()
        self._check_reads()
        self._check_contents()
        self._count("matches")

    def _find(self, rule: Rule, where: object, version: int | None, details: object = "") -> None:
        finding = Finding(rule, self._found.match_id, str(where), version, str(details))
        self._report.findings.append(finding)

    def _count(self, what: str, count: int = 1) -> None:
        self._report.counts[what] += count

    # Streams.

    def _check_stream(self, viewer: Viewer) -> None:
        frames = viewer.of("snapshot", "update")
        if not frames:
            self._find(Rule.START, viewer.name, None, "there is no stream")
            return
        first = frames[0]
        if first.forget if first.kind == "snapshot" else first.version != 1:
            self._find(Rule.START, viewer.name, first.version)
        for told in self._between_resets(viewer, frames):
            self._check_order(viewer, [frame.version for frame in told])
        self._check_end(viewer, frames[-1].version)
        self._check_heartbeats(viewer)
        self._count("frames checked", len(frames))
        self._count("stream resumes", resumes(viewer))

    def _between_resets(
        self, viewer: Viewer, frames: list[SimpleNamespace]
    ) -> Iterator[list[SimpleNamespace]]:
        """What was told from one snapshot to the next."""
        begun = 0
        for place, frame in enumerate(frames[1:], 1):
            if frame.kind == "snapshot":
                if self._may_forget and frame.forget:
                    self._count("streams that started over")
                else:
                    self._find(Rule.RESET, viewer.name, frame.version)
                yield frames[begun:place]
                begun = place
        yield frames[begun:]

    def _check_order(self, viewer: Viewer, versions: list[int]) -> None:
        times = Counter(versions)
        for before, version in zip(versions, versions[1:], strict=False):
            if version > before + 1 and before + 1 not in times:
                self._find(Rule.GAP, viewer.name, before + 1, f"{version} after {before}")
            if version <= before and times[version] == 1:
                self._find(Rule.ORDER, viewer.name, version, f"{version} after {before}")
        for version, count in times.items():
            if count > 1:
                self._find(Rule.REPEAT, viewer.name, version, f"{count} times")

    def _check_end(self, viewer: Viewer, version: int) -> None:
        last = viewer.of(*STREAM)[-1]
        reason = getattr(last, "reason", m.END_REASON_MATCH_OVER)
        if last.kind not in ("ended", "left") or reason != m.END_REASON_MATCH_OVER:
            self._find(Rule.END, viewer.name, version, last)
        if version != self._found.version:
            self._find(Rule.END, viewer.name, version, f"not {self._found.version}")

    def _check_heartbeats(self, viewer: Viewer) -> None:
        version = None
        for line in viewer.of("snapshot", "update", "heartbeat"):
            if line.kind == "heartbeat" and version not in (None, line.version):
                self._find(Rule.GAP, viewer.name, line.version, f"a heartbeat after {version}")
            version = line.version

    def _collect(self, viewer: Viewer) -> None:
        for line in viewer.lines:
            match line.kind:
                case "snapshot":
                    frame = Frame(viewer, line, line.version, line.view)
                case "update":
                    update = line.update
                    frame = Frame(viewer, line, line.version, update.view, list(update.events))
                case "acted":
                    answer = line.answer
                    frame = Frame(viewer, line, line.version, answer.view, list(answer.events))
                case "looked":
                    frame = Frame(viewer, line, line.view.version, line.view)
                    self._count("views read")
                case _:
                    continue
            self._frames[frame.version].append(frame)
            if frame.view.version != frame.version:
                self._find(Rule.VIEW, viewer.name, frame.version, "its view has another version")

    # Actions.

    @cached_property
    def _actions(self) -> list[Action]:
        actions: dict[tuple[int, str], Action] = {}
        for viewer in self._viewers:
            for line in viewer.of("sent"):
                action = Action(line.action_id, line.seat, line)
                if actions.setdefault((line.seat, line.action_id), action) is not action:
                    self._find(Rule.DOUBLED, viewer.name, None, f"{action} was sent anew")
            for line in viewer.of("acted", "refused"):
                action = actions.get((line.seat, line.action_id))
                if action is None:
                    self._find(Rule.UNSENT, viewer.name, None, line)
                elif line.kind == "acted":
                    action.answers.append(line)
                else:
                    action.refusals.append(line)
            self._count("tries without an answer", len(viewer.of("lost")))
        self._count("actions sent", len(actions))
        return list(actions.values())

    def _check_answers(self, action: Action) -> None:
        if not action.answers and not action.refusals:
            self._find(Rule.UNANSWERED, action, None)
        if action.answers and action.refusals:
            self._find(Rule.ANSWER, action, action.version, "carried out and refused")
        expected = EXPECTED_REFUSALS | (REFUSALS_OF_THE_LOST if self._may_forget else set())
        for refusal in action.refusals:
            self._count(f"refused: {refusal.reason}")
            if refusal.reason not in expected:
                self._find(Rule.REFUSED, action, None, refusal.reason)
        if action.answers:
            self._count("actions accepted")
            self._count("repeats", sum(answer.replayed for answer in action.answers))
            self._check_repeats(action)

    def _check_repeats(self, action: Action) -> None:
        versions = {answer.version for answer in action.answers}
        if len(versions) > 1 or sum(not answer.replayed for answer in action.answers) > 1:
            self._find(Rule.DOUBLED, action, action.version, versions)
        first, *others = [unmarked(answer.answer) for answer in action.answers]
        if first.version != action.version or any(not same(other, first) for other in others):
            self._find(Rule.ANSWER, action, action.version, action.answers)

    def _check_seats(self) -> None:
        """Each version until the start is one seat that was taken."""
        joined = Counter(line.version for viewer in self._viewers for line in viewer.of("joined"))
        for version, times in joined.items():
            if times > 1:
                self._find(Rule.DOUBLED, "the match", version, f"{times} seats were taken with it")
            if not 1 < version <= self._start:
                self._find(Rule.LOST, "the match", version, "a seat was taken with it")

    def _check_versions(self) -> None:
        """Every version after the start is an action that was acknowledged with it."""
        for action in self._actions:
            if not action.answers:
                continue
            other = self._acted.setdefault(action.version, action)
            if other is not action:
                self._find(Rule.DOUBLED, other, action.version, f"so has {action}")
            if not self._start < action.version <= self._found.version:
                self._find(Rule.LOST, action, action.version, "the match has no such version")
        for version in range(self._start + 1, self._found.version + 1):
            if version not in self._acted:
                self._find(Rule.UNSENT, "the match", version, "it is no action")

    def _check_decisions(self) -> None:
        """Every decision is answered once."""
        answered: dict[tuple[int, int], Action] = {}
        for action in self._acted.values():
            other = answered.setdefault((action.seat, action.sent.decision), action)
            if other is not action:
                details = f"{other} answered decision {action.sent.decision} too"
                self._find(Rule.DOUBLED, action, action.version, details)

    def _check_times(self) -> None:
        """An action that was acknowledged before another was sent has the lower version."""
        acknowledged = None
        for version in sorted(self._acted, reverse=True):
            action = self._acted[version]
            if acknowledged and acknowledged.answers[0].at < action.sent.at:
                details = f"version {acknowledged.version} was acknowledged before"
                self._find(Rule.TIME, action, version, details)
            if not acknowledged or action.answers[0].at < acknowledged.answers[0].at:
                acknowledged = action
            for frame in self._frames[version]:
                if frame.at < action.sent.at and not self._was_taken_back(frame):
                    self._find(Rule.EARLY, frame.viewer.name, version, action)

    def _check_reads(self) -> None:
        """Whatever is read is as new as all that was acknowledged before."""
        if self._may_forget:
            # A primary that does not know yet that it was replaced shows what it has.
            return
        acknowledged = [(action.answers[0].at, action.version) for action in self._acted.values()]
        for viewer in self._viewers:
            for asked, version in reads(viewer):
                newest = max((of for at, of in acknowledged if at < asked), default=0)
                if version < newest:
                    self._find(Rule.STALE, viewer.name, version, f"{newest} was before")

    # What was told.

    def _check_contents(self) -> None:
        """All who may see the same are told the same of a version."""
        for frames in self._frames.values():
            told: dict[int | None, Frame] = {}
            # First what a stream told when all was over.
            for frame in sorted(frames, key=lambda frame: (frame.line.kind != "update", -frame.at)):
                first = told.setdefault(frame.viewer.seat, frame)
                self._count("views compared")
                if agree(frame, first):
                    continue
                if self._was_taken_back(frame):
                    self._count("views that were taken back")
                    continue
                rule = Rule.LOST if frame.line.kind == "acted" else Rule.FORK
                details = f"{shown(frame)}, but {first.viewer.name} was told {shown(first)}"
                self._find(rule, frame.viewer.name, frame.version, details)

    def _was_taken_back(self, frame: Frame) -> bool:
        """Whether what was shown may have been lost, and its viewer knows of it."""
        if not self._may_forget or frame.line.kind == "acted":
            return False
        # Whoever only asks is not told.
        return frame.line.kind == "looked" or any(
            line.forget and line.at > frame.at for line in frame.viewer.of("snapshot")
        )


def reads(viewer: Viewer) -> Iterator[tuple[int, int]]:
    """When a viewer asked for something current, and the version that it was given."""
    opened = None
    for line in viewer.lines:
        if line.kind == "looked":
            yield line.asked, line.view.version
        elif line.kind == "opened":
            opened = line.at
        elif line.kind == "snapshot" and opened is not None:
            yield opened, line.version


def resumes(viewer: Viewer) -> int:
    """How often a viewer's stream went on after it had broken."""
    counted = sum(getattr(line, "resumed", 0) for line in viewer.of("ended"))
    streams = viewer.of("opened", "snapshot", "update", "heartbeat", "ended")
    for line, after in zip(streams, streams[1:], strict=False):
        counted += line.kind == "opened" and line.resumed and after.kind != "opened"
    return counted


def unmarked(answer: m.SubmitActionResponse) -> m.SubmitActionResponse:
    """An answer, whether or not it is a repeat."""
    plain = m.SubmitActionResponse()
    plain.CopyFrom(answer)
    plain.replayed = False
    return plain


def same(one: m.SubmitActionResponse, other: m.SubmitActionResponse) -> bool:
    """Whether two answers are the same bytes."""
    return one.SerializeToString() == other.SerializeToString()


def agree(one: Frame, other: Frame) -> bool:
    """Whether two viewers were told the same, as far as both were told."""
    if one.events is not None and other.events is not None and one.events != other.events:
        return False
    return one.view.SerializeToString() == other.view.SerializeToString()


def shown(frame: Frame) -> str:
    """What a viewer was told, for people."""
    told = [*(frame.events or ()), frame.view]
    return f"{frame.line.kind} {[MessageToString(message, as_one_line=True) for message in told]}"
