"""The real server, as a process of its own on a port that was free."""

import os
import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO

import grpc

from parlor_client.stubs import ROOT, CatalogStub, MatchStub

BINARY = Path(os.environ.get("PARLOR_BIN", ROOT / "target" / "debug" / "parlor"))
START_SECS = 30
STOP_SECS = 30


class Server:
    """A running server with these flags; ended by its process id."""

    def __init__(
        self, *flags: str, listen: str = "127.0.0.1:0", log: IO[str] | None = None
    ) -> None:
        clean = {name: value for name, value in os.environ.items() if "PARLOR" not in name}
        # Tests act faster than people, but for those that are about that.
        clean["PARLOR_RATE_LIMITS"] = "off"
        # Flags go before these.
        clean |= {"PARLOR_LOG": "warn", "PARLOR_DRAIN": "5s"}
        self._process = subprocess.Popen(
            [BINARY, "--listen", listen, *flags],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=clean,
        )
        self.address = self._read_address()
        self.channel = grpc.insecure_channel(self.address)
        self.matches = MatchStub(self.channel)
        self.catalog = CatalogStub(self.channel)

    def _read_address(self) -> str:
        give_up = threading.Timer(START_SECS, self._process.kill)
        give_up.start()
        try:
            for line in self._process.stdout:
                if found := re.search(r"listens on (\S+)", line):
                    return found[1]
        finally:
            give_up.cancel()
        raise RuntimeError(f"the server did not start: exit code {self._process.wait()}")

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def terminate(self) -> None:
        """Tells it to stop, as an operator would."""
        self._process.send_signal(signal.SIGTERM)

    def pause(self) -> None:
        """Stops it in its tracks; what is sent to it waits."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets it go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        self.channel.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def stop(self) -> int:
        """Tells it to stop, waits until it has, and gives its exit code."""
        self.channel.close()
        self.terminate()
        try:
            return self._process.wait(STOP_SECS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            self._process.stdout.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.stop() == 0, "the server ends well when it is told to stop"
