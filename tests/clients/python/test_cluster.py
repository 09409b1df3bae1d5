"""Fifty matches at three servers that share one Redis, while servers are killed.

Each seat plays at another server than the one before it, every other one in another language. When
all is over, the checker judges what everyone saw.
"""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parlor_client import recording
from parlor_client.checker import check
from parlor_client.cluster import INSTANCES, Cluster
from parlor_client.findings import Report
from parlor_client.recording import Recording
from parlor_client.redis import Redis
from parlor_client.viewers import Tables

MATCHES = 50
SEATS = range(2, 7)
AT_ONCE = 8
# A server is killed each time that so many more matches are over.
KILL_EVERY = 4
KILLS_UNDER_WAY = 5


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three servers and a Redis."""
    redis = Redis()
    try:
        cluster = Cluster(tmp_path / "servers.log", [redis.url] * INSTANCES)
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        redis.stop()


def test_no_action_is_lost_and_every_viewer_sees_all_of_it_while_servers_are_killed(
    cluster: Cluster, tmp_path: Path, seed: int
) -> None:
    try:
        play(cluster, tmp_path, random.Random(seed))
    except BaseException:
        # What was seen until then may say why.
        print(judge(cluster, tmp_path))
        raise
    report = judge(cluster, tmp_path)
    print(report)
    assert not report.findings, report
    assert not cluster.errors()
    assert_that_it_was_hard(report)


def judge(cluster: Cluster, folder: Path) -> Report:
    """Lets the checker judge all matches, and counts the kills."""
    summaries = sorted(folder.glob(f"*/{recording.SUMMARY}"))
    recordings = [recording.read(summary.parent) for summary in summaries]
    report = check(recordings)
    report.counts["kills"] = len(cluster.kills)
    report.counts["kills of a server with streams of matches under way"] = sum(
        any(hits(kill, played) for played in recordings) for kill in cluster.kills
    )
    return report


def play(cluster: Cluster, folder: Path, rng: random.Random) -> None:
    """Plays all matches, several at once, and kills servers meanwhile."""
    seats = [SEATS[match % len(SEATS)] for match in range(MATCHES)]
    rng.shuffle(seats)
    rngs = [random.Random(rng.random()) for _ in seats]
    over = threading.Semaphore(0)
    failed = threading.Event()

    def one(tables: Tables, match: int) -> None:
        try:
            if not failed.is_set():
                tables.play(folder / f"{match:02}", seats[match], rngs[match], with_rust=True)
        except BaseException:
            failed.set()
            raise
        finally:
            over.release()

    with Tables(cluster.addresses) as tables, ThreadPoolExecutor(AT_ONCE) as pool:
        matches = [pool.submit(one, tables, match) for match in range(MATCHES)]
        for _ in range((MATCHES - AT_ONCE) // KILL_EVERY):
            for _ in range(KILL_EVERY):
                over.acquire()
            cluster.kill(rng.randrange(INSTANCES), down_secs=rng.uniform(0.02, 0.5))
        for match in matches:
            match.result()


def hits(kill: tuple[int, str], played: Recording) -> bool:
    """Whether a kill broke a stream of a match in the middle of it."""
    at, address = kill
    acted = [line.at for viewer in played.viewers for line in viewer.of("acted")]
    broken = [
        line.at
        for viewer in played.viewers
        for line in viewer.of("broken")
        if line.server == address and line.code is not None
    ]
    # Streams break at once; what breaks later was broken by something else.
    under_way = bool(acted) and min(acted) < at < max(acted)
    return under_way and any(at <= moment < at + 1_000_000 for moment in broken)


def assert_that_it_was_hard(report: Report) -> None:
    """What is to go well although it happens has happened."""
    counts = report.counts
    assert counts["matches"] == MATCHES
    assert counts["kills of a server with streams of matches under way"] >= KILLS_UNDER_WAY
    for happened in (
        "stream resumes",
        "repeats",
        "tries without an answer",
        "refused: REVISION_CONFLICT",
        "views read",
    ):
        assert counts[happened] > 0, happened
