"""Processes in which clients play at crowded tables, and in which what they saw is judged."""

import asyncio
import multiprocessing
import random
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path

from parlor_client import recording
from parlor_client.checker import check
from parlor_client.faults import Traces
from parlor_client.findings import Report
from parlor_client.player import open_channel
from parlor_client.stubs import CatalogStub, catalog
from parlor_client.table import CrowdedTable

# The client takes about as much of a core as the servers do.
PROCESSES = 2


class Crowd:
    """The processes. They play one storm after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._accepted = context.Value("Q")
        self._over = context.Event()
        self._pool = ProcessPoolExecutor(
            PROCESSES, context, _Process.begin, (self._accepted, self._over)
        )

    def __enter__(self) -> "Crowd":
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._pool.shutdown(cancel_futures=True)

    @property
    def accepted(self) -> int:
        """How many actions were accepted since they began to play."""
        return self._accepted.value

    def play(
        self, folder: Path, addresses: list[str], tables: int, rng: random.Random
    ) -> list[Future]:
        """Plays match after match at so many tables, until it is told to stop."""
        self._accepted.value = 0
        self._over.clear()
        shares = [range(place, tables, PROCESSES) for place in range(min(PROCESSES, tables))]
        return [
            self._pool.submit(_Process.play, folder, addresses, share, rng.random())
            for share in shares
        ]

    def stop(self) -> None:
        """Lets nobody act any more; what is under way is brought to its end."""
        self._over.set()

    def judge(self, folders: Iterable[Path], *, may_forget: bool) -> tuple[Report, Traces]:
        """Judges the recordings of matches, and tells what their clients noticed of faults."""
        report, traces = Report(), Traces([])
        judging = [self._pool.submit(_judge, folder, may_forget) for folder in folders]
        for future in judging:
            of_one, noticed = future.result()
            report.add(of_one)
            traces.add(noticed)
        return report, traces


class _Process:
    """One of the processes."""

    def __init__(self, accepted: Synchronized, over: Event) -> None:
        self._accepted = accepted
        self._over = over
        # gRPC's asynchronous half bears no other loop than its first.
        self._runner = asyncio.Runner()

    @staticmethod
    def begin(accepted: Synchronized, over: Event) -> None:
        """Makes the one of this process."""
        global _process
        _process = _Process(accepted, over)

    @staticmethod
    def play(folder: Path, addresses: list[str], tables: range, seed: float) -> None:
        """Plays at these tables."""
        _process._runner.run(_process._play(folder, addresses, tables, random.Random(seed)))

    async def _play(
        self, folder: Path, addresses: list[str], tables: range, rng: random.Random
    ) -> None:
        games = await offered(addresses[0])
        async with asyncio.TaskGroup() as playing:
            for table in tables:
                # They begin with another game each.
                in_turn = games[table % len(games) :] + games[: table % len(games)]
                own = random.Random(rng.random())
                name = folder / f"table-{table}"
                playing.create_task(self._play_at(name, addresses, in_turn, own))

    async def _play_at(
        self,
        name: Path,
        addresses: list[str],
        games: list[catalog.GetGameResponse],
        rng: random.Random,
    ) -> None:
        number = 0
        while number == 0 or not self._over.is_set():
            folder = name.with_name(f"{name.name}-match-{number}")
            table = CrowdedTable(folder, addresses, rng, self._over.is_set, self._count)
            await table.play(games[number % len(games)])
            number += 1

    def _count(self) -> None:
        with self._accepted.get_lock():
            self._accepted.value += 1


_process: _Process


async def offered(address: str) -> list[catalog.GetGameResponse]:
    """The games that a server offers."""
    channel = await open_channel(address)
    try:
        stub = CatalogStub(channel)
        found = await stub.ListGames(catalog.ListGamesRequest())
        requests = [catalog.GetGameRequest(game_id=game.game_id) for game in found.games]
        return [await stub.GetGame(request) for request in requests]
    finally:
        await channel.close()


def _judge(folder: Path, may_forget: bool) -> tuple[Report, Traces]:
    played = recording.read(folder)
    return check([played], may_forget=may_forget), Traces([played])
