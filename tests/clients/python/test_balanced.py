"""Several instances behind a balancer that speaks HTTP/2: what clients see of it, which is nothing."""

import asyncio
import subprocess
import time
from collections.abc import Iterator

import grpc
import pytest

from parlor_client.balanced import Balanced, until
from parlor_client.duel import act, two_seats, view
from parlor_client.server import BINARY
from parlor_client.stubs import catalog
from parlor_client.stubs import matches as m
from test_whole_matches import default_options, whole_match

# A hundredth of what they are in earnest, so that nobody waits for minutes: heartbeats are as much
# shorter than the balancer's patience.
HEARTBEAT, IDLE, QUIET_SECS = "150ms", "0.6s", 3


@pytest.fixture(scope="module")
def balanced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    """Three instances that most tests here share."""
    folder = tmp_path_factory.mktemp("balanced")
    with Balanced(folder, "--idle-timeout", IDLE, PARLOR_HEARTBEAT=HEARTBEAT) as balanced:
        yield balanced


def spread(balanced: Balanced, calls: int) -> dict[str, int]:
    """Calls over one connection; gives which instance answered how many."""
    method = "parlor.v1.CatalogService/ListGames"
    before = balanced.calls(method)
    for _ in range(calls):
        balanced.catalog.ListGames(catalog.ListGamesRequest())
    until(lambda: balanced.calls(method).total() >= before.total() + calls)
    return balanced.calls(method) - before


def test_calls_of_one_connection_are_spread_over_all_instances(balanced: Balanced) -> None:
    answered = spread(balanced, 60)
    # 20 each, if the machine is not so busy that one seems to be away.
    assert len(answered) == 3, answered
    assert min(answered.values()) >= 10, answered


@pytest.mark.parametrize("game", ["neon", "neapolitan"])
def test_a_whole_match_is_played_over_all_instances(
    balanced: Balanced, loop: asyncio.Runner, game: str, seed: int
) -> None:
    before = balanced.calls("parlor.v1.MatchService/SubmitAction")
    assert loop.run(whole_match(balanced, 4, default_options(game), seed))
    after = balanced.calls("parlor.v1.MatchService/SubmitAction")
    assert len(after - before) == 3, "every instance carried out actions of the match"


def test_a_stream_of_a_quiet_match_lives(balanced: Balanced) -> None:
    table = two_seats(balanced)
    stream = balanced.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
    assert next(stream).HasField("snapshot")
    quiet_until = time.monotonic() + QUIET_SECS
    while time.monotonic() < quiet_until:
        assert next(stream).HasField("heartbeat")
    answer = act(balanced, table, 0)
    message = next(it for it in stream if not it.HasField("heartbeat"))
    assert message.HasField("update")
    assert message.version == answer.version
    stream.cancel()


def test_a_stream_without_heartbeats_would_be_cut(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("silent")
    options = ("--instances", "1", "--idle-timeout", IDLE)
    with Balanced(folder, *options, PARLOR_HEARTBEAT="60s") as balanced:
        table = two_seats(balanced)
        stream = balanced.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
        assert next(stream).HasField("snapshot")
        with pytest.raises(grpc.RpcError):
            next(stream)


class Players:
    """Rust clients that play match after match through the balancer."""

    def __init__(self, address: str, tables: int) -> None:
        self._command = [BINARY, "play", "--server", f"http://{address}"]
        self._playing = [self._start() for _ in range(tables)]
        self.played = 0
        self.failed: list[str] = []

    def _start(self) -> subprocess.Popen:
        return subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def collect(self, more: bool = True) -> None:
        """Notes which matches are over, and starts others in their place."""
        for place, player in enumerate(self._playing):
            if player.poll() is None and more:
                continue
            _, said = player.communicate(timeout=60)
            self.played += 1
            if player.returncode != 0:
                self.failed.append(said)
            if more:
                self._playing[place] = self._start()


def test_a_rolling_restart_is_nothing_that_players_notice(balanced: Balanced) -> None:
    players = Players(balanced.address, tables=4)
    table = two_seats(balanced)
    stream = balanced.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
    snapshot = next(stream)

    for instance in (1, 2, 3):
        before = players.played
        until(lambda before=before: players.collect() or players.played >= before + 4)
        balanced.replace(instance)
        players.collect()
    players.collect(more=False)
    assert not players.failed, players.failed
    assert players.played >= 12
    assert balanced.ends() == [f"instance-{instance} ended well" for instance in (1, 2, 3)]

    # That stream was at one of them, and is told to come back.
    last = next(it for it in stream if not it.HasField("heartbeat"))
    assert last.end.reason == m.END_REASON_DRAINING
    act(balanced, table, view(balanced, table, table.tokens[0]).decisions[0].seat)
    request = m.StreamViewRequest(match_id=table.match_id, resume_token=last.resume_token)
    stream = balanced.matches.StreamView(request)
    update = next(it for it in stream if not it.HasField("heartbeat"))
    assert update.HasField("update")
    assert update.version == snapshot.version + 1
    stream.cancel()


def test_a_new_instance_gets_its_share(balanced: Balanced) -> None:
    spread(balanced, 6)
    until(lambda: balanced.healthy() == {1, 2, 3})
    balanced.add(4)
    answered = spread(balanced, 80)
    assert answered["instance-4"] >= 0.8 * 80 / 4, answered
