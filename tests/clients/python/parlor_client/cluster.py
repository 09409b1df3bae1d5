"""Several instances of the service that share one store, and die at any time."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parlor_client.recording import now
from parlor_client.redis import free_port
from parlor_client.server import Server

INSTANCES = 3
RESTART_SECS = 30


class Cluster:
    """Three servers with one token key, each with an address of the store that they share."""

    def __init__(self, log: Path, stores: list[str], *flags: str) -> None:
        self._log = log
        self._stores = stores
        key = f"cluster:{os.urandom(32).hex()}"
        self._flags = ["--token-keys", key, "--heartbeat", "1s", *flags]
        # When which server was killed.
        self.kills: list[tuple[int, str]] = []
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(INSTANCES)]
        with ThreadPoolExecutor() as starting:
            self._servers = list(starting.map(self._start, range(INSTANCES), addresses))

    def _start(self, place: int, address: str) -> Server:
        store = ["--store", self._stores[place]]
        with self._log.open("a") as log:
            return Server(*self._flags, *store, listen=address, log=log)

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
        self._servers[place] = self._start_again(place, server.address)

    def _start_again(self, place: int, address: str) -> Server:
        """Starts one, again and again while the store is not there to start with."""
        give_up = time.monotonic() + RESTART_SECS
        while True:
            try:
                return self._start(place, address)
            except RuntimeError:
                if time.monotonic() > give_up:
                    raise

    def pause(self, place: int, secs: float) -> None:
        """Stops one in its tracks for a while; what is sent to it waits."""
        server = self._servers[place]
        server.pause()
        time.sleep(secs)
        server.go_on()

    def stop(self) -> None:
        """Ends all of them; each ends well."""
        with ThreadPoolExecutor() as stopping:
            codes = list(stopping.map(Server.stop, self._servers))
        assert codes == [0] * INSTANCES
