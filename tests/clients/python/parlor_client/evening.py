"""Lets people play at one instance for a while, and measures what it takes: what its container is
to ask for.

    PARLOR_BIN=target/release/parlor python -m parlor_client.evening

starts an instance and Redis. At every table all seats are played, each over a connection of its own,
by people who think for some seconds, and some watch; others look on at matches where nothing
happens. Processor time and resident memory of the instance are read once a second.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import grpc

from parlor_client.player import lasting_channel
from parlor_client.redis import Redis
from parlor_client.requests import Table, bearer, create_request, taken
from parlor_client.server import BINARY, Server
from parlor_client.stubs import MatchStub, games
from parlor_client.stubs import matches as m

GAMES = [("neon", 4), ("neapolitan", 4), ("candy", 4)]
# How long people think about an action, at least and at most.
THINK_SECS = (1, 5)
# So many look on where nothing happens.
IDLE_OF_A_MATCH = 2
# Who looks on comes through a proxy.
STREAMS_OF_A_CONNECTION = 50
# Who is refused, or told to come back, waits for so long.
PAUSE_SECS = 1


class Evening:
    """People at the tables of one instance."""

    def __init__(self, address: str, rng: random.Random) -> None:
        self._address = address
        self._rng = rng
        self._shared: list[grpc.aio.Channel] = []
        self._watching = 0
        self.actions = 0
        self.matches = 0
        self.refused: Counter[str] = Counter()

    async def play(self, game: int, spectators: int) -> None:
        """Plays match after match at a table, for ever."""
        while True:
            name, seats = GAMES[game % len(GAMES)]
            game += 1
            table = await self._create(name, seats)
            watching = [asyncio.create_task(self.watch(table)) for _ in range(spectators)]
            async with asyncio.TaskGroup() as playing:
                for seat in range(seats):
                    playing.create_task(self._sit(table, seat))
            await asyncio.gather(*watching)
            self.matches += 1

    async def idle(self, streams: int) -> None:
        """Looks on at a match that nobody plays, for ever."""
        table = await self._create(*GAMES[0])
        await asyncio.gather(*(self.watch(table) for _ in range(streams)))

    async def _create(self, name: str, seats: int) -> Table:
        options = games.GameOptions()
        getattr(options, name).SetInParent()
        request = create_request([taken()] * seats, options)
        stub = MatchStub(self._channel())
        while True:
            try:
                return Table.of(await stub.CreateMatch(request))
            except grpc.aio.AioRpcError as error:
                self.refused[str(error.details())] += 1
            await asyncio.sleep(PAUSE_SECS)

    def _channel(self) -> grpc.aio.Channel:
        """The connection of who looks on next."""
        if self._watching % STREAMS_OF_A_CONNECTION == 0:
            self._shared.append(lasting_channel(self._address))
        self._watching += 1
        return self._shared[-1]

    async def watch(self, table: Table) -> None:
        """Looks on until the match is over."""
        stub = MatchStub(self._channel())
        async for _ in self._views(stub, table, []):
            pass

    async def _sit(self, table: Table, seat: int) -> None:
        channel = lasting_channel(self._address)
        stub, metadata = MatchStub(channel), bearer(table.tokens[seat])
        answered = set()
        async for view in self._views(stub, table, metadata):
            mine = {it.decision for it in view.decisions if it.seat == seat} - answered
            if not mine:
                continue
            answered |= mine
            await asyncio.sleep(self._rng.uniform(*THINK_SECS))
            action = table.action(self._rng.choice(view.legal_actions))
            try:
                await stub.SubmitAction(action, metadata=metadata)
                self.actions += 1
            except grpc.aio.AioRpcError as error:
                self.refused[str(error.details())] += 1
        await channel.close()

    async def _views(
        self, stub: object, table: Table, metadata: list[tuple[str, str]]
    ) -> AsyncIterator[m.View]:
        """Every view of a match until it is over, coming back when told to."""
        token = b""
        while True:
            call = m.StreamViewRequest(match_id=table.match_id, resume_token=token)
            try:
                async for message in stub.StreamView(call, metadata=metadata):
                    token = message.resume_token
                    arm = getattr(message, message.WhichOneof("message"))
                    if message.HasField("end"):
                        if arm.reason == m.END_REASON_MATCH_OVER:
                            return
                    elif not message.HasField("heartbeat"):
                        yield arm.view
            except grpc.aio.AioRpcError as error:
                self.refused[str(error.details())] += 1
            await asyncio.sleep(PAUSE_SECS)


class Meter:
    """What a process takes, once a second."""

    def __init__(self, pid: int) -> None:
        self._process = Path("/proc") / str(pid)
        self._cpu = self._cpu_secs()
        self._at = time.monotonic()
        # Cores, and MiB.
        self.cpu: list[float] = []
        self.memory: list[float] = []

    def read(self) -> None:
        """One more sample."""
        cpu, now = self._cpu_secs(), time.monotonic()
        self.cpu.append((cpu - self._cpu) / (now - self._at))
        self._cpu, self._at = cpu, now
        pages = int((self._process / "statm").read_text().split()[1])
        self.memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)

    def _cpu_secs(self) -> float:
        fields = (self._process / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __str__(self) -> str:
        return f"cores: {_spread(self.cpu, 3)}\nMiB: {_spread(self.memory, 1)}"


def _spread(samples: list[float], digits: int) -> str:
    """The middle, what no more than a twentieth is above, and the most."""
    half, p95 = statistics.median(samples), statistics.quantiles(samples, n=20, method="inclusive")[-1]
    most = max(samples)
    return f"p50 {half:.{digits}f}, p95 {p95:.{digits}f}, most {most:.{digits}f}"


async def measure(server: Server, args: argparse.Namespace) -> None:
    """Lets people play, and prints what that took."""
    evening = Evening(server.address, random.Random(args.seed))
    come = [partial(evening.play, n, args.spectators) for n in range(args.tables)]
    come += [partial(evening.idle, IDLE_OF_A_MATCH)] * (args.idle // IDLE_OF_A_MATCH)
    people = []
    for one in come:
        # Not all at once.
        await asyncio.sleep(args.begin / 2 / len(come))
        people.append(asyncio.create_task(one()))
    await asyncio.sleep(args.begin / 2)
    meter = Meter(server.pid)
    before = evening.actions
    for _ in range(args.seconds):
        await asyncio.sleep(1)
        meter.read()
        for one in people:
            if one.done():
                one.result()
    rate = (evening.actions - before) / args.seconds
    print(f"{args.tables} tables, {args.spectators} spectators each, {args.idle} idle streams:")
    print(f"{rate:.1f} actions/s, {evening.matches} matches played")
    for why, count in evening.refused.items():
        print(f"{count} times: {why}")
    print(meter, flush=True)
    for one in people:
        one.cancel()
    await asyncio.gather(*people, return_exceptions=True)


def main() -> None:
    """Starts all, measures, and ends all."""
    parser = argparse.ArgumentParser("parlor_client.evening", description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--tables", type=int, default=200, help="matches that are played at once")
    add("--spectators", type=int, default=2, help="who watches each of them")
    add("--idle", type=int, default=2000, help="streams of matches where nothing happens")
    add("--begin", type=int, default=60, help="seconds until it is measured")
    add("--seconds", type=int, default=240, help="seconds for which it is")
    add("--seed", type=int, default=1)
    add("flags", nargs="*", help="of the instance, after --")
    args = parser.parse_args()
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True)
    print(f"{version.stdout.strip()}, {BINARY.stat().st_size >> 20} MiB, {os.cpu_count()} cores")
    redis = Redis("always")
    try:
        keys = f"--token-keys=k1:{os.urandom(32).hex()}"
        as_deployed = ["--log=info", "--log-format=json", "--admin-listen=127.0.0.1:0"]
        flags = [f"--store={redis.url}", keys, *as_deployed, *args.flags]
        with open(os.devnull, "w") as nowhere, Server(*flags, log=nowhere) as server:
            asyncio.run(measure(server, args))
    finally:
        redis.stop()


if __name__ == "__main__":
    main()
