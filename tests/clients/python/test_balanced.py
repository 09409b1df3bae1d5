"""Several instances behind a balancer that speaks HTTP/2: what clients see of it, which is nothing."""

import asyncio
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from parlor_client import recording
from parlor_client.balanced import Balanced, until
from parlor_client.duel import act, two_seats, view
from parlor_client.recording import Recording
from parlor_client.server import BINARY
from parlor_client.stubs import catalog
from parlor_client.stubs import matches as m
from test_whole_matches import default_options, whole_match

# A hundredth of what they are in earnest, so that nobody waits for minutes: heartbeats are as much
# shorter than the balancer's patience.
HEARTBEAT, IDLE, QUIET_SECS = "150ms", "0.6s", 3
# For whoever does wait: how long a stream is to be quiet, with everything as it is in earnest.
IN_EARNEST = os.environ.get("PARLOR_TEST_QUIET_SECS")


@pytest.fixture(scope="module")
def balanced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    """Three instances that most tests here share."""
    folder = tmp_path_factory.mktemp("balanced")
    options, settings = ["--idle-timeout", IDLE], {"PARLOR_HEARTBEAT": HEARTBEAT}
    if IN_EARNEST:
        options, settings = [], {}
    with Balanced(folder, *options, **settings) as balanced:
        yield balanced


def spread(balanced: Balanced, method: str, calls: int, call: Callable[[], None]) -> Counter[str]:
    """Does something over one connection; gives which instance was asked how often."""
    before = balanced.calls(method)
    for _ in range(calls):
        call()
    until(lambda: balanced.calls(method).total() >= before.total() + calls)
    return balanced.calls(method) - before


def spread_of_calls(balanced: Balanced, calls: int) -> Counter[str]:
    """Which instances answer calls."""
    request = catalog.ListGamesRequest()
    method = "parlor.v1.CatalogService/ListGames"
    return spread(balanced, method, calls, lambda: balanced.catalog.ListGames(request))


def spread_of_streams(balanced: Balanced, streams: int) -> Counter[str]:
    """Which instances new streams are at."""
    request = m.StreamViewRequest(match_id=two_seats(balanced).match_id)

    def look() -> None:
        stream = balanced.matches.StreamView(request)
        assert next(stream).HasField("snapshot")
        stream.cancel()

    return spread(balanced, "parlor.v1.MatchService/StreamView", streams, look)


def test_calls_of_one_connection_are_spread_over_all_instances(balanced: Balanced) -> None:
    answered = spread_of_calls(balanced, 60)
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
    quiet_until = time.monotonic() + int(IN_EARNEST or QUIET_SECS)
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
    """Rust clients that play match after match through the balancer, and write down what they see."""

    def __init__(self, balanced: Balanced, folder: Path, tables: int) -> None:
        self._balanced = balanced
        self._folder = folder
        self._begun = 0
        self._playing = [self._start() for _ in range(tables)]
        self.played: list[Recording] = []
        self.failed: list[str] = []

    def _start(self) -> tuple[Path, subprocess.Popen]:
        self._begun += 1
        record = self._folder / f"{self._begun}.jsonl"
        command = [BINARY, "play", "--server", f"http://{self._balanced.address}"]
        player = subprocess.Popen(
            [*command, "--record", record],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return record, player

    def collect(self, more: bool = True) -> None:
        """Notes which matches are over, and starts others in their place."""
        for place, (record, player) in enumerate(self._playing):
            if player.poll() is None and more:
                continue
            told, said = player.communicate(timeout=60)
            if player.returncode != 0:
                self.failed.append(said)
            request = m.GetMatchRequest(match_id=told.split()[1])
            found = getattr(self._balanced.matches.GetMatch(request), "match")
            self.played.append(Recording(found, recording.read_players(record)))
            if more:
                self._playing[place] = self._start()


def assert_nothing_was_lost(played: Recording) -> None:
    """Every change is an action that one player was told of, and every player saw each, in order."""
    assert played.found.state == m.MATCH_STATE_OVER
    acted = [line.version for viewer in played.viewers for line in viewer.of("acted")]
    assert sorted(acted) == list(range(2, played.found.version + 1))
    assert len(played.viewers) == len(played.found.seats)
    for viewer in played.viewers:
        seen = [line.version for line in viewer.of("snapshot", "update")]
        assert seen == list(range(seen[0], played.found.version + 1)), viewer.name


def test_a_rolling_restart_is_nothing_that_players_notice(
    balanced: Balanced, tmp_path: Path
) -> None:
    players = Players(balanced, tmp_path, tables=4)
    table = two_seats(balanced)
    stream = balanced.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
    snapshot = next(stream)

    for instance in (1, 2, 3):
        before = len(players.played)
        until(lambda before=before: players.collect() or len(players.played) >= before + 4)
        balanced.replace(instance)
        players.collect()
    players.collect(more=False)
    assert not players.failed, players.failed
    assert len(players.played) >= 12
    for played in players.played:
        assert_nothing_was_lost(played)
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
    spread_of_calls(balanced, 6)
    until(lambda: balanced.healthy() == {1, 2, 3})
    balanced.add(4)
    for asked in (spread_of_calls(balanced, 80), spread_of_streams(balanced, 80)):
        assert asked["instance-4"] >= 0.8 * 80 / 4, asked
