"""A match of many clients, who follow and play it at several servers at once.

Of every seat there are several; the others look on. It ends when it is over or when it is late.
Then all that was carried out is sent once more, and each seat, and a spectator, is told all of it.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from parlor_client import recording
from parlor_client.player import lasting_channel
from parlor_client.recording import Recorder
from parlor_client.requests import Table
from parlor_client.rival import RIVALS, Host, Onlooker, Rival
from parlor_client.roamer import PATIENCE_SECS, Curfew
from parlor_client.stubs import MatchStub, catalog

CLIENTS = 16
LOOK_EVERY_SECS = 0.05
# Longer than anybody tries one thing: who has not left then never will.
LEAVE_SECS = 1.5 * PATIENCE_SECS


class CrowdedTable:
    """A table with many clients, each of which records what it sees in this folder."""

    def __init__(
        self,
        folder: Path,
        addresses: list[str],
        rng: random.Random,
        is_late: Callable[[], bool],
        settled: Callable[[], None],
    ) -> None:
        self._folder = folder
        self._rng = rng
        self._is_late = is_late
        self._settled = settled
        self._curfew = Curfew()
        self._open = ExitStack()
        self._channels = [lasting_channel(address) for address in addresses]
        stubs = [MatchStub(channel) for channel in self._channels]
        self._servers = list(zip(addresses, stubs, strict=True))

    async def play(self, game: catalog.GetGameResponse) -> None:
        """Plays a match of this game."""
        self._folder.mkdir()
        try:
            with self._open:
                await self._play(game)
        finally:
            for channel in self._channels:
                await channel.close()

    async def _play(self, game: catalog.GetGameResponse) -> None:
        # It does not watch, and so has nothing to record.
        host = Host(self._servers, "", None, self._rng, self._curfew)
        table, seats = await host.create(game)
        rivals = await self._seat(table, seats)
        spectators = range(CLIENTS - len(rivals))
        onlookers = [Onlooker(*self._viewer(f"look-{n}", table.match_id)) for n in spectators]
        views = [rival.attempt(rival.race()) for rival in rivals]
        views += [viewer.attempt(viewer.watch(table.spectator_token)) for viewer in onlookers]
        await self._close([asyncio.create_task(view) for view in views])
        found = await host.find()
        recording.write_summary(self._folder, found)
        self._curfew = Curfew.at(found.version)
        tokens = [(rival.seat, rival.token) for rival in rivals[:seats]]
        again = [rival.attempt(rival.repeat()) for rival in rivals]
        for seat, token in [*tokens, (None, table.spectator_token)]:
            viewer = Onlooker(*self._viewer(f"replay-{seat}", table.match_id))
            again.append(viewer.attempt(viewer.see_all(seat, token)))
        await asyncio.gather(*again)

    def _viewer(self, name: str, match_id: str) -> tuple[object, ...]:
        """What makes a viewer, who begins at any of the servers."""
        recorder = Recorder(self._folder / f"{name}.jsonl")
        self._open.callback(recorder.close)
        servers = self._rng.sample(self._servers, len(self._servers))
        return servers, match_id, recorder, random.Random(self._rng.random()), self._curfew

    async def _seat(self, table: Table, seats: int) -> list[Rival]:
        """Those who play: first one of each seat, then all others."""
        rivals = [
            Rival(number, self._settled, *self._viewer(f"play-{place}-{number}", table.match_id))
            for number in range(RIVALS)
            for place in range(seats)
        ]
        first = rivals[:seats]
        await asyncio.gather(*(rival.take_seat(table.join_code) for rival in first))
        for place, rival in enumerate(rivals[seats:]):
            rival.share_seat(first[place % seats])
        return rivals

    async def _close(self, views: list[asyncio.Task]) -> None:
        """Waits until all have seen all, and lets nobody act any more when it is late."""
        while not (self._curfew.begun or all(view.done() for view in views)):
            await asyncio.sleep(LOOK_EVERY_SECS)
            self._curfew.begun = self._is_late()
        done, waiting = await asyncio.wait(views, timeout=LEAVE_SECS)
        for view in waiting:
            view.cancel()
        await asyncio.gather(*done)
