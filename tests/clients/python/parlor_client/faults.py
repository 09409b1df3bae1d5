"""What can go wrong, drawn from a seed, and whether it really did."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from parlor_client.recording import Recording

# For how long a connection that broke may take to be noticed.
NOTICED_MICROS = 1_500_000


class Kind(StrEnum):
    """A kind of fault."""

    KILL = "servers killed"
    PAUSE = "servers paused"
    CUT_CLIENTS = "connections of clients cut"
    PAUSE_CLIENTS = "connections of clients paused"
    CUT_STORE = "connections to Redis cut"
    PAUSE_STORE = "connections to Redis paused"
    MUTE = "commands to Redis lost"
    DEAFEN = "answers of Redis lost"
    MUFFLE = "announcements lost"
    HANG_UP = "connections for announcements cut"
    FORGET = "scripts flushed"
    STALL = "Redis paused"
    CRASH = "Redis killed and started on its log"
    FAIL_OVER = "the primary killed and replaced"
    REPLACE = "the primary paused and replaced"


@dataclass(frozen=True)
class Fault:
    """Something that is to go wrong."""

    kind: Kind
    # At which server, where it is at one.
    place: int
    secs: float
    # How many actions are accepted first, after the fault before it began.
    after: int
    # Whether the next one may begin before this one is over.
    overlaps: bool

    @property
    def target(self) -> str:
        """What it strikes, which bears one fault at a time."""
        match self.kind:
            case Kind.KILL | Kind.PAUSE:
                return f"server {self.place}"
            case Kind.CUT_CLIENTS | Kind.PAUSE_CLIENTS:
                return f"clients of server {self.place}"
            case Kind.CUT_STORE | Kind.PAUSE_STORE | Kind.MUTE | Kind.DEAFEN | Kind.MUFFLE:
                return f"Redis as server {self.place} knows it"
            case _:
                return "Redis"


@dataclass(frozen=True)
class Struck:
    """What went wrong, from when to when, in microseconds since 1970."""

    kind: Kind
    server: str
    began: int
    ended: int
    # How much of it was seen at once; where nothing can be, viewers saw it or nobody did.
    seen: int | None


def draw(rng: random.Random, kinds: tuple[Kind, ...], count: int, places: int) -> list[Fault]:
    """So many faults; as many kinds of them as can be."""
    drawn = [kind for _ in range(count // len(kinds)) for kind in kinds]
    drawn += rng.sample(kinds, count - len(drawn))
    rng.shuffle(drawn)
    return [
        Fault(
            kind,
            rng.randrange(places),
            # Some longer than a server waits for Redis, and than a client for a server.
            secs=rng.choice([0.2, 0.5, 0.8, 2.0]) * rng.uniform(0.7, 1.0),
            after=rng.randrange(10, 60),
            overlaps=rng.random() < 0.4,
        )
        for kind in drawn
    ]


class Traces:
    """What viewers noticed of faults: streams that broke, and calls that waited or got lost."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        # At which server, and when.
        self._broken: list[tuple[str, int]] = []
        # At which server, asked when, and when it was over.
        self._waited: list[tuple[str, int, int]] = []
        for recording in recordings:
            for viewer in recording.viewers:
                for line in viewer.of("broken"):
                    if line.code is not None:
                        self._broken.append((line.server, line.at))
                for line in viewer.of("acted", "refused", "lost"):
                    self._waited.append((line.server, line.asked, line.at))

    def add(self, other: "Traces") -> None:
        """Adds what other viewers noticed."""
        self._broken += other._broken
        self._waited += other._waited

    def breaks(self, struck: Struck) -> int:
        """How many streams it broke."""
        until = struck.began + NOTICED_MICROS
        return sum(
            server == struck.server and struck.began <= at <= until for server, at in self._broken
        )

    def waits(self, struck: Struck) -> int:
        """How many calls waited for its end."""
        return sum(
            server == struck.server and struck.began <= asked < struck.ended <= at
            for server, asked, at in self._waited
        )

    def effect(self, struck: Struck) -> int:
        """How much of a fault was noticed."""
        match struck.kind:
            case Kind.KILL | Kind.CUT_CLIENTS:
                return self.breaks(struck)
            case Kind.PAUSE | Kind.PAUSE_CLIENTS:
                return self.waits(struck)
        return struck.seen or 0
