"""The manifests against the real programs: what they set, what they ask, what they give."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rendered import KUBERNETES, ROOT, Overlay

PARLOR = Path(os.environ.get("PARLOR_BIN", ROOT / "target" / "debug" / "parlor"))
START_SECS = 30


def test_every_variable_that_is_set_is_known_to_the_program(overlay: Overlay) -> None:
    said = subprocess.run([PARLOR, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"\[env: (PARLOR_\w+)", said))
    for text in (str(overlay.objects), (ROOT / "deploy/docker/Dockerfile").read_text()):
        found = set(re.findall(r"\bPARLOR_\w+", text))
        assert found, "there are settings"
        assert found <= known, found - known


@pytest.fixture(scope="module")
def secrets() -> dict[str, dict[str, str]]:
    """New secrets, by the names of their objects."""
    command = [KUBERNETES / "secrets", "a-namespace"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = list(yaml.safe_load_all(said))
    assert all(it["kind"] == "Secret" for it in made)
    assert {it["metadata"]["namespace"] for it in made} == {"a-namespace"}
    return {it["metadata"]["name"]: it["stringData"] for it in made}


class Deployed:
    """Redis and an instance with the settings of an overlay, as processes of this machine."""

    def __init__(self, overlay: Overlay, secrets: dict[str, dict[str, str]], root: Path) -> None:
        self.overlay = overlay
        self.root = root
        for name, files in secrets.items():
            folder = root / "run" / "secrets" / name
            folder.mkdir(parents=True)
            for key, value in files.items():
                (folder / key).write_text(value.replace("@redis:6379", "@127.0.0.1:REDIS_PORT"))
        (root / "data").mkdir()
        self._started: list[subprocess.Popen] = []

    def here(self, text: str) -> str:
        """The same with the paths of the container in this root."""
        return text.replace("/run/secrets", f"{self.root}/run/secrets").replace(
            "/data", f"{self.root}/data"
        )

    def start(self, *command: str | Path, **env: str) -> subprocess.Popen:
        """Starts a program that ends with the test."""
        clean = {name: value for name, value in os.environ.items() if "PARLOR" not in name}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean | env)
        self._started.append(process)
        return process

    def start_redis(self) -> None:
        """Starts Redis, and waits until its own probe is content."""
        conf = self.root / "redis.conf"
        conf.write_text(self.here(self.overlay.one("ConfigMap", "redis")["data"]["redis.conf"]))
        for self.redis_port in range(20_000 + os.getpid() % 10_000, 65_000, 7):
            process = self.start(
                "redis-server", conf, "--bind", "127.0.0.1", "--port", str(self.redis_port)
            )
            if self._answers(process):
                return
        raise AssertionError("no port is free")

    def _answers(self, process: subprocess.Popen) -> bool:
        give_up = time.monotonic() + START_SECS
        while process.poll() is None and time.monotonic() < give_up:
            if self.probe_redis() == 0:
                return True
            time.sleep(0.05)
        return False

    def probe_redis(self) -> int:
        """Asks what Kubernetes would ask, and gives the exit code."""
        (container,) = self.overlay.one("StatefulSet", "redis")["spec"]["template"]["spec"][
            "containers"
        ]
        assert container["startupProbe"]["exec"] == container["readinessProbe"]["exec"]
        command = container["readinessProbe"]["exec"]["command"]
        command = [it.replace("redis-cli", f"redis-cli -p {self.redis_port}") for it in command]
        return subprocess.run(command, capture_output=True, check=False).returncode

    def start_parlor(self) -> str:
        """Starts an instance and gives its address."""
        store = self.root / "run" / "secrets" / "parlor" / "store"
        store.write_text(store.read_text().replace("REDIS_PORT", str(self.redis_port)))
        data = self.overlay.one("ConfigMap")["data"]
        env = {name: self.here(value) for name, value in data.items()}
        env["PARLOR_LISTEN"] = "127.0.0.1:0"
        self.parlor = self.start(PARLOR, **env)
        for line in self.parlor.stdout:
            if found := re.search(r"listens on (\S+)", line):
                return found[1]
        raise AssertionError(f"it did not start: exit code {self.parlor.wait()}")

    def stop(self) -> None:
        """Ends what it started."""
        for process in self._started:
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            process.wait(START_SECS)
            process.stdout.close()


@pytest.fixture(scope="module")
def deployed(
    overlay: Overlay, secrets: dict[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployed]:
    """All of an overlay that this machine can run."""
    deployed = Deployed(overlay, secrets, tmp_path_factory.mktemp(overlay.name))
    try:
        deployed.start_redis()
        deployed.address = deployed.start_parlor()
        yield deployed
    finally:
        deployed.stop()


def test_every_probe_finds_what_it_asks_for(deployed: Deployed) -> None:
    with grpc.insecure_channel(deployed.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            service = deployed.overlay.container[probe]["grpc"].get("service", "")
            answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING, probe


def test_a_match_is_played_with_the_secrets_as_they_are_made(deployed: Deployed) -> None:
    keys = deployed.root / "run" / "secrets" / "parlor" / "api-keys"
    key = keys.read_text().partition(":")[2]
    server = f"http://{deployed.address}"
    played = subprocess.run(
        [PARLOR, "play", "--server", server, "--api-key", key],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert played.returncode == 0, played.stderr
    refused = subprocess.run(
        [PARLOR, "play", "--server", server], capture_output=True, check=False, timeout=60
    )
    assert refused.returncode != 0, "only those with a key create matches"


def test_a_stranger_gets_nothing_from_redis(deployed: Deployed) -> None:
    asked = subprocess.run(
        ["redis-cli", "-p", str(deployed.redis_port), "keys", "*"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "NOAUTH" in asked.stdout


def test_the_probe_of_redis_may_do_nothing_else(deployed: Deployed) -> None:
    asked = subprocess.run(
        ["redis-cli", "-p", str(deployed.redis_port)]
        + ["--no-auth-warning", "--user", "probe", "--pass", "probe", "keys", "*"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "NOPERM" in asked.stdout
