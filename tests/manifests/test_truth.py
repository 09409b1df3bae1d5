"""The manifests against the real programs: what they set, what they ask, what they give."""

import re
import subprocess

from deployed import PARLOR, Deployed
from rendered import ROOT, Overlay


def test_every_variable_that_is_set_is_known_to_the_program(overlay: Overlay) -> None:
    said = subprocess.run([PARLOR, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"\[env: (PARLOR_\w+)", said))
    for text in (str(overlay.objects), (ROOT / "deploy/docker/Dockerfile").read_text()):
        found = set(re.findall(r"\bPARLOR_\w+", text))
        assert found, "there are settings"
        assert found <= known, found - known


def test_every_probe_finds_what_it_asks_for(deployed: Deployed) -> None:
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert deployed.look(deployed.overlay.container[probe]["httpGet"]["path"])


def test_a_match_is_played_with_the_secrets_as_they_are_made(deployed: Deployed) -> None:
    played = deployed.play("--api-key", deployed.api_key)
    assert played.returncode == 0, played.stderr
    assert deployed.play().returncode != 0, "only those with a key create matches"


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
