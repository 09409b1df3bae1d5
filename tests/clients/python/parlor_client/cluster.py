"""Several instances of the service that share one Redis, and die at any time."""

import os
import time
from pathlib import Path

from parlor_client.recording import now
from parlor_client.redis import Redis, free_port
from parlor_client.server import Server

INSTANCES = 3


class Cluster:
    """Three servers with one store and one token key."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._redis = Redis()
        key = f"cluster:{os.urandom(32).hex()}"
        self._flags = ["--store", self._redis.url, "--token-keys", key, "--heartbeat", "1s"]
        self._servers: list[Server] = []
        # When which server was killed.
        self.kills: list[tuple[int, str]] = []
        for _ in range(INSTANCES):
            self._servers.append(self._start(f"127.0.0.1:{free_port()}"))

    def _start(self, address: str) -> Server:
        with self._log.open("a") as log:
            return Server(*self._flags, listen=address, log=log)

    def errors(self) -> list[str]:
        """What the servers logged that should never happen."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if "ERROR" in line or "panicked" in line]

    @property
    def addresses(self) -> list[str]:
        """Where the servers listen."""
        return [server.address for server in self._servers]

    def kill(self, place: int, down_secs: float) -> None:
        """Kills one with SIGKILL, and after a while starts it again on the same port."""
        server = self._servers[place]
        self.kills.append((now(), server.address))
        server.kill()
        time.sleep(down_secs)
        self._servers[place] = self._start(server.address)

    def stop(self) -> None:
        """Ends everything; each server ends well."""
        try:
            codes = [server.stop() for server in self._servers]
        finally:
            self._redis.stop()
        assert codes == [0] * INSTANCES
