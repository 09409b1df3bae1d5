"""Redis, sentinels and an instance of Parlor, run here as the manifests would have them run.

Each pod is some processes of this machine, with a loopback address and folders of its own. What the
manifests say is taken as it is, but for the names of pods, which become their addresses, and for
paths, which lead into the pod's folder.
"""

import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from certified import certified
from rendered import ROOT, Overlay

PARLOR = Path(os.environ.get("PARLOR_BIN", ROOT / "target" / "debug" / "parlor"))
PATIENCE_SECS = 60
CLEAN = {name: value for name, value in os.environ.items() if "PARLOR" not in name}
# One for each deployment, so that all can use the ports of the manifests.
NETWORKS = itertools.count(os.getpid() % 1_000 * 16)


def until(what: str, done: Callable[[], bool]) -> float:
    """Looks again and again until something has happened; gives how many seconds that took."""
    began = time.monotonic()
    while not done():
        assert time.monotonic() < began + PATIENCE_SECS, f"{what}: it does not happen"
        time.sleep(0.05)
    return time.monotonic() - began


def fetched(url: str) -> str:
    """What is there."""
    with urllib.request.urlopen(url, timeout=PATIENCE_SECS) as answer:
        assert answer.status == 200
        return answer.read().decode()


def answers(at: str) -> bool:
    """Whether something listens there."""
    host, _, port = at.partition(":")
    with socket.socket() as caller:
        return caller.connect_ex((host, int(port))) == 0


class Players:
    """All players of a match, as a process that can be made to pause."""

    def __init__(self, command: list[str | Path]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=CLEAN
        )

    def see_actions(self, count: int) -> None:
        """Waits for so many actions more."""
        for line in self._process.stdout:
            count -= ": seat " in line
            if count == 0:
                return
        raise AssertionError(f"they ended: {self._process.stderr.read()}")

    def pause(self) -> None:
        """Holds them where they are."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets them go on."""
        self._process.send_signal(signal.SIGCONT)

    def finish(self) -> None:
        """Waits until the match is over."""
        told, failed = self._process.communicate(timeout=PATIENCE_SECS)
        assert self._process.returncode == 0, failed
        assert "over: " in told

    def __enter__(self) -> "Players":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def expanded(text: str, env: dict[str, str]) -> str:
    """The same with the values of variables, as Kubernetes puts them in."""
    return re.sub(r"\$\((\w+)\)", lambda found: env[found[1]], text)


class Pod:
    """A place to run the containers of a pod: folders, an address, and who is who."""

    def __init__(self, deployed: "Deployed", name: str, address: str, spec: dict) -> None:
        self.deployed = deployed
        self.name = name
        self.address = address
        self.root = deployed.root / name
        self.root.mkdir()
        self.spec = spec
        containers = [*spec.get("initContainers", []), *spec["containers"]]
        self._containers = {it["name"]: it for it in containers}
        self._processes: dict[str, subprocess.Popen] = {}
        self._mounted: dict[str, Path] = {}
        for volume in self.spec["volumes"] + deployed.claims_of(spec):
            folder = self._folder(volume)
            for container in containers:
                for mount in container["volumeMounts"]:
                    if mount["name"] == volume["name"]:
                        self._mounted[mount["mountPath"]] = folder
        for folder in set(self._mounted.values()):
            folder.mkdir(exist_ok=True)
        self._write_files()

    def _folder(self, volume: dict) -> Path:
        claim = volume.get("persistentVolumeClaim")
        if claim:
            return self.deployed.root / claim["claimName"].format(pod=self.name)
        return self.root / volume["name"]

    def _write_files(self) -> None:
        for volume in self.spec["volumes"]:
            files = {}
            if "configMap" in volume:
                files = self.deployed.overlay.named("ConfigMap", volume["configMap"]["name"])
            if "secret" in volume:
                files = self.deployed.secrets[volume["secret"]["secretName"]]
            for name, text in files.items():
                (self.root / volume["name"] / name).write_text(self.here(text))

    def here(self, text: str) -> str:
        """The same with the names and paths that there are on this machine."""
        for path, folder in self._mounted.items():
            text = re.sub(rf"(?<![\w/]){path}(?![\w-])", str(folder), text)
        return self.deployed.addressed(text)

    def folder(self, path: str) -> Path:
        """Where a folder of its containers is."""
        return self._mounted[path]

    def empty(self, path: str) -> None:
        """Takes away all that is in a folder of its containers."""
        shutil.rmtree(self.folder(path))
        self.folder(path).mkdir()

    def _env(self, container: dict) -> dict[str, str]:
        known = {"metadata.name": self.name, "status.podIP": self.address}
        env: dict[str, str] = {}
        for source in container.get("envFrom", []):
            env |= self.deployed.overlay.named("ConfigMap", source["configMapRef"]["name"])
        for it in container.get("env", []):
            source = it.get("valueFrom", {})
            if "fieldRef" in source:
                env[it["name"]] = known[source["fieldRef"]["fieldPath"]]
            elif "value" in it:
                # A variable can name those before it.
                env[it["name"]] = expanded(it["value"], env)
        return {name: self.here(value) for name, value in env.items()}

    def _called(self, name: str, command: list[str] | None) -> tuple[list[str], dict[str, str]]:
        """What a container runs, or this in its place, and its environment."""
        container = self._containers[name]
        env = self._env(container)
        words = command or container["command"] + container.get("args", [])
        return [self.here(expanded(word, env)) for word in words], CLEAN | env

    def start(self, name: str, command: list[str] | None = None, **more: str) -> None:
        """Starts a container, in its own words or in these, with more settings."""
        words, env = self._called(name, command)
        with (self.root / f"{name}.log").open("a") as log:
            started = subprocess.Popen(words, stdout=log, stderr=log, env=env | more)
        self._processes[name] = started

    def run(
        self, name: str, command: list[str] | None = None, told: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs something in a container, which is told this, and waits for its end."""
        words, env = self._called(name, command)
        return subprocess.run(
            words,
            env=env,
            input=told,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECS,
        )

    def probe(self, name: str, probe: str) -> bool:
        """Asks what Kubernetes would ask of a container."""
        container = self._containers[name]
        if "exec" in container[probe]:
            return self.run(name, container[probe]["exec"]["command"]).returncode == 0
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        return answers(f"{self.address}:{ports[container[probe]['tcpSocket']['port']]}")

    def runs(self, name: str) -> bool:
        """Whether a container was started and has not ended."""
        return name in self._processes and self._processes[name].poll() is None

    def log(self, name: str) -> str:
        """What a container has said."""
        path = self.root / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def tell(self, which: signal.Signals) -> None:
        """Sends a signal to all its containers."""
        for process in self._processes.values():
            process.send_signal(which)

    def end(self, which: signal.Signals = signal.SIGTERM) -> None:
        """Ends all its containers."""
        self.tell(which)
        for process in self._processes.values():
            process.wait(PATIENCE_SECS)
        self._processes.clear()


class Deployed:
    """All of an overlay that this machine can run."""

    def __init__(self, overlay: Overlay, secrets: dict[str, dict[str, str]], root: Path) -> None:
        self.overlay = overlay
        self.root = root
        number = next(NETWORKS)
        self._network = f"127.{1 + number // 256 % 250}.{number % 256}"
        self.secrets = secrets | certified(overlay, self._address_of, root)
        self._redis = overlay.one("StatefulSet", "redis")["spec"]
        self.redis: list[Pod] = []
        self._others: list[Pod] = []

    def addressed(self, text: str) -> str:
        """The same with addresses in place of the names of pods."""
        text = re.sub(r"\bredis-(\d)\.redis\b", rf"{self._network}.1\1", text)
        text = text.replace("//parlor:50051", f"//{self._network}.1:50051")
        return text.replace("@redis:", f"@{self._network}.10:")

    def _address_of(self, name: str) -> str:
        """The address of whoever has a certificate for this name."""
        return f"{self._network}.1" if name == "parlor" else self.addressed(name)

    def claims_of(self, spec: dict) -> list[dict]:
        """The volumes of pods that are kept for them under their names."""
        if spec is not self._redis["template"]["spec"]:
            return []
        return [
            {
                "name": claim["metadata"]["name"],
                "persistentVolumeClaim": {"claimName": claim["metadata"]["name"] + "-{pod}"},
            }
            for claim in self._redis["volumeClaimTemplates"]
        ]

    @property
    def has_sentinels(self) -> bool:
        """Whether there is more than one Redis."""
        return self._redis["replicas"] > 1

    def start_redis(self) -> None:
        """Starts every Redis with what is beside it, and waits until all are ready."""
        for number in range(self._redis["replicas"]):
            address = f"{self._network}.1{number}"
            spec = self._redis["template"]["spec"]
            self.redis.append(Pod(self, f"redis-{number}", address, spec))
        self.run_redis()

    def run_redis(self, pods: list[Pod] | None = None) -> None:
        """Starts the containers of these Redis, or of all, and waits until all are ready."""
        pods = pods or self.redis
        for pod in pods:
            for it in pod.spec.get("initContainers", []):
                pod.start(it["name"])
                until(f"{it['name']} is there", lambda it=it: pod.probe(it["name"], "startupProbe"))
            # None waits for another one.
            pod.start("redis")
        for pod in pods:
            until(f"{pod.name} is alive", lambda pod=pod: pod.probe("redis", "startupProbe"))
        for pod in self.redis:
            until(f"{pod.name} is ready", lambda pod=pod: pod.probe("redis", "readinessProbe"))

    def await_sentinels(self) -> None:
        """Waits until all sentinels know of all; until then they cannot replace the primary."""
        known = {"num-slaves": "2", "num-other-sentinels": "2", "flags": "master"}
        for pod in self.redis:
            until(
                f"{pod.name} knows of all",
                lambda pod=pod: known.items() <= self.ask_sentinel(pod).items(),
            )

    def ask_sentinel(self, pod: Pod) -> dict[str, str]:
        """What a sentinel says of the primary, if it answers."""
        ask = ["redis-cli", "-h", pod.address, "-p", "26379", "--no-auth-warning"]
        ask += ["--user", "probe", "--pass", "probe", *self.tls_of("redis-mtls")]
        said = pod.run("redis", [*ask, "sentinel", "master", "parlor"]).stdout.split("\n")
        return dict(zip(said[::2], said[1::2], strict=False))

    def job(self, name: str) -> Pod:
        """A pod that a CronJob would start now."""
        spec = self.overlay.one("CronJob", name)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        return Pod(self, f"{name}-{len(list(self.root.glob(f'{name}*')))}", self._network, spec)

    def start_parlor(self) -> None:
        """Starts an instance, and waits until it listens."""
        self.parlor = Pod(self, "parlor", f"{self._network}.1", self.overlay.pod)
        self._others.append(self.parlor)
        self.run_parlor()

    def run_parlor(self) -> None:
        """Starts the container of the instance, which ends where Redis is late, and is started again."""
        address = self.parlor.address
        more = {"PARLOR_LISTEN": f"{address}:50051", "PARLOR_ADMIN_LISTEN": f"{address}:9464"}

        def listens() -> bool:
            if not self.parlor.runs("parlor"):
                said = self.parlor.log("parlor")
                assert "settings cannot be" not in said, said
                # The collector of traces is not here.
                self.parlor.start("parlor", [str(PARLOR)], **more)
            return "try next" in self.parlor.log("parlor")

        until("the instance listens", listens)

    def start_probe(self) -> str:
        """Starts who plays where nobody does, and gives where it shows how that goes."""
        spec = self.overlay.one("Deployment", "parlor-probe")["spec"]["template"]["spec"]
        pod = Pod(self, "parlor-probe", f"{self._network}.2", spec)
        self._others.append(pod)
        (container,) = spec["containers"]
        at = f"{pod.address}:9464"
        pod.start("probe", [str(PARLOR), *container["args"]], PARLOR_ADMIN_LISTEN=at)
        until("the probe listens", lambda: "metrics are at" in pod.log("probe"))
        return at

    def start_exporters(self) -> list[str]:
        """Starts what shows the metrics of every Redis, and gives where."""
        for pod in self.redis:
            at = f"{pod.address}:9121"
            if not pod.runs("exporter"):
                pod.start("exporter", ["prometheus-redis-exporter", "-web.listen-address", at])
            until("the exporter listens", lambda at=at: answers(at))
        return [f"{pod.address}:9121" for pod in self.redis]

    def look(self, path: str) -> str:
        """What the port for operators says."""
        return fetched(f"http://{self.parlor.address}:9464{path}")

    def count(self, metric: str) -> float:
        """The sum of a metric over all its labels."""
        found = re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", self.look("/metrics"), re.MULTILINE)
        return sum(map(float, found))

    @property
    def is_encrypted(self) -> bool:
        """Whether instances speak TLS."""
        return "parlor-mtls" in self.secrets

    def tls_of(self, secret: str) -> list[str]:
        """What redis-cli needs to show these certificates, or nothing where there are none."""
        if secret not in self.secrets:
            return []
        folder = self.files_of(secret)
        found = {"--cacert": "ca.crt", "--cert": "tls.crt", "--key": "tls.key"}
        return ["--tls", *(word for it in found.items() for word in (it[0], f"{folder}/{it[1]}"))]

    def files_of(self, secret: str) -> Path:
        """A folder with what is in a secret."""
        folder = self.root / secret
        folder.mkdir(exist_ok=True)
        for name, text in self.secrets[secret].items():
            (folder / name).write_text(text)
        return folder

    def role(self, pod: Pod) -> str:
        """What a Redis takes itself for: `master` or `slave`."""
        ask = ["redis-cli", "-h", pod.address, "--no-auth-warning", "--user", "probe"]
        ask += ["--pass", "probe", *self.tls_of("redis-mtls"), "info", "replication"]
        found = re.search(r"^role:(\w+)", pod.run("redis", ask).stdout, re.MULTILINE)
        return found[1] if found else "unknown"

    def primary(self) -> Pod | None:
        """The Redis that most sentinels name, if there is one."""
        named = Counter(self.ask_sentinel(pod).get("ip") for pod in self.redis)
        found = [pod for pod in self.redis if named[pod.address] >= 2]
        return found[0] if found else None

    def command(self, *options: str) -> list[str | Path]:
        """What plays a match with these options."""
        scheme = "https" if self.is_encrypted else "http"
        command = [PARLOR, "play", "--server", f"{scheme}://{self.parlor.address}:50051", *options]
        if self.is_encrypted:
            caller = self.files_of("caller-mtls")
            command += ["--ca", caller / "ca.crt"]
            command += ["--cert", caller / "tls.crt", "--key", caller / "tls.key"]
        return command

    def play(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Plays a match with these options."""
        command = self.command(*options)
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECS, env=CLEAN
        )

    def playing(self, *options: str) -> Players:
        """Players of a match with these options, who play until they are told to pause."""
        return Players(self.command("--api-key", self.api_key, *options))

    @property
    def api_key(self) -> str:
        """The key of whoever creates matches."""
        return self.secrets["parlor"]["api-keys"].partition(":")[2].partition(",")[0]

    def stop(self) -> None:
        """Ends what it started."""
        for pod in [*self._others, *self.redis]:
            pod.tell(signal.SIGCONT)
            pod.end()
