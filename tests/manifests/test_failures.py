"""What is lost when Redis is, as the manifests would have it run: nothing, or what the runbook says."""

import signal
import time

from deployed import Deployed, until


def test_what_was_acknowledged_survives_the_primary_and_then_all_of_them(
    production: Deployed,
) -> None:
    production.await_sentinels()
    first = production.primary()
    with production.playing("--game", "neapolitan", "--seats", "5") as players:
        players.see_actions(20)
        first.end(signal.SIGKILL)
        took = until("another is the primary", lambda: production.primary() not in (None, first))
        print(f"another Redis was the primary after {took:.1f} s")
        players.see_actions(20)
        second = production.primary()

        # The first one, and the sentinel beside it, know nothing of that, and are the first that start.
        others = [pod for pod in production.redis if pod is not first]
        for pod in others:
            pod.end()
        production.run_redis([first, *others])
        players.finish()
    assert production.primary() is second
    assert production.role(first) == "slave"
    assert production.count("parlor_forks_total") == 0


def test_what_was_copied_is_restored_and_what_came_after_is_found_to_be_lost(
    production: Deployed,
) -> None:
    with production.playing("--game", "neapolitan", "--seats", "5") as players:
        players.see_actions(20)
        players.pause()
        copied = production.job("redis-backup").run("redis")
        assert copied.returncode == 0, copied.stderr
        players.go_on()
        players.see_actions(20)
        players.pause()

        # All is lost but the copies. What the runbook says, step by step.
        began = time.monotonic()
        for pod in production.redis:
            pod.end(signal.SIGKILL)
            pod.empty("/data")
        restored = production.job("redis-restore").run("redis")
        assert restored.returncode == 0, restored.stderr
        production.run_redis()
        print(f"restored after {time.monotonic() - began:.1f} s")

        players.go_on()
        players.finish()
    # The players were shown that they are further back, and ended the match from there.
    assert production.count("parlor_forks_total") > 0
    assert '"history forked"' in production.parlor.log("parlor")


def test_copies_are_kept_until_there_are_enough(production: Deployed) -> None:
    job = production.job("redis-backup")
    there = {path.name for path in job.folder("/backup").glob("*")}
    for _ in range(3):
        done = job.run("redis", ["sh", "/etc/redis/backup", "2"])
        assert done.returncode == 0, done.stderr
        assert "is a copy of" in done.stdout
        there.add(done.stdout.split()[0].rpartition("/")[2])
    assert sorted(path.name for path in job.folder("/backup").glob("*")) == sorted(there)[-2:]
