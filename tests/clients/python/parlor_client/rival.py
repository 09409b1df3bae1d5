"""Clients that race each other for one seat, and those that are at a table beside them."""

from collections.abc import Callable

import grpc

from parlor_client.requests import Table, bearer, draw_request
from parlor_client.roamer import Roamer, SeatedRoamer, Spectator, reason_of
from parlor_client.stubs import catalog, games
from parlor_client.stubs import matches as m

# As many as a seat has streams at a server.
RIVALS = 2
# How often a rival answers where another is sure to, and looks elsewhere.
RACE, LOOK = 0.4, 0.02
# Less than some faults last: it asks another server while the first may yet do what it was asked.
CALL_SECS = 1.5


class Rival(SeatedRoamer):
    """One of several clients of a seat, who answer the same decisions under ids of their own."""

    look, call_secs = LOOK, CALL_SECS

    def __init__(self, number: int, settled: Callable[[], None], *viewer: object) -> None:
        super().__init__(*viewer)
        self._number = number
        self._settled = settled
        self.token = ""

    @property
    def seat(self) -> int | None:
        """Its seat."""
        return self._recorder.seat

    async def take_seat(self, join_code: str) -> None:
        """Takes a seat that is open."""
        self.token = await self._join(join_code)

    def share_seat(self, other: "Rival") -> None:
        """Takes part in a seat that another has taken."""
        self._recorder.seat = other.seat
        self._metadata = bearer(other.token)

    async def race(self) -> None:
        """Plays until the match is over or it is time to leave, some from its first version on."""
        await self._look()
        await self._play_on(None if self._number else 0)

    async def repeat(self) -> None:
        """Sends again all that was carried out, when all is over."""
        done, self._done = self._done, []
        for request in done:
            await self._settle(request, self._rng.randrange(len(self._servers)), answers=1)

    def _note(self, message: m.StreamViewResponse) -> m.View | None:
        if message.snapshot.reason == m.SNAPSHOT_REASON_HISTORY_FORKED:
            # What it has answered may be asked again.
            self._answered.clear()
        return super()._note(message)

    async def _answer(self, view: m.View) -> None:
        asked = [asked.decision for asked in view.decisions if asked.seat == self.seat]
        is_sure = asked and asked[0] % RIVALS == self._number
        if self._curfew.begun or not (is_sure or self._rng.random() < RACE):
            return
        with self._curfew.acting():
            await super()._answer(view)

    async def _send(self, action: games.GameAction, decision: int, steps: int = 0) -> str | None:
        steps += self._rng.randrange(len(self._servers))
        reason = await super()._send(action, decision, steps)
        if reason is None:
            self._settled()
        elif reason == "HISTORY_FORKED":
            self._answered.discard(decision)
            await self._answer(await self._look())
        return reason


class Onlooker(Spectator):
    """Looks on."""

    call_secs = CALL_SECS

    async def see_all(self, seat: int | None, token: str) -> None:
        """Sees all that a seat was told, or a spectator."""
        self._recorder.seat = seat
        await self.watch(token)


class Host(Roamer):
    """Creates a match, and asks how it went."""

    call_secs = CALL_SECS

    async def create(self, game: catalog.GetGameResponse) -> tuple[Table, int]:
        """Creates a match of the game, with options that are drawn; says how many seats it has."""
        while True:
            of = game.summary
            seats = self._rng.randint(of.min_seats, of.max_seats)
            try:
                created = await self._ask("CreateMatch", draw_request(game, seats, self._rng))
            except grpc.RpcError as error:
                if reason_of(error) != "INVALID_FIELD":
                    raise
            else:
                table = Table.of(created)
                self._match_id = table.match_id
                self._metadata = bearer(table.spectator_token) if table.spectator_token else []
                return table, seats

    async def find(self) -> m.Match:
        """What is public about the match now."""
        found = await self._ask("GetMatch", m.GetMatchRequest(match_id=self._match_id))
        return found.match
