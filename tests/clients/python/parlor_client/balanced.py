"""Several instances behind a balancer, as `deploy/local/up` starts them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sysconfig
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from parlor_client.server import BINARY
from parlor_client.stubs import ROOT, CatalogStub, MatchStub

LOCAL = ROOT / "deploy" / "local"
PATIENCE_SECS = 60


class Balanced:
    """What `deploy/local/up` starts, with these options and these settings of instances."""

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        self.folder = folder
        self.port = free_ports()
        self.address = f"127.0.0.1:{self.port}"
        clean = {name: value for name, value in os.environ.items() if "PARLOR" not in name}
        # Envoy is among the packages of this environment.
        clean["PATH"] = f"{sysconfig.get_path('scripts')}:{clean['PATH']}"
        # Players of a test act faster than people do.
        own = {"PARLOR_BIN": str(BINARY.resolve()), "PARLOR_RATE_LIMITS": "off"}
        self._env = clean | own | settings
        self._added: list[subprocess.Popen] = []
        command = [LOCAL / "up", "--port", str(self.port), "--dir", folder, *options]
        self._up = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=self._env, preexec_fn=heed_interrupts
        )
        if not any("try next" in line for line in self._up.stdout):
            raise RuntimeError(f"it did not start: exit code {self._up.wait()}")
        self.channel = grpc.insecure_channel(self.address)
        self.matches = MatchStub(self.channel)
        self.catalog = CatalogStub(self.channel)

    def calls(self, method: str) -> Counter[str]:
        """How many calls of a method each instance has logged."""
        logs = self.folder.glob("instance-*.log")
        return Counter({log.stem: log.read_text().count(f'{method}"') for log in logs})

    def pid(self, instance: int) -> int:
        """The process id of an instance that runs."""
        # It may be just being written.
        return int((self.folder / f"instance-{instance}.pid").read_text() or 0)

    def healthy(self) -> set[int]:
        """The instances that the balancer sends calls to."""
        pages = f"http://127.0.0.1:{self.port + 9}/clusters?format=json"
        with urllib.request.urlopen(pages, timeout=PATIENCE_SECS) as answer:
            (instances,) = json.load(answer)["cluster_statuses"]
        return {
            host["address"]["socket_address"]["port_value"] - self.port
            for host in instances["host_statuses"]
            if not host["health_status"].keys() & {"failed_active_health_check", "pending_active_hc"}
        }

    def _serves(self, instance: int) -> bool:
        with grpc.insecure_channel(f"127.0.0.1:{self.port + instance}") as channel:
            health = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service="parlor.v1.MatchService")
            try:
                answer = health.Check(request, wait_for_ready=True, timeout=PATIENCE_SECS)
            except grpc.RpcError:
                return False
            return answer.status == health_pb2.HealthCheckResponse.SERVING

    def replace(self, instance: int) -> None:
        """Tells an instance to stop, and waits until another has taken its place."""
        before = self.pid(instance)
        os.kill(before, signal.SIGTERM)
        until(lambda: self.pid(instance) != before and self._serves(instance))
        until(lambda: instance in self.healthy())

    def add(self, instance: int) -> None:
        """Adds an instance, and waits until the balancer knows it."""
        log = self.folder / f"instance-{instance}.log"
        command = [LOCAL / "instance", str(instance), self.folder]
        with log.open("w") as output:
            self._added.append(subprocess.Popen(command, stderr=output, env=self._env))
        until(lambda: instance in self.healthy())

    def ends(self) -> list[str]:
        """How instances ended."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / "ends.log").read_text().splitlines()
        return []

    def __enter__(self) -> "Balanced":
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()
        for process in [*self._added, self._up]:
            process.send_signal(signal.SIGINT if process is self._up else signal.SIGTERM)
            process.wait(PATIENCE_SECS)
        self._up.stdout.close()
        assert self._up.returncode == 0
        left = [path.name for path in self.folder.glob("*.pid")]
        assert not left, f"{left} were not ended"


def heed_interrupts() -> None:
    """What a shell starts in the background ignores Ctrl-C, and all that it starts does too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def until(done: Callable[[], bool]) -> None:
    """Looks again and again until something has happened that nobody tells."""
    give_up = time.monotonic() + PATIENCE_SECS
    while not done():
        assert time.monotonic() < give_up, "it does not happen"
        time.sleep(0.05)


def free_ports() -> int:
    """The first of ten ports in a row that are free."""
    for first in range(20_000 + os.getpid() % 1_000 * 10, 32_000, 10):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + 10):
                    probe = stack.enter_context(socket.socket())
                    probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise RuntimeError("no ports are free")
