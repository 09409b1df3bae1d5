"""What a storm strikes: servers, each behind a proxy of ours, and all that belongs to them where
they are ours too."""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from parlor_client.cluster import INSTANCES, Cluster
from parlor_client.faults import Fault, Kind, Struck
from parlor_client.proxy import Loss, Proxy
from parlor_client.recording import now
from parlor_client.redis import Redis
from parlor_client.sentinels import Sentinels

# Between two times that connections for announcements are cut.
HANG_UP_EVERY_SECS = 0.05
# For how long at most commands and answers get lost before their connection does: less than a
# server waits.
LOSS_SECS = 0.3
# Viewers of a server that leaves are soon back.
FLAGS = ("--reconnect-spread", "200ms")


class Scene:
    """Servers at these addresses, which are not ours: only what is between them and clients is."""

    kinds: tuple[Kind, ...] = (Kind.CUT_CLIENTS, Kind.PAUSE_CLIENTS)
    # Whether what is not acknowledged may be shown and then be lost.
    may_forget = False

    def __init__(self, servers: list[str]) -> None:
        self._fronts = [Proxy(server) for server in servers]
        # Where clients find the servers.
        self.addresses: list[str] = []
        self._struck: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """As long as it is there."""
        self.addresses = [await front.open() for front in self._fronts]
        try:
            yield
        finally:
            for front in self._fronts:
                front.close()

    def errors(self) -> list[str]:
        """What the servers logged that should never happen, as far as we can read it."""
        return []

    async def strike(self, fault: Fault) -> Struck:
        """Lets something go wrong until it is right again."""
        async with self._struck[fault.target]:
            began = now()
            seen = await getattr(self, f"_{fault.kind.name.lower()}")(fault)
            return Struck(fault.kind, self.addresses[fault.place], began, now(), seen)

    async def _cut_clients(self, fault: Fault) -> None:
        self._fronts[fault.place].cut()

    async def _pause_clients(self, fault: Fault) -> None:
        await pause(self._fronts[fault.place], fault.secs)


class OwnScene(Scene):
    """Three servers of ours; what they share is for others to say."""

    def __init__(self, log: Path) -> None:
        super().__init__([])
        self._log = log
        self._cluster: Cluster | None = None

    @asynccontextmanager
    async def _serving(self, stores: list[str], durability: str) -> AsyncIterator[None]:
        flags = (*FLAGS, "--durability", durability)
        self._cluster = await asyncio.to_thread(Cluster, self._log, stores, *flags)
        self._fronts = [Proxy(address) for address in self._cluster.addresses]
        try:
            async with super().opened():
                yield
        finally:
            await asyncio.to_thread(self._cluster.stop)

    def errors(self) -> list[str]:
        return self._cluster.errors()

    def _redis(self) -> Redis:
        """The server that has the matches now."""
        raise NotImplementedError

    async def _ask_redis(self, command: str) -> str:
        return await asyncio.to_thread(self._redis().ask, command)

    async def _kill(self, fault: Fault) -> None:
        await asyncio.to_thread(self._cluster.kill, fault.place, fault.secs)

    async def _pause(self, fault: Fault) -> None:
        await asyncio.to_thread(self._cluster.pause, fault.place, fault.secs)

    async def _hang_up(self, fault: Fault) -> int:
        """Cuts the connections for announcements, and those that take their place."""
        cut = 0
        for _ in range(round(fault.secs / HANG_UP_EVERY_SECS)):
            cut += numbers(r":(\d+)", await self._ask_redis("CLIENT KILL TYPE pubsub"))
            await asyncio.sleep(HANG_UP_EVERY_SECS)
        return cut

    async def _forget(self, fault: Fault) -> int:
        """Lets Redis forget its scripts; tells how often one was missing."""

        async def missing() -> int:
            known = await self._ask_redis("INFO errorstats")
            return numbers(r"errorstat_NOSCRIPT:count=(\d+)", known)

        before = await missing()
        await self._ask_redis("SCRIPT FLUSH")
        await asyncio.sleep(fault.secs)
        return await missing() - before


class SingleScene(OwnScene):
    """One Redis, which each server reaches through a proxy."""

    kinds = tuple(kind for kind in Kind if kind not in (Kind.FAIL_OVER, Kind.REPLACE))

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        self._only = await asyncio.to_thread(Redis, "always")
        self._backs = [Proxy(f"127.0.0.1:{self._only.port}") for _ in range(INSTANCES)]
        try:
            stores = [f"redis://parlor:secret@{await back.open()}" for back in self._backs]
            async with self._serving(stores, "always"):
                yield
        finally:
            for back in self._backs:
                back.close()
            await asyncio.to_thread(self._only.stop)

    def _redis(self) -> Redis:
        return self._only

    async def _cut_store(self, fault: Fault) -> int:
        return self._backs[fault.place].cut()

    async def _pause_store(self, fault: Fault) -> int:
        return await pause(self._backs[fault.place], fault.secs)

    async def _mute(self, fault: Fault) -> int:
        """Lets no changes through, and then cuts the connections that they were lost on."""
        return await self._lose_and_cut(fault, Loss.CHANGES)

    async def _deafen(self, fault: Fault) -> int:
        """Lets changes through and no answers to them, and then cuts the connections."""
        return await self._lose_and_cut(fault, Loss.ANSWERS)

    async def _lose_and_cut(self, fault: Fault, what: Loss) -> int:
        back = self._backs[fault.place]
        lost = await back.lose(what, min(fault.secs, LOSS_SECS))
        back.cut()
        return lost

    async def _muffle(self, fault: Fault) -> int:
        """Lets no announcements through."""
        return await self._backs[fault.place].lose(Loss.ANNOUNCEMENTS, fault.secs)

    async def _stall(self, fault: Fault) -> int:
        """Pauses Redis; tells how much it was asked meanwhile."""
        before = sum(back.asked for back in self._backs)
        self._only.pause()
        await asyncio.sleep(fault.secs)
        self._only.go_on()
        return sum(back.asked for back in self._backs) - before

    async def _crash(self, fault: Fault) -> int:
        """Kills Redis and starts it again; tells how many connections were lost."""
        lost = sum(len(back.pairs) for back in self._backs)
        await asyncio.to_thread(self._only.kill)
        await asyncio.sleep(fault.secs / 2)
        await asyncio.to_thread(self._only.start_again)
        return lost


class SentinelScene(OwnScene):
    """A primary and a replica that sentinels watch; they say where it is, and know of no proxy."""

    kinds = (
        Kind.KILL,
        Kind.PAUSE,
        Kind.CUT_CLIENTS,
        Kind.PAUSE_CLIENTS,
        Kind.HANG_UP,
        Kind.FORGET,
        Kind.FAIL_OVER,
        Kind.REPLACE,
    )
    may_forget = True

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        self._all = await asyncio.to_thread(Sentinels)
        try:
            async with self._serving([self._all.url] * INSTANCES, "replicated"):
                yield
        finally:
            await asyncio.to_thread(self._all.stop)

    def _redis(self) -> Redis:
        return self._all.primary

    def errors(self) -> list[str]:
        # That a change was lost which nobody was told is safe is to be logged.
        return [error for error in super().errors() if "history forked" not in error]

    async def _fail_over(self, _: Fault) -> int:
        return await self._replace_primary(crash=True)

    async def _replace(self, _: Fault) -> int:
        return await self._replace_primary(crash=False)

    async def _replace_primary(self, *, crash: bool) -> int:
        """Tells how many connections of servers were at the primary that was lost."""
        lost = (await self._ask_redis("CLIENT LIST")).count("user=parlor")
        await asyncio.to_thread(lambda: self._all.fail_over(crash=crash))
        return lost


async def pause(proxy: Proxy, secs: float) -> int:
    """Lets nothing through for a while; says how much waited."""
    before = proxy.kept_back
    proxy.pause()
    await asyncio.sleep(secs)
    proxy.go_on()
    return proxy.kept_back - before


def numbers(pattern: str, text: str) -> int:
    """The sum of the numbers in a text that are found so."""
    return sum(map(int, re.findall(pattern, text)))
