"""Lets viewers play and watch matches, in processes of their own, and records what they see."""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
from concurrent import futures
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path

import grpc

from parlor_client import recording
from parlor_client.requests import Table, create_request, left_open
from parlor_client.roamer import is_passing
from parlor_client.server import BINARY
from parlor_client.stubs import MatchStub
from parlor_client.stubs import matches as m

# Nothing here takes nearly so long; a test that hangs is to fail.
PATIENCE_SECS = 60


class Worker:
    """A process of Python viewers that begin at the first of these addresses."""

    def __init__(self, addresses: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "parlor_client.worker", *addresses],
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lock = threading.Lock()
        self._open: dict[str, Future] = {}
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def view(self, **job: object) -> Future:
        """Lets a viewer view; the future is done when its match is over."""
        with self._lock:
            done = self._open[job["record"]] = Future()
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        return done

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._lock:
                self._open.pop(json.loads(line)).set_result(None)
        with self._lock:
            for record, done in self._open.items():
                done.set_exception(RuntimeError(f"the process ended before {record} did"))

    def stop(self) -> None:
        """Waits until the process ends, which it does after its last viewer."""
        self._process.stdin.close()
        code = self._process.wait(PATIENCE_SECS)
        assert code == 0, f"the Python viewers ended with {code}"

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()
            self._reader.join()


class RustPlayer:
    """A process of the Rust client that plays one seat; its calls go to these addresses."""

    def __init__(self, addresses: list[str], join_code: str, record: Path) -> None:
        urls = [f"--server=http://{address}" for address in addresses]
        clean = {name: value for name, value in os.environ.items() if "PARLOR" not in name}
        self._log = record.with_suffix(".log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [BINARY, "play", *urls, "--join", join_code, "--record", record],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=clean,
            )
        # Done when it has played to the end.
        self.done: Future = Future()
        self._waiter = threading.Thread(target=self._wait)
        self._waiter.start()

    def _wait(self) -> None:
        if (code := self._process.wait()) == 0:
            self.done.set_result(None)
        else:
            said = self._log.read_text()[-2000:]
            self.done.set_exception(RuntimeError(f"a Rust player ended with {code}:\n{said}"))

    def __enter__(self) -> "RustPlayer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._waiter.join()


class Tables:
    """Plays matches of NeoN at several servers."""

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = addresses
        options = [
            ("grpc.initial_reconnect_backoff_ms", 20),
            ("grpc.max_reconnect_backoff_ms", 200),
        ]
        self._channels = [grpc.insecure_channel(address, options) for address in addresses]
        self._stubs = [MatchStub(channel) for channel in self._channels]
        self._turns = [addresses[n:] + addresses[:n] for n in range(len(addresses))]
        self._workers: list[Worker] = []
        self._open = ExitStack()

    def __enter__(self) -> "Tables":
        with ExitStack() as starting:
            for channel in self._channels:
                starting.callback(channel.close)
            self._workers = [starting.enter_context(Worker(turn)) for turn in self._turns]
            self._open = starting.pop_all()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        with self._open:
            # Who waits for a match that failed would wait in vain.
            for worker in self._workers if failed is None else []:
                worker.stop()

    def play(self, folder: Path, seats: int, rng: random.Random, *, with_rust: bool) -> None:
        """Plays a match to its end, seats in turn at different servers and in two languages."""
        folder.mkdir()
        home = rng.randrange(len(self._addresses))
        visibility = rng.choice([m.VISIBILITY_PUBLIC, m.VISIBILITY_PRIVATE])
        request = create_request([left_open()] * seats, visibility=visibility)
        table = Table.of(self._ask(home, "CreateMatch", request))
        job = {"match_id": table.match_id, "join_code": table.join_code}
        job["spectator_token"] = table.spectator_token

        with ExitStack() as players:
            views = []
            for place in range(seats + 1):
                at = (home + place) % len(self._addresses)
                kind = "play" if place < seats else "watch"
                record = folder / f"{kind}-{place}-at-{at}.jsonl"
                if with_rust and kind == "play" and (place + home) % 2 == 0:
                    servers = rng.choice([self._turns[at], self._turns[at][:1]])
                    player = RustPlayer(servers, table.join_code, record)
                    views.append(players.enter_context(player).done)
                else:
                    named = {"kind": kind, "record": str(record), "seed": rng.random()}
                    views.append(self._workers[at].view(**job, **named))
            done, waiting = futures.wait(views, PATIENCE_SECS, futures.FIRST_EXCEPTION)

        call = m.GetMatchRequest(match_id=table.match_id)
        found = self._ask(home, "GetMatch", call, table.spectator_token).match
        recording.write_summary(folder, found)
        for view in done:
            view.result()
        assert not waiting, f"{len(waiting)} viewers did not see the end of match {folder}"

    def _ask(self, home: int, method: str, request: object, token: str = "") -> object:
        """Asks one server after the other, until one answers."""
        metadata = [("authorization", f"Bearer {token}")] if token else []
        for place in itertools.count(home):
            call = getattr(self._stubs[place % len(self._stubs)], method)
            try:
                return call(request, metadata=metadata, timeout=5)
            except grpc.RpcError as error:
                if not is_passing(error) or place > home + 1000:
                    raise
