"""Judges the recordings of a match's viewers. It shares no code with the server.

What it knows is the promises of the API and the rules of NeoN. Every version of the match must be
one action that a seat sent and that was acknowledged with this version; every viewer must be told
every version once and in order; and what it is told must be what a model of the rules makes of the
actions before, no more and no less.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

from parlor_client.findings import Finding, Report, Rule
from parlor_client.neon_model import Deal, IllegalMove, Move, Neon, read_move
from parlor_client.recording import Recording, Viewer
from parlor_client.stubs import games, neon
from parlor_client.stubs import matches as m


# Refusals that come of answering twice, or of what is no longer asked.
EXPECTED_REFUSALS = {"REVISION_CONFLICT", "MATCH_OVER"}


def check(recordings: Iterable[Recording]) -> Report:
    """Judges recordings."""
    report = Report()
    for recording in recordings:
        _Match(recording, report).check()
        report.counts["matches"] += 1
    return report


@dataclass
class _Frame:
    """What a viewer was told of one version, on its stream or as an answer."""

    viewer: Viewer
    version: int
    at: int
    view: m.View
    # None where there was a view only.
    events: list[m.Event] | None = None


@dataclass
class _Action:
    """One action and all that came of it."""

    action_id: str
    seat: int
    sent: SimpleNamespace
    answers: list[SimpleNamespace] = field(default_factory=list)
    refusals: list[SimpleNamespace] = field(default_factory=list)

    @property
    def move(self) -> Move:
        return read_move(self.sent.action)

    @property
    def version(self) -> int:
        return self.answers[0].version

    def __str__(self) -> str:
        return f"action {self.action_id} of seat {self.seat}, {self.move}"


class _Match:
    """The check of one match."""

    def __init__(self, recording: Recording, report: Report) -> None:
        self._found = recording.found
        self._viewers = recording.viewers
        self._report = report
        self._seats = len(recording.found.seats)
        # Every seat's taking is a version, the last of them the start.
        self._start = 1 + self._seats
        self._frames: dict[int, list[_Frame]] = defaultdict(list)
        self._acted: dict[int, _Action] = {}
        self._taken: dict[int, m.Event] = {}

    def check(self) -> None:
        for viewer in self._viewers:
            self._check_stream(viewer)
            self._collect(viewer)
        actions = self._actions()
        for action in actions:
            self._check_answers(action)
        self._check_versions(actions)
        self._check_times()
        self._check_reads()
        self._check_waiting()
        self._replay()

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
        first, *others = frames
        if first.forget if first.kind == "snapshot" else first.version != 1:
            self._find(Rule.START, viewer.name, first.version)
        for frame in others:
            if frame.kind == "snapshot":
                self._find(Rule.RESET, viewer.name, frame.version)
        self._check_order(viewer, [frame.version for frame in frames])
        self._check_end(viewer, frames[-1].version)
        self._check_heartbeats(viewer)
        self._count("frames checked", len(frames))
        self._count("stream resumes", resumes(viewer))

    def _check_order(self, viewer: Viewer, versions: list[int]) -> None:
        for before, version in zip(versions, versions[1:], strict=False):
            if version > before + 1 and before + 1 not in versions:
                self._find(Rule.GAP, viewer.name, before + 1, f"{version} after {before}")
            if version <= before and versions.count(version) == 1:
                self._find(Rule.ORDER, viewer.name, version, f"{version} after {before}")
        for version, times in Counter(versions).items():
            if times > 1:
                self._find(Rule.REPEAT, viewer.name, version, f"{times} times")

    def _check_end(self, viewer: Viewer, version: int) -> None:
        last = viewer.lines[-1]
        reason = getattr(last, "reason", m.END_REASON_MATCH_OVER)
        if last.kind != "ended" or reason != m.END_REASON_MATCH_OVER:
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
                    frame = _Frame(viewer, line.version, line.at, line.view)
                case "update":
                    update = line.update
                    events = list(update.events)
                    frame = _Frame(viewer, line.version, line.at, update.view, events)
                case "acted":
                    answer = line.answer
                    events = list(answer.events)
                    frame = _Frame(viewer, line.version, line.at, answer.view, events)
                case "looked":
                    frame = _Frame(viewer, line.view.version, line.at, line.view)
                    self._count("views read")
                case _:
                    continue
            self._frames[frame.version].append(frame)
            if frame.view.version != frame.version:
                self._find(Rule.VIEW, viewer.name, frame.version, "its view has another version")

    # Actions.

    def _actions(self) -> list[_Action]:
        actions: dict[tuple[int, str], _Action] = {}
        for viewer in self._viewers:
            for line in viewer.of("sent"):
                action = _Action(line.action_id, line.seat, line)
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

    def _check_answers(self, action: _Action) -> None:
        if not action.answers and not action.refusals:
            self._find(Rule.UNANSWERED, action, None)
        if action.answers and action.refusals:
            self._find(Rule.ANSWER, action, None, "carried out and refused")
        for refusal in action.refusals:
            self._count(f"refused: {refusal.reason}")
            if refusal.reason not in EXPECTED_REFUSALS:
                self._find(Rule.REFUSED, action, None, refusal.reason)
        if action.answers:
            self._count("actions accepted")
            self._count("repeats", sum(answer.replayed for answer in action.answers))
            self._check_repeats(action)

    def _check_repeats(self, action: _Action) -> None:
        versions = {answer.version for answer in action.answers}
        if len(versions) > 1 or sum(not answer.replayed for answer in action.answers) > 1:
            self._find(Rule.DOUBLED, action, action.version, versions)
        first, *others = [unmarked(answer.answer) for answer in action.answers]
        if first.version != action.version or any(other != first for other in others):
            self._find(Rule.ANSWER, action, action.version, action.answers)

    def _check_versions(self, actions: list[_Action]) -> None:
        for action in actions:
            if not action.answers:
                continue
            other = self._acted.setdefault(action.version, action)
            if other is not action:
                self._find(Rule.DOUBLED, other, action.version, f"so has {action}")
            if not self._start < action.version <= self._found.version:
                self._find(Rule.LOST, action, action.version, "the match has no such version")
        told: dict[int, set[tuple[int, Move]]] = defaultdict(set)
        for viewer in self._viewers:
            for line in viewer.of("update"):
                told[line.version].update(*map(moves_of, line.update.events))
        for version in range(self._start + 1, max([self._found.version, *told]) + 1):
            action = self._acted.get(version)
            if action is None:
                self._find(Rule.UNSENT, "the match", version, told[version])
            elif (action.seat, action.move) not in told[version]:
                self._find(Rule.LOST, action, version, f"viewers were told {told[version]}")

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
                if frame.at < action.sent.at:
                    self._find(Rule.EARLY, frame.viewer.name, version, action)

    def _check_reads(self) -> None:
        """Whatever is read is as new as all that was acknowledged before."""
        acknowledged = [(action.answers[0].at, action.version) for action in self._acted.values()]
        for viewer in self._viewers:
            for line in viewer.of("looked"):
                newest = max((of for at, of in acknowledged if at < line.asked), default=0)
                if line.view.version < newest:
                    self._find(Rule.STALE, viewer.name, line.view.version, f"{newest} was before")

    # The match itself.

    def _check_waiting(self) -> None:
        """Before the match starts, every version is a seat that was taken."""
        for version in range(2, self._start + 1):
            self._check_taken(version)
        for version in range(1, self._start):
            for frame in self._frames[version]:
                happened = [self._taken[version]] if version in self._taken else []
                if frame.events is not None:
                    self._compare_events(frame, happened)
                expected = m.View(version=version, state=m.MATCH_STATE_WAITING)
                self._compare_view(frame, seated(expected, frame.viewer.seat), [])
        taken = sorted(event.seat_taken.seat for event in self._taken.values())
        seated_viewers = sorted(v.seat for v in self._viewers if v.seat is not None)
        if not taken == seated_viewers == list(range(self._seats)):
            details = f"{taken} were taken, {seated_viewers} played"
            self._find(Rule.EVENTS, "the match", self._start, details)

    def _check_taken(self, version: int) -> None:
        """The seat that was taken is the one that its viewer got, and that the match has."""
        told = [frame.events[0] for frame in self._frames[version] if frame.events]
        if not told:
            self._find(Rule.LOST, "the match", version, "no viewer was told of it")
            return
        self._taken[version] = happened = max(told, key=told.count)
        taken = happened.seat_taken
        joined = [line for viewer in self._viewers for line in viewer.of("joined")]
        by = [(line.seat, line.entropy) for line in joined if line.version == version]
        if by not in ([], [(taken.seat, taken.taken.entropy.hex())]):
            self._find(Rule.EVENTS, "the match", version, f"{taken}, but {by} joined")
        if taken.seat >= self._seats or taken.taken != self._found.seats[taken.seat]:
            self._find(Rule.EVENTS, "the match", version, taken)

    def _replay(self) -> None:
        deal = self._deal()
        for mistake in deal.mistakes():
            self._find(Rule.DEAL, "the match", self._start, mistake)
            return
        game = Neon(deal)
        self._compare(self._start, game, self._started(game))
        for version in range(self._start + 1, self._found.version + 1):
            action = self._acted.get(version)
            if action is None:
                return
            try:
                game.act(action.seat, action.move)
            except IllegalMove as illegal:
                self._find(Rule.ILLEGAL, action, version, illegal)
                return
            self._compare(version, game, self._went_on(game))
        self._check_outcome(game)

    def _deal(self) -> Deal:
        """The deal, as each seat was shown its part of it."""
        table, first_player = Counter(), 0
        hands = [Counter() for _ in range(self._seats)]
        second_hands = {}
        for viewer in self._viewers:
            for line in viewer.of("update"):
                for event in line.update.events:
                    arm, happened = neon_event(event)
                    if arm == "dealt":
                        table = Counter(happened.victory_point_cards)
                    elif arm == "round_began" and happened.round == 1:
                        first_player = happened.first_player
                    elif arm == "second_hand_taken" and happened.seat == viewer.seat:
                        second_hands[viewer.seat] = Counter(happened.hand)
            if viewer.seat is not None:
                hands[viewer.seat] = self._hand(viewer)
        return Deal(table, hands, first_player, second_hands)

    def _hand(self, viewer: Viewer) -> Counter:
        """What a seat was dealt: what it was shown first, and what it had played until then."""
        for line in viewer.of("snapshot", "update"):
            view = line.view if line.kind == "snapshot" else line.update.view
            if line.version >= self._start:
                played = Counter()
                for version in range(self._start + 1, line.version + 1):
                    action = self._acted.get(version)
                    if action and action.seat == viewer.seat and action.move[0] == "play":
                        played += Counter(action.move[1])
                return Counter(view.game.neon.own.hand) + played
        return Counter()

    def _started(self, game: Neon) -> Callable[[int | None], list[m.Event]]:
        def events(viewer: int | None) -> list[m.Event]:
            started = m.MatchStarted(commitment=self._found.commitment)
            dealt = neon.NeonEvent(dealt=game.dealt(viewer))
            last = self._taken.get(self._start, m.Event())
            happened = [dealt, *game.events(viewer)]
            return [last, m.Event(match_started=started), *map(wrapped, happened)]

        return events

    def _went_on(self, game: Neon) -> Callable[[int | None], list[m.Event]]:
        def events(viewer: int | None) -> list[m.Event]:
            happened = [wrapped(event) for event in game.events(viewer)]
            if game.is_over:
                ended = m.MatchEnded(outcome=outcome(game), secret=self._found.secret)
                happened.append(m.Event(match_ended=ended))
            return happened

        return events

    def _compare(
        self, version: int, game: Neon, events: Callable[[int | None], list[m.Event]]
    ) -> None:
        """Everything that anyone was told of this version is what the game says."""
        moves = game.moves()
        views: dict[int | None, m.View] = {}
        told: dict[int | None, list[m.Event]] = {}
        for frame in self._frames[version]:
            seat = frame.viewer.seat
            if seat not in views:
                views[seat] = view_of(game, version, seat)
                told[seat] = events(seat)
            if frame.events is not None:
                self._compare_events(frame, told[seat])
            self._compare_view(frame, views[seat], moves if seat == game.actor else [])
            self._count("views compared")

    def _compare_events(self, frame: _Frame, expected: list[m.Event]) -> None:
        if frame.events == expected:
            return
        leaks = any(hidden_cards(event, frame.viewer.seat) for event in frame.events)
        rule = Rule.LEAK if leaks else Rule.EVENTS
        self._find(rule, frame.viewer.name, frame.version, f"{frame.events}, not {expected}")

    def _compare_view(self, frame: _Frame, expected: m.View, moves: list[Move]) -> None:
        offered = [read_move(action) for action in frame.view.legal_actions]
        if sorted(offered) != sorted(moves):
            self._find(Rule.LEGAL, frame.viewer.name, frame.version, f"{offered}, not {moves}")
        shown = m.View()
        shown.CopyFrom(frame.view)
        del shown.legal_actions[:]
        if shown == expected:
            return
        if shows_too_much(shown, expected):
            rule = Rule.LEAK
        elif shown.decisions != expected.decisions:
            rule = Rule.DECISIONS
        else:
            rule = Rule.VIEW
        self._find(rule, frame.viewer.name, frame.version, f"{shown}, not {expected}")

    def _check_outcome(self, game: Neon) -> None:
        found = self._found
        if not game.is_over or found.state != m.MATCH_STATE_OVER:
            self._find(Rule.OUTCOME, "the match", found.version, "it is not over")
        elif found.outcome != outcome(game):
            details = f"{found.outcome}, not {outcome(game)}"
            self._find(Rule.OUTCOME, "the match", found.version, details)
        if hashlib.sha256(found.secret).digest() != found.commitment:
            self._find(Rule.OUTCOME, "the match", found.version, "the secret is another")


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


def neon_event(event: m.Event) -> tuple[str | None, neon.NeonEvent]:
    """What happened in the game, if it was that."""
    arm = event.game.neon.WhichOneof("event") if event.HasField("game") else None
    return arm, getattr(event.game.neon, arm) if arm else None


def moves_of(event: m.Event) -> Iterator[tuple[int, Move]]:
    """The move that an event tells of, if it does."""
    arm, happened = neon_event(event)
    if arm in ("played", "chose"):
        kind = "play" if arm == "played" else "choose"
        yield happened.seat, (kind, tuple(happened.values))


def hidden_cards(event: m.Event, viewer: int | None) -> bool:
    """Whether an event shows a hand that is not the viewer's."""
    arm, happened = neon_event(event)
    hides = arm == "second_hand_taken" and happened.seat != viewer
    return (hides or (arm == "dealt" and viewer is None)) and bool(happened.hand)


def shows_too_much(shown: m.View, expected: m.View) -> bool:
    """Whether a view has something where this viewer is to see nothing, or cards not its own."""
    here, there = shown.game.neon, expected.game.neon
    if here.HasField("own") and not there.HasField("own"):
        return True
    if Counter(here.own.hand) - Counter(there.own.hand):
        return True
    return any(
        a.HasField("result") and not b.HasField("result")
        for a, b in zip(here.seats, there.seats, strict=False)
    )


def seated(view: m.View, seat: int | None) -> m.View:
    """The view of a seat, or of a spectator."""
    if seat is not None:
        view.seat = seat
    return view


def view_of(game: Neon, version: int, viewer: int | None) -> m.View:
    """What this viewer is to be shown, without what it may do."""
    view = m.View(version=version, game=games.GameView(neon=game.view(viewer)))
    if game.is_over:
        view.state = m.MATCH_STATE_OVER
        view.outcome.CopyFrom(outcome(game))
    else:
        view.state = m.MATCH_STATE_PLAYING
        # One seat is asked at a time, so every version opens a decision.
        view.decisions.add(decision=version, seat=game.actor)
    return seated(view, viewer)


def outcome(game: Neon) -> m.Outcome:
    """How a game ended."""
    winners = game.winners()
    reason = "score" if len(winners) == 1 else "shared"
    return m.Outcome(winners=winners, reason=reason, scores=game.scores())


def wrapped(event: neon.NeonEvent) -> m.Event:
    """An event of NeoN as an event of a match."""
    return m.Event(game=games.GameEvent(neon=event))
