"""The overlays that the tests are about."""

import pytest

from rendered import OVERLAYS, Overlay


@pytest.fixture(scope="session", params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> Overlay:
    """Each overlay in turn."""
    return Overlay(request.param)


@pytest.fixture(scope="session")
def prod() -> Overlay:
    """The overlay for production."""
    return Overlay("prod")
