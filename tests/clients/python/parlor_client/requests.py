"""Requests for matches of any game, and the seats that come of them."""

import random
import uuid
from dataclasses import dataclass, field

from parlor_client.stubs import catalog, games
from parlor_client.stubs import matches as m


def new_id() -> str:
    """An id for a request or an action."""
    return str(uuid.uuid4())


def bearer(token: str) -> list[tuple[str, str]]:
    """The metadata that carries a token."""
    return [("authorization", f"Bearer {token}")]


def taken(name: str = "", entropy: bytes = b"") -> m.NewSeat:
    """A seat that the creator takes."""
    return m.NewSeat(kind=m.SEAT_KIND_TAKEN, name=name, entropy=entropy)


def left_open() -> m.NewSeat:
    """A seat that someone can join."""
    return m.NewSeat(kind=m.SEAT_KIND_OPEN)


def create_request(
    seats: list[m.NewSeat],
    options: games.GameOptions | None = None,
    visibility: int = m.VISIBILITY_PUBLIC,
) -> m.CreateMatchRequest:
    """A request for a match; of NeoN, where nothing else is said."""
    if options is None:
        options = games.GameOptions()
        options.neon.SetInParent()
    return m.CreateMatchRequest(
        request_id=new_id(), options=options, seats=seats, visibility=visibility
    )


def draw_request(
    game: catalog.GetGameResponse, seats: int, rng: random.Random
) -> m.CreateMatchRequest:
    """A request for a match of a game with open seats and whatever options, but for lists of cards.
    Not all that is drawn goes together."""
    options = games.GameOptions()
    arm = getattr(options, game.summary.game_id)
    arm.SetInParent()
    for option in game.options:
        match option.WhichOneof("kind"):
            case "switch":
                setattr(arm, option.name, rng.random() < 0.5)
            case "number":
                setattr(arm, option.name, rng.randint(option.number.min, option.number.max))
            case "seat":
                setattr(arm, option.name, rng.randrange(seats))
    visibility = rng.choice([m.VISIBILITY_PUBLIC, m.VISIBILITY_PRIVATE])
    return create_request([left_open()] * seats, options, visibility)


@dataclass
class Table:
    """A match, with the tokens of those at its table."""

    match_id: str
    tokens: dict[int, str] = field(default_factory=dict)
    join_code: str = ""
    spectator_token: str = ""

    @staticmethod
    def of(created: m.CreateMatchResponse) -> "Table":
        """The table that a match was created with."""
        tokens = {seat.seat: seat.token for seat in created.seat_tokens}
        match_id = created.match.match_id
        return Table(match_id, tokens, created.join_code, created.spectator_token)

    def action(self, action: games.GameAction, **other: object) -> m.SubmitActionRequest:
        """A request to carry out an action here, under a new id."""
        named = {"match_id": self.match_id, "action_id": new_id(), "action": action}
        return m.SubmitActionRequest(**(named | other))
