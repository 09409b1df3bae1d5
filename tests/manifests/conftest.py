"""The overlays that the tests are about, and what they run as."""

import subprocess
from collections.abc import Iterator

import pytest
import yaml

from deployed import Deployed
from rendered import KUBERNETES, OVERLAYS, Overlay


@pytest.fixture(scope="session", params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> Overlay:
    """Each overlay in turn."""
    return Overlay(request.param)


@pytest.fixture(scope="session")
def prod() -> Overlay:
    """The overlay for production."""
    return Overlay("prod")


@pytest.fixture(scope="session")
def secrets() -> dict[str, dict[str, str]]:
    """New secrets, by the names of their objects."""
    command = [KUBERNETES / "secrets", "a-namespace"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = list(yaml.safe_load_all(said))
    assert all(it["kind"] == "Secret" for it in made)
    assert {it["metadata"]["namespace"] for it in made} == {"a-namespace"}
    return {it["metadata"]["name"]: it["stringData"] for it in made}


@pytest.fixture(scope="session")
def deployed(
    overlay: Overlay, secrets: dict[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployed]:
    """All of an overlay that this machine can run."""
    deployed = Deployed(overlay, secrets, tmp_path_factory.mktemp(overlay.name))
    try:
        deployed.start_redis()
        deployed.start_parlor()
        yield deployed
    finally:
        deployed.stop()
