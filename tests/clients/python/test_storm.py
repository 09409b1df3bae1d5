"""Twenty storms over three servers: matches of all games with 16 clients each, struck by faults.

`python -m parlor_client.storm` lets one rage by hand, for longer, or over other servers.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlor_client.account import WRONGS, Account
from parlor_client.crowd import Crowd
from parlor_client.faults import Kind
from parlor_client.proxy import without_announcements
from parlor_client.server import Server
from parlor_client.storm import TOPOLOGIES, Weather, rage

STORMS = 20
# Sentinels take a while to agree, so that not all are for them.
SENTINEL_EVERY = 5
WEATHER = Weather(tables=4, faults=8, calm=100, actions=400)


@pytest.fixture(scope="module")
def crowd() -> Iterator[Crowd]:
    """The processes of the clients."""
    with Crowd() as crowd:
        yield crowd


@pytest.fixture(scope="module")
def accounts() -> Iterator[list[Account]]:
    """What came of each storm; all of them together are to have been hard."""
    accounts: list[Account] = []
    yield accounts
    if len(accounts) == STORMS:
        assert_that_it_was_hard(accounts)


@pytest.mark.parametrize("number", range(STORMS))
def test_no_storm_loses_doubles_reorders_or_forks_anything(
    number: int,
    crowd: Crowd,
    accounts: list[Account],
    seed: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topology = "single" if (number + 1) % SENTINEL_EVERY else "sentinel"
    scene = TOPOLOGIES[topology](tmp_path / "servers.log")
    # Another one each, also where the seed is given.
    account = rage(scene, crowd, WEATHER, seed + number, tmp_path)
    with capsys.disabled():
        print(f"\n{topology}, {account}")
    assert account.is_good
    accounts.append(account)


def assert_that_it_was_hard(accounts: list[Account]) -> None:
    """What is to go well although it happens has happened."""
    occurred = sum((account.occurred for account in accounts), Counter())
    assert not set(Kind) - occurred.keys(), "faults that never had an effect"
    counts = sum((account.report.counts for account in accounts), Counter())
    counts["streams that went on after a kill"] = sum(account.resumed for account in accounts)
    for happened in (
        "actions accepted",
        "refused: REVISION_CONFLICT",
        "repeats",
        "stream resumes",
        "streams that went on after a kill",
        "tries without an answer",
        "views read",
    ):
        assert counts[happened] > 0, happened


def test_a_storm_is_called_over_servers_that_run_already(
    lively_server: Server, seed: int
) -> None:
    mild = ["--matches", "2", "--calm", "20", "--actions", "100", "--faults", "2", "--json"]
    where = ["--servers", lively_server.address]
    command = [sys.executable, "-m", "parlor_client.storm", *where, *mild]
    folder = Path(__file__).parent
    called = subprocess.run(
        [*command, "--seed", str(seed)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert called.returncode == 0, called
    account = json.loads(called.stdout)
    assert account["seed"] == seed
    assert account["counts"]["actions accepted"] >= 100
    assert account["faults_drawn"] == {"cut_clients": 1, "pause_clients": 1}
    assert account["wrongs"] == dict.fromkeys(WRONGS, 0)
    mild += ["--rate", "1000000"]
    called = subprocess.run([*command, *mild], cwd=folder, capture_output=True, check=False)
    assert called.returncode == 1, "nobody is that fast"


def test_announcements_are_taken_out_of_what_redis_says() -> None:
    push = b">3\r\n$7\r\nmessage\r\n$9\r\nparlor1:w\r\n$4\r\n\r\n12\r\n"
    other = b">3\r\n$9\r\nsubscribe\r\n$9\r\nparlor1:w\r\n:1\r\n"
    assert without_announcements(push + other + push + b"+PONG\r\n") == (other + b"+PONG\r\n", 2)
    assert without_announcements(other) == (other, 0)
