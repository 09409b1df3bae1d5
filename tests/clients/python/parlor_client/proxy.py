"""A port that leads elsewhere, until it is told to cut, to pause, or to keep something back."""

import asyncio
import re
from collections.abc import Callable
from enum import Enum, auto

# What Redis pushes to whoever has subscribed: a channel, and a payload of the length that it names.
ANNOUNCEMENT = re.compile(rb">3\r\n\$7\r\nmessage\r\n\$\d+\r\n[^\r]*\r\n\$(\d+)\r\n")
LINE_END = len(b"\r\n")
# The end of a match's channel: what names it wants to change the match, or to hear of changes.
CHANNEL = b"}:w\r\n"


class Loss(Enum):
    """What is lost: of connections on which a change is asked for, all from there on that is said
    or that is answered; of all connections, what is announced."""

    CHANGES = auto()
    ANSWERS = auto()
    ANNOUNCEMENTS = auto()


class Proxy:
    """Passes connections on to an address, `host:port`."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        self._server: asyncio.Server | None = None
        self.pairs: set[_Pair] = set()
        self.paused = False
        self.losing: set[Loss] = set()
        # How many pieces came from callers, and how many of all were kept back by what it was told,
        # for a while or for ever.
        self.asked = 0
        self.kept_back = 0

    async def open(self) -> str:
        """Opens the port; gives its address."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Pair(self).caller, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return f"{host}:{port}"

    def close(self) -> None:
        """Closes the port and cuts all connections."""
        self._server.close()
        self.cut()

    def cut(self) -> int:
        """Cuts all connections; says how many."""
        pairs = list(self.pairs)
        for pair in pairs:
            pair.abort()
        return len(pairs)

    async def lose(self, what: Loss, secs: float) -> int:
        """Loses this for a while; says how many pieces."""
        before = self.kept_back
        self.losing.add(what)
        await asyncio.sleep(secs)
        self.losing.discard(what)
        return self.kept_back - before

    def pause(self) -> None:
        """Lets nothing through for a while."""
        self.paused = True

    def go_on(self) -> None:
        """Lets all through that waited, and what comes."""
        self.paused = False
        for pair in list(self.pairs):
            pair.flush()


class _Pair:
    """A connection of a caller, and the one to the target that it is passed on to."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.caller = _End(self, lambda: self.target, self._connect)
        self.target = _End(self, lambda: self.caller, lambda: None)
        self.lost: set[Loss] = set()
        self._connecting: asyncio.Task | None = None
        proxy.pairs.add(self)

    def _connect(self) -> None:
        self._connecting = asyncio.get_running_loop().create_task(self._reach_target())

    async def _reach_target(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self.target, *self.proxy.target)
        except OSError:
            self.abort()
        else:
            self.flush()

    def flush(self) -> None:
        for end in (self.caller, self.target):
            end.flush()

    def abort(self) -> None:
        self.proxy.pairs.discard(self)
        for end in (self.caller, self.target):
            if end.transport:
                end.transport.abort()


class _End(asyncio.Protocol):
    """One of the two connections: what it receives goes to the other."""

    def __init__(
        self, pair: _Pair, other: Callable[[], "_End"], connected: Callable[[], None]
    ) -> None:
        self._pair = pair
        self._other = other
        self._connected = connected
        self._waiting = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        if self._pair not in self._pair.proxy.pairs:
            transport.abort()
        self._connected()

    def data_received(self, data: bytes) -> None:
        proxy = self._pair.proxy
        answers = self is self._pair.target
        proxy.asked += not answers
        if not answers and CHANNEL in data:
            self._pair.lost |= proxy.losing
        if (Loss.ANSWERS if answers else Loss.CHANGES) in self._pair.lost:
            proxy.kept_back += 1
            return
        if answers and Loss.ANNOUNCEMENTS in proxy.losing:
            data, dropped = without_announcements(data)
            proxy.kept_back += dropped
        self._waiting += data
        proxy.kept_back += proxy.paused
        self.flush()

    def flush(self) -> None:
        """Passes on what it received, if that may be."""
        other = self._other().transport
        if self._waiting and other and not self._pair.proxy.paused:
            other.write(self._waiting)
            self._waiting = b""

    def connection_lost(self, _: Exception | None) -> None:
        self._pair.abort()


def without_announcements(data: bytes) -> tuple[bytes, int]:
    """What a server of Redis says, without what it announces; and how much that was.

    It writes an announcement whole, so that one is not looked for in two pieces.
    """
    kept, dropped = b"", 0
    while found := ANNOUNCEMENT.search(data):
        kept += data[: found.start()]
        data = data[found.end() + int(found[1]) + LINE_END :]
        dropped += 1
    return kept + data, dropped
