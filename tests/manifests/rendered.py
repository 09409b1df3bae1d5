"""The manifests, as a cluster would get them."""

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
OVERLAYS = sorted(path.name for path in (KUBERNETES / "overlays").iterdir())
KUBECTL = os.environ.get("PARLOR_TEST_KUBECTL", "kubectl")
# What a cluster learns from others, and the validators do not know: whose it is, what it has to say,
# and what it may say beside that.
FOREIGN = {
    "BackendTLSPolicy": ("gateway.networking.k8s.io/v1", {"targetRefs", "validation"}, set()),
    "BackendTrafficPolicy": (
        "gateway.envoyproxy.io/v1alpha1",
        {"targetRefs"},
        {"loadBalancer", "timeout"},
    ),
    "Certificate": (
        "cert-manager.io/v1",
        {"secretName", "issuerRef"},
        {"isCA", "commonName", "dnsNames", "usages", "duration", "renewBefore", "privateKey"},
    ),
    "EnvoyProxy": ("gateway.envoyproxy.io/v1alpha1", set(), {"backendTLS"}),
    "GRPCRoute": ("gateway.networking.k8s.io/v1", {"parentRefs", "rules"}, set()),
    "Gateway": (
        "gateway.networking.k8s.io/v1",
        {"gatewayClassName", "listeners"},
        {"infrastructure"},
    ),
    "Issuer": ("cert-manager.io/v1", set(), {"selfSigned", "ca"}),
    "PodMonitor": ("monitoring.coreos.com/v1", {"selector", "podMetricsEndpoints"}, set()),
    "PrometheusRule": ("monitoring.coreos.com/v1", {"groups"}, set()),
}


@cache
def text(overlay: str) -> str:
    """The overlay, rendered."""
    command = [KUBECTL, "kustomize", str(KUBERNETES / "overlays" / overlay)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    # Deprecated fields are only warned of.
    assert not done.stderr, done.stderr
    return done.stdout


class Overlay:
    """The objects of an overlay."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.objects = list(yaml.safe_load_all(text(name)))

    def all(self, kind: str) -> list[dict]:
        """All objects of a kind."""
        return [thing for thing in self.objects if thing["kind"] == kind]

    def one(self, kind: str, name: str = "parlor") -> dict:
        """The object of this kind with this name, its hash left out."""
        found = [
            thing
            for thing in self.all(kind)
            if thing["metadata"]["name"] == name
            or (kind == "ConfigMap" and thing["metadata"]["name"].rpartition("-")[0] == name)
        ]
        assert len(found) == 1, f"{len(found)} of {kind} {name} in {self.name}"
        return found[0]

    def named(self, kind: str, name: str) -> dict[str, str]:
        """What the object of this kind with exactly this name holds."""
        (found,) = (it for it in self.all(kind) if it["metadata"]["name"] == name)
        return found["data"]

    @property
    def pods(self) -> Iterator[dict]:
        """The templates of all pods."""
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "Job"):
            for thing in self.all(kind):
                yield thing["spec"]["template"]
        for thing in self.all("CronJob"):
            yield thing["spec"]["jobTemplate"]["spec"]["template"]

    @property
    def deployment(self) -> dict:
        """The specification of the instances."""
        return self.one("Deployment")["spec"]

    @property
    def pod(self) -> dict:
        """The specification of an instance's pod."""
        return self.deployment["template"]["spec"]

    @property
    def container(self) -> dict:
        """The container of an instance."""
        (container,) = self.pod["containers"]
        return container


def quantity(text: str) -> float:
    """What is meant by an amount of memory or CPU, in bytes or cores."""
    units = {"m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
    for unit, factor in units.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    return float(text)
