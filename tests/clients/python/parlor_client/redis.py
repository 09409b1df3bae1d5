"""A real Redis server on a port and in a folder of its own; ended by its process id."""

import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

START_SECS = 30
ANSWER_SECS = 5
# What the service's user may do.
PERMISSIONS = (
    "resetkeys ~parlor1:* resetchannels &parlor1:* -@all +evalsha +eval +exists +get +set +hget "
    "+hmget +hset +xadd +xrange +pexpire +pttl +publish +subscribe +unsubscribe +hello +ping "
    "+config|get +role +wait"
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


class RedisProcess:
    """A server of Redis of any kind, in a folder of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="parlor-redis-"))
        self.port = 0
        self._process = self._start()

    def _words(self) -> list[str]:
        """How it is started on its port."""
        raise NotImplementedError

    def _start(self) -> subprocess.Popen:
        while True:
            self.port = free_port()
            process = self._spawn(self._words())
            if self._answers(process):
                return process
            # Somebody else was faster to take the port.

    def _spawn(self, words: list[str]) -> subprocess.Popen:
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                ["redis-server", *words], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )

    def _answers(self, process: subprocess.Popen) -> bool:
        """Waits until it answers; not, if it has ended."""
        give_up = time.monotonic() + START_SECS
        while process.poll() is None:
            if f"process_id:{process.pid}\r" in self.ask("INFO server"):
                return True
            if time.monotonic() > give_up:
                process.kill()
                raise RuntimeError("redis-server does not answer")
            time.sleep(0.01)
        return False

    def ask(self, command: str) -> str:
        """What it answers to a command that may do everything; nothing if it does not."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_SECS) as connection:
                connection.sendall(f"AUTH admin admin\r\n{command}\r\n".encode())
                connection.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        self._process.kill()
        self._process.wait()

    def start_again(self, *more: str) -> None:
        """Starts it again, on the same port and data."""
        self._process = self._spawn([*self._words(), *more])
        if not self._answers(self._process):
            raise RuntimeError("redis-server does not start again")

    def pause(self) -> None:
        """Stops it in its tracks; what is sent to it waits."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets it go on."""
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Redis(RedisProcess):
    """A running Redis server with an append-only file."""

    def __init__(self, fsync: str = "everysec", replica_of: "Redis | None" = None) -> None:
        self._fsync = fsync
        self._primary = replica_of
        super().__init__()

    def _words(self) -> list[str]:
        (self.folder / "users.acl").write_text(USERS, encoding="utf-8")
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--aclfile", "users.acl"]
        words += ["--save", "", "--appendonly", "yes", "--appendfsync", self._fsync]
        words += ["--masteruser", "admin", "--masterauth", "admin"]
        # A replica that lost touch is given all anew at once.
        words += ["--repl-diskless-sync-delay", "0"]
        if self._primary:
            words += ["--replicaof", "127.0.0.1", str(self._primary.port)]
        return words

    def follow(self, primary: "Redis | None") -> None:
        """Makes it a replica of another from its next start on, or a primary."""
        self._primary = primary

    @property
    def url(self) -> str:
        """The address for the service."""
        return f"redis://parlor:secret@127.0.0.1:{self.port}"
