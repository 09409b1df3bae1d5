"""Redis and an instance of Parlor, run here as the manifests would have them run."""

import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

from rendered import ROOT, Overlay

PARLOR = Path(os.environ.get("PARLOR_BIN", ROOT / "target" / "debug" / "parlor"))
START_SECS = 30


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

    def start_parlor(self) -> None:
        """Starts an instance."""
        store = self.root / "run" / "secrets" / "parlor" / "store"
        store.write_text(store.read_text().replace("REDIS_PORT", str(self.redis_port)))
        data = self.overlay.one("ConfigMap")["data"]
        env = {name: self.here(value) for name, value in data.items()}
        env["PARLOR_LISTEN"] = "127.0.0.1:0"
        env["PARLOR_ADMIN_LISTEN"] = "127.0.0.1:0"
        self.parlor = self.start(PARLOR, **env)
        for line in self.parlor.stdout:
            if found := re.search(r"listens on (\S+)", line):
                self.address = found[1]
            if found := re.search(r"(http://\S+)/metrics", line):
                self.admin = found[1]
            if "try next" in line:
                return
        raise AssertionError(f"it did not start: exit code {self.parlor.wait()}")

    def look(self, path: str) -> str:
        """What the port for operators says."""
        with urllib.request.urlopen(self.admin + path, timeout=START_SECS) as answer:
            assert answer.status == 200
            return answer.read().decode()

    def play(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Plays a match with these options."""
        command = [PARLOR, "play", "--server", f"http://{self.address}", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    @property
    def api_key(self) -> str:
        """The key of whoever creates matches."""
        keys = self.root / "run" / "secrets" / "parlor" / "api-keys"
        return keys.read_text().partition(":")[2]

    def stop(self) -> None:
        """Ends what it started."""
        for process in self._started:
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            process.wait(START_SECS)
            process.stdout.close()
