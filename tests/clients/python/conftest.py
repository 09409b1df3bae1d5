"""The servers that the tests talk to."""

import asyncio
import os
from collections.abc import Iterator
from functools import cache

import pytest

from parlor_client.server import Server

# Signs tokens that the tests make up themselves.
TOKEN_KEY = bytes(range(32))
API_KEY = "an-api-key-for-tests"


@cache
def shared_server() -> Server:
    """The server that most tests share: open to everyone, with a known token key."""
    return Server("--token-keys", f"tests:{TOKEN_KEY.hex()}", "--cors-origins", "localhost")


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    """The one event loop of the process: gRPC's asynchronous half bears no other."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server that most tests share."""
    yield shared_server()


@pytest.fixture(scope="session")
def guarded_server() -> Iterator[Server]:
    """A server where only those with an API key create matches."""
    with Server("--api-keys", f"tests:{API_KEY},others:another-api-key-of-tests") as server:
        yield server


@pytest.fixture(scope="session")
def forgetful_server() -> Iterator[Server]:
    """A server that keeps matches for a moment only, with hurried heartbeats."""
    with Server("--keep-idle", "300ms", "--heartbeat", "50ms") as server:
        yield server


@pytest.fixture(scope="session")
def lively_server() -> Iterator[Server]:
    """A server with hurried heartbeats, by which viewers of a match that goes no further leave."""
    with Server("--heartbeat", "200ms") as server:
        yield server


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for what is random in a test; `PARLOR_TEST_SEED` runs it again."""
    seed = int(os.environ.get("PARLOR_TEST_SEED") or int.from_bytes(os.urandom(4)))
    print(f"{request.node.name}: PARLOR_TEST_SEED={seed}")
    return seed


def pytest_sessionfinish() -> None:
    """Ends the shared server, whether or not a test used it."""
    if shared_server.cache_info().currsize:
        assert shared_server().stop() == 0, "the server ends well when it is told to stop"
