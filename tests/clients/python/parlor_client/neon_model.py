"""NeoN, written from its rules for the checker: what every action leads to, and who sees what.

It knows each hand from what the hand's owner was shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from parlor_client.stubs import games, neon

VALUES = range(1, 7)
COPIES = 10
# By the number of seats: victory point cards laid out, cards in a hand, in a second hand.
TABLES = {2: (4, 14, 14), 3: (3, 14, 0), 4: (4, 14, 0), 5: (5, 11, 0), 6: (6, 9, 0)}

# What a seat does: `play` or `choose`, and the values, lowest first.
Move = tuple[str, tuple[int, ...]]


class IllegalMove(Exception):
    """The rules do not allow this."""


def read_move(action: games.GameAction) -> Move:
    """What an action says."""
    kind = action.neon.WhichOneof("action")
    return kind, tuple(sorted(getattr(action.neon, kind).values))


def listed(cards: Counter) -> list[int]:
    """Cards, lowest first."""
    return sorted(cards.elements())


@dataclass
class Deal:
    """What the cards of a match were dealt to."""

    table: Counter
    hands: list[Counter]
    first_player: int
    # As far as they were taken up.
    second_hands: dict[int, Counter] = field(default_factory=dict)

    def mistakes(self) -> Iterator[str]:
        """What is wrong with it."""
        seats = len(self.hands)
        on_table, in_hand, in_second = TABLES[seats]
        if self.table.total() != on_table:
            yield f"{self.table.total()} cards lie on the table, not {on_table}"
        for seat, hand in enumerate(self.hands):
            if hand.total() != in_hand:
                yield f"seat {seat} was dealt {hand.total()} cards, not {in_hand}"
        for seat, hand in self.second_hands.items():
            if hand.total() != in_second:
                yield f"the second hand of seat {seat} has {hand.total()} cards, not {in_second}"
        seen = sum([self.table, *self.hands, *self.second_hands.values()], Counter())
        for value in seen:
            if value not in VALUES or seen[value] > COPIES:
                yield f"there are {seen[value]} cards of value {value}"


class Neon:
    """A match, from its deal on."""

    def __init__(self, deal: Deal) -> None:
        self._deal = deal
        self.seats = len(deal.hands)
        self.hands = [hand.copy() for hand in deal.hands]
        self.second = [TABLES[self.seats][2]] * self.seats
        self.piles = [Counter() for _ in range(self.seats)]
        self.table = deal.table.copy()
        self.round = 1
        self.first_player = deal.first_player
        self.plays: list[tuple[int, tuple[int, ...]]] = []
        self.choosers: list[int] = []
        self.first_chooser = 0
        self.is_over = False
        self._happened: list[neon.NeonEvent] = []
        self._to_play = self._play_order()
        self._emit("round_began", round=1, first_player=self.first_player)

    @property
    def actor(self) -> int | None:
        """The seat that is asked."""
        if self.is_over:
            return None
        return self.choosers[0] if self.choosers else self._to_play[0]

    def moves(self) -> list[Move]:
        """All that the seat that is asked may do."""
        if self.is_over:
            return []
        if self.choosers:
            most = 1 if self.round == 1 else 2
            return [("choose", values) for values in sets(self.table, range(1, most + 1))]
        hand = self.hands[self.actor]
        kinds = {kind(values) for _, values in self.plays} - {"solo"}
        plays = list(sets(hand, range(1, 2)))
        if "run" not in kinds:
            plays += sets(hand, range(2, COPIES + 1))
        if "set" not in kinds:
            plays += runs(hand)
        return [("play", values) for values in plays]

    def act(self, seat: int, move: Move) -> None:
        """Carries out a move."""
        if seat != self.actor:
            raise IllegalMove(f"seat {seat} acts, and seat {self.actor} is to")
        if move not in self.moves():
            raise IllegalMove(f"seat {seat} may not {move}")
        self._happened = []
        if move[0] == "play":
            self._play(seat, move[1])
        else:
            self._choose(seat, move[1])

    def _play(self, seat: int, values: tuple[int, ...]) -> None:
        self.hands[seat] -= Counter(values)
        self.plays.append((seat, values))
        self._emit("played", seat=seat, values=values)
        if not self.hands[seat] and self.second[seat]:
            self.hands[seat] = self._deal.second_hands.get(seat, Counter()).copy()
            self.second[seat] = 0
            self._emit("second_hand_taken", seat=seat, hand=listed(self.hands[seat]))
        self._to_play.pop(0)
        self._to_play = [seat for seat in self._to_play if self.hands[seat]]
        if not self._to_play:
            ranked = sorted(self.plays, key=lambda play: (-len(play[1]), -play[1][-1]))
            self.choosers = [seat for seat, _ in ranked]
            self.first_chooser = self.choosers[0]

    def _choose(self, seat: int, values: tuple[int, ...]) -> None:
        self.table -= Counter(values)
        self.piles[seat] += Counter(values)
        self.choosers.pop(0)
        self._emit("chose", seat=seat, values=values)
        if not self.table:
            self.choosers = []
        if not self.choosers:
            self._end_round()

    def _end_round(self) -> None:
        removed = listed(self.table)
        self.table = Counter(value for _, values in self.plays for value in values)
        self.plays = []
        self._emit("round_ended", removed=removed, victory_point_cards=listed(self.table))
        out = sum(not self._left(seat) for seat in range(self.seats))
        if out >= (1 if self.seats == 2 else 2):
            self.is_over = True
            self._emit("ended", results=self.results())
            return
        self.round += 1
        around = [(self.first_chooser + step) % self.seats for step in range(self.seats)]
        self.first_player = next(seat for seat in around if self._left(seat))
        self._to_play = self._play_order()
        self._emit("round_began", round=self.round, first_player=self.first_player)

    def _left(self, seat: int) -> int:
        return self.hands[seat].total() + self.second[seat]

    def _play_order(self) -> list[int]:
        around = [(self.first_player + step) % self.seats for step in range(self.seats)]
        return [seat for seat in around if self._left(seat)] * (2 if self.seats == 2 else 1)

    def _emit(self, arm: str, **fields: object) -> None:
        event = neon.NeonEvent()
        message = getattr(event, arm)
        message.SetInParent()
        message.MergeFrom(type(message)(**fields))
        self._happened.append(event)

    def scores(self) -> list[int]:
        """What each seat has."""
        left = [self._left(seat) if self.seats == 2 else 0 for seat in range(self.seats)]
        return [sum(pile.elements()) + more for pile, more in zip(self.piles, left, strict=True)]

    def results(self) -> list[neon.NeonResult]:
        """What each seat ended with."""
        scores = zip(self.piles, self.scores(), strict=True)
        return [neon.NeonResult(pile=listed(pile), score=score) for pile, score in scores]

    def winners(self) -> list[int]:
        """The seats with the highest score."""
        scores = self.scores()
        return [seat for seat in range(self.seats) if scores[seat] == max(scores)]

    def dealt(self, viewer: int | None) -> neon.NeonDealt:
        """What this viewer sees of the deal."""
        on_table, in_hand, in_second = TABLES[self.seats]
        assert self._deal.table.total() == on_table
        return neon.NeonDealt(
            victory_point_cards=listed(self._deal.table),
            hand=[] if viewer is None else listed(self._deal.hands[viewer]),
            hand_size=in_hand,
            second_hand_size=in_second,
        )

    def events(self, viewer: int | None) -> list[neon.NeonEvent]:
        """What this viewer sees of what the last move led to."""
        seen = []
        for event in self._happened:
            if event.HasField("second_hand_taken") and event.second_hand_taken.seat != viewer:
                hidden = neon.NeonSecondHandTaken(seat=event.second_hand_taken.seat)
                seen.append(neon.NeonEvent(second_hand_taken=hidden))
            else:
                seen.append(event)
        return seen

    def view(self, viewer: int | None) -> neon.NeonView:
        """What this viewer sees of the table."""
        view = neon.NeonView(
            round=self.round,
            phase=self._phase(),
            first_player=self.first_player,
            victory_point_cards=listed(self.table),
            plays=[neon.NeonPlayed(seat=seat, values=values) for seat, values in self.plays],
            choosers=self.choosers,
        )
        for seat in range(self.seats):
            view.seats.add(
                hand_size=self.hands[seat].total(),
                second_hand_size=self.second[seat],
                pile_size=self.piles[seat].total(),
                result=self.results()[seat] if self.is_over else None,
            )
        if viewer is not None:
            view.own.SetInParent()
            view.own.hand.extend(listed(self.hands[viewer]))
            view.own.pile.extend(listed(self.piles[viewer]))
        return view

    def _phase(self) -> int:
        if self.is_over:
            return neon.NEON_PHASE_OVER
        return neon.NEON_PHASE_CHOOSING if self.choosers else neon.NEON_PHASE_PLAYING


def kind(values: tuple[int, ...]) -> str:
    """What was played: a solo, a set or a run."""
    if len(values) == 1:
        return "solo"
    return "set" if values[0] == values[1] else "run"


def sets(cards: Counter, sizes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """One or more cards of one value."""
    return ((value,) * size for value in VALUES for size in sizes if size <= cards[value])


def runs(cards: Counter) -> Iterator[tuple[int, ...]]:
    """Two or more consecutive values."""
    for low in VALUES:
        for high in range(low + 1, VALUES.stop):
            values = tuple(range(low, high + 1))
            if all(cards[value] for value in values):
                yield values
