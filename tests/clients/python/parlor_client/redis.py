"""A real Redis server on a port and in a folder of its own; ended by its process id."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

START_SECS = 10
# What the service's user may do.
PERMISSIONS = (
    "resetkeys ~parlor1:* resetchannels &parlor1:* -@all +evalsha +eval +exists +get +set +hget "
    "+hmget +hset +xadd +xrange +pexpire +publish +subscribe +unsubscribe +hello +ping +config|get +role"
)
# Redis 7.0 replays its append-only file as the default user: off, but it may do everything.
USERS = f"""\
user default off ~* &* +@all
user admin on >admin ~* &* +@all
user parlor on >secret {PERMISSIONS}
"""


def free_port() -> int:
    """A port that nobody listens on, below those that the system gives out by itself."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Redis:
    """A running Redis server."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="parlor-redis-"))
        (self._folder / "users.acl").write_text(USERS, encoding="utf-8")
        self._process = self._start()

    def _start(self) -> subprocess.Popen:
        while True:
            self.port = free_port()
            flags = ["--bind", "127.0.0.1", "--aclfile", "users.acl", "--save", ""]
            flags += ["--appendonly", "yes", "--appendfsync", "everysec"]
            with (self._folder / "log").open("w") as log:
                process = subprocess.Popen(
                    ["redis-server", "--port", str(self.port), *flags],
                    cwd=self._folder,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            if self._answers(process):
                return process
            # Somebody else was faster to take the port.

    def _answers(self, process: subprocess.Popen) -> bool:
        """Waits until it answers; not, if it has ended."""
        give_up = time.monotonic() + START_SECS
        while process.poll() is None:
            if f"process_id:{process.pid}\r" in self._info():
                return True
            if time.monotonic() > give_up:
                process.kill()
                raise RuntimeError("redis-server does not answer")
            time.sleep(0.01)
        return False

    def _info(self) -> str:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"AUTH admin admin\r\nINFO server\r\nQUIT\r\n")
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    @property
    def url(self) -> str:
        """The address for the service."""
        return f"redis://parlor:secret@127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
