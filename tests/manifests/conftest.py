"""The overlays that the tests are about, and what they run as."""

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

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


def new_secrets(overlay: Overlay) -> dict[str, dict[str, str]]:
    """New secrets, by the names of their objects."""
    command = [KUBERNETES / "secrets", overlay.name]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = list(yaml.safe_load_all(said))
    (namespace,) = overlay.all("Namespace")
    assert all(it["kind"] == "Secret" for it in made)
    assert {it["metadata"]["namespace"] for it in made} == {namespace["metadata"]["name"]}
    return {it["metadata"]["name"]: it["stringData"] for it in made}


@pytest.fixture(scope="session")
def secrets_of() -> Callable[[str], dict[str, dict[str, str]]]:
    """Makes new secrets for the overlay of this name."""
    return cache(lambda name: new_secrets(Overlay(name)))


def run(overlay: Overlay, root: Path) -> Iterator[Deployed]:
    """Runs all of an overlay that this machine can run."""
    deployed = Deployed(overlay, new_secrets(overlay), root)
    try:
        deployed.start_redis()
        deployed.start_parlor()
        yield deployed
    finally:
        deployed.stop()


# The one for staging differs from production only in how much there is.
@pytest.fixture(scope="session", params=["dev", "prod"])
def deployed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployed]:
    """All of an overlay that this machine can run, which tests leave as it was."""
    yield from run(Overlay(request.param), tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="session")
def production(prod: Overlay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """All of production that this machine can run; tests that break it make it whole again."""
    yield from run(prod, tmp_path_factory.mktemp("production"))
