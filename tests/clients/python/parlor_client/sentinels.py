"""A primary of Redis with a replica, and three sentinels that put one in the other's place."""

import time
from collections.abc import Callable

from parlor_client.redis import Redis, RedisProcess

# How long servers may take to find each other, and to agree on a new primary.
AGREEMENT_SECS = 60
PERMISSIONS = "resetkeys resetchannels -@all +sentinel|get-master-addr-by-name"


class Sentinel(RedisProcess):
    """A sentinel that takes its primary for gone when it is silent for two seconds."""

    def __init__(self, primary: Redis) -> None:
        self._watched = primary.port
        super().__init__()

    def _words(self) -> list[str]:
        settings = f"""\
port {self.port}
bind 127.0.0.1
user default off
user admin on >admin ~* &* +@all
user parlor on >sentry {PERMISSIONS}
sentinel sentinel-user admin
sentinel sentinel-pass admin
sentinel monitor main 127.0.0.1 {self._watched} 2
sentinel auth-user main admin
sentinel auth-pass main admin
sentinel down-after-milliseconds main 2000
sentinel failover-timeout main 6000
"""
        (self.folder / "sentinel.conf").write_text(settings, encoding="utf-8")
        return ["sentinel.conf", "--sentinel"]

    def names(self, server: Redis) -> bool:
        """Whether it takes this one for the primary."""
        return f"\r\n{server.port}\r\n" in self.ask("SENTINEL GET-MASTER-ADDR-BY-NAME main")


class Sentinels:
    """The five servers."""

    def __init__(self) -> None:
        first = Redis("always")
        self._servers = [first, Redis("always", replica_of=first)]
        self._watchers = [Sentinel(first) for _ in range(3)]
        self._agree(lambda: all(map(self._knows_all, self._watchers)))
        self._agree(self._is_replicated)

    @staticmethod
    def _knows_all(watcher: Sentinel) -> bool:
        told = watcher.ask("SENTINEL MASTER main").split()
        known = dict(zip(told, told[2:], strict=False))
        return (known.get("num-slaves"), known.get("num-other-sentinels")) == ("1", "2")

    @staticmethod
    def _agree(agreed: Callable[[], bool]) -> None:
        """Looks again and again until the servers agree on something."""
        give_up = time.monotonic() + AGREEMENT_SECS
        while not agreed():
            if time.monotonic() > give_up:
                raise RuntimeError("the servers do not agree")
            time.sleep(0.02)

    @property
    def primary(self) -> Redis:
        """The one that is the primary now, as a sentinel says."""
        one, other = self._servers
        return one if self._watchers[0].names(one) else other

    def _is_replicated(self) -> bool:
        """Whether a replica has what the primary has, and goes on following it."""
        return "state=online" in self.primary.ask("INFO replication")

    @property
    def url(self) -> str:
        """The address for the service."""
        hosts = ",".join(f"127.0.0.1:{watcher.port}" for watcher in self._watchers)
        identity = "sentinel_username=parlor&sentinel_password=sentry"
        return f"redis+sentinel://parlor:secret@{hosts}/main?{identity}"

    def fail_over(self, *, crash: bool) -> None:
        """Lets the primary crash or be silent until the replica has taken its place, and makes it
        the new replica."""
        lost = self.primary
        (successor,) = (server for server in self._servers if server is not lost)
        lost.kill() if crash else lost.pause()
        try:
            self._agree(lambda: all(watcher.names(successor) for watcher in self._watchers))
        finally:
            lost.follow(successor)
            successor.follow(None)
            if crash:
                lost.start_again()
            else:
                lost.go_on()
                # As a sentinel would in some seconds, who also lets its clients look elsewhere.
                lost.ask(f"REPLICAOF 127.0.0.1 {successor.port}")
                lost.ask("CLIENT KILL TYPE normal")
                lost.ask("CLIENT KILL TYPE pubsub")
        self._agree(self._is_replicated)

    def stop(self) -> None:
        """Ends all of them."""
        for server in [*self._watchers, *self._servers]:
            server.stop()
