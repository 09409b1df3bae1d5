"""Judges the recordings of matches of NeoN. It shares no code with the server.

What it knows is the promises of the API and the rules of NeoN: beside what holds for every game,
what viewers are told must be what a model of the rules makes of the actions before, no more and no
less.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from parlor_client.findings import Report, Rule
from parlor_client.history import Frame, History
from parlor_client.neon_model import Deal, IllegalMove, Move, Neon, read_move
from parlor_client.recording import Recording, Viewer
from parlor_client.stubs import games, neon
from parlor_client.stubs import matches as m


def check(recordings: Iterable[Recording], *, may_forget: bool = False) -> Report:
    """Judges recordings of any game; `may_forget` where changes that are not acknowledged may be
    shown and then lost."""
    report = Report()
    for recording in recordings:
        if recording.found.game_id == "neon" and not may_forget:
            NeonHistory(recording, report).check()
        else:
            History(recording, report, may_forget=may_forget).check()
    return report


class NeonHistory(History):
    """The check of one match of NeoN."""

    def __init__(self, recording: Recording, report: Report) -> None:
        super().__init__(recording, report)
        self._taken: dict[int, m.Event] = {}

    def _check_contents(self) -> None:
        self._check_moves()
        self._check_waiting()
        self._replay()

    def _check_moves(self) -> None:
        """Viewers are told of the moves that were acknowledged."""
        told: dict[int, set[tuple[int, Move]]] = defaultdict(set)
        for viewer in self._viewers:
            for line in viewer.of("update"):
                told[line.version].update(*map(moves_of, line.update.events))
        for version, action in self._acted.items():
            if (action.seat, read_move(action.sent.action)) not in told[version]:
                self._find(Rule.LOST, action, version, f"viewers were told {told[version]}")

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
        seated_viewers = sorted({v.seat for v in self._viewers if v.seat is not None})
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
                game.act(action.seat, read_move(action.sent.action))
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
                    if action and action.seat == viewer.seat:
                        kind, values = read_move(action.sent.action)
                        played += Counter(values if kind == "play" else ())
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

    def _compare_events(self, frame: Frame, expected: list[m.Event]) -> None:
        if frame.events == expected:
            return
        leaks = any(hidden_cards(event, frame.viewer.seat) for event in frame.events)
        rule = Rule.LEAK if leaks else Rule.EVENTS
        self._find(rule, frame.viewer.name, frame.version, f"{frame.events}, not {expected}")

    def _compare_view(self, frame: Frame, expected: m.View, moves: list[Move]) -> None:
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
        if game.is_over != (found.state == m.MATCH_STATE_OVER):
            details = f"{m.MatchState.Name(found.state)} at a game that is over: {game.is_over}"
            self._find(Rule.OUTCOME, "the match", found.version, details)
        if not game.is_over:
            return
        if found.outcome != outcome(game):
            details = f"{found.outcome}, not {outcome(game)}"
            self._find(Rule.OUTCOME, "the match", found.version, details)
        if hashlib.sha256(found.secret).digest() != found.commitment:
            self._find(Rule.OUTCOME, "the match", found.version, "the secret is another")


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
