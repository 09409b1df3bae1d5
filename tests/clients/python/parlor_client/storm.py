"""Plays matches of all games with many clients at several servers, strikes them with faults that
are drawn from a seed, and judges what every client saw.

    python -m parlor_client.storm --seeds 20

starts servers and Redis anew for each seed; with `--servers` it strikes what is between clients
and servers that run already. It ends with 1 if anything was found.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from parlor_client import recording
from parlor_client.account import Account
from parlor_client.crowd import Crowd
from parlor_client.faults import Fault, Kind, Struck, draw
from parlor_client.scene import Scene, SentinelScene, SingleScene

LOOK_EVERY_SECS = 0.005
# Where nothing is accepted for so long, the next fault does not wait for it.
STILL_SECS = 10
# How long it may take until all are quiet and have seen all.
END_SECS = 180


@dataclass(frozen=True)
class Weather:
    """How hard it is to be."""

    # Tables at which matches are played at once, faults, and actions that are accepted before the
    # first of them and in all.
    tables: int = 4
    faults: int = 8
    calm: int = 150
    actions: int = 800


class Storm:
    """A storm over a scene, as its seed has it."""

    def __init__(self, scene: Scene, crowd: Crowd, weather: Weather, seed: int) -> None:
        self._scene = scene
        self._crowd = crowd
        self._weather = weather
        self._seed = seed
        self._rng = random.Random(seed)
        self._playing: list[Future] = []
        self._rate = 0.0

    async def rage(self, folder: Path) -> Account:
        """Lets it rage; recordings are in the folder."""
        began = time.monotonic()
        async with self._scene.opened():
            faults = draw(
                self._rng, self._scene.kinds, self._weather.faults, len(self._scene.addresses)
            )
            self._playing = self._crowd.play(
                folder, self._scene.addresses, self._weather.tables, self._rng
            )
            try:
                struck = await self._strike(faults)
                await self._accepted(self._weather.actions)
            finally:
                self._crowd.stop()
            ends = [asyncio.wrap_future(future) for future in self._playing]
            await asyncio.wait_for(asyncio.gather(*ends), END_SECS)
        return self._judge(folder, faults, struck, began)

    async def _accepted(self, count: int) -> None:
        """Waits until so many actions were accepted, or none for long."""
        accepted, since = self._crowd.accepted, time.monotonic()
        while accepted < count and time.monotonic() < since + STILL_SECS:
            for future in self._playing:
                if future.done():
                    future.result()
            await asyncio.sleep(LOOK_EVERY_SECS)
            if accepted != self._crowd.accepted:
                accepted, since = self._crowd.accepted, time.monotonic()

    async def _strike(self, faults: list[Fault]) -> list[Struck]:
        """Lets one fault begin after the other; some overlap."""
        await self._accepted(1)
        began = time.monotonic()
        await self._accepted(self._weather.calm)
        self._rate = (self._crowd.accepted - 1) / (time.monotonic() - began)
        striking = []
        async with asyncio.TaskGroup() as tasks:
            for fault in faults:
                await self._accepted(self._crowd.accepted + fault.after)
                striking.append(tasks.create_task(self._scene.strike(fault)))
                if not fault.overlaps:
                    await striking[-1]
        return [task.result() for task in striking]

    def _judge(
        self, folder: Path, faults: list[Fault], struck: list[Struck], began: float
    ) -> Account:
        matches = sorted(path.parent for path in folder.glob(f"*/{recording.SUMMARY}"))
        report, traces = self._crowd.judge(matches, may_forget=self._scene.may_forget)
        return Account(
            seed=self._seed,
            secs=time.monotonic() - began,
            rate=self._rate,
            drawn=Counter(fault.kind for fault in faults),
            occurred=Counter(one.kind for one in struck if traces.effect(one)),
            resumed=sum(traces.breaks(one) for one in struck if one.kind == Kind.KILL),
            report=report,
            errors=self._scene.errors(),
        )


TOPOLOGIES: dict[str, Callable[[Path], Scene]] = {"single": SingleScene, "sentinel": SentinelScene}


def rage(scene: Scene, crowd: Crowd, weather: Weather, seed: int, folder: Path) -> Account:
    """Lets a storm rage over a scene; its recordings stay if anything is found."""
    account = asyncio.run(Storm(scene, crowd, weather, seed).rage(folder))
    if account.is_good:
        shutil.rmtree(folder)
    return account


def arguments() -> argparse.Namespace:
    """What the command line says."""
    mild = Weather()
    parser = argparse.ArgumentParser("parlor_client.storm", description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--seed", type=int, help="the first seed; left out, one is drawn")
    add("--seeds", type=int, default=1, help="how many seeds, one after the other")
    add("--seconds", type=float, help="begin with no more seeds after so long")
    add("--matches", type=int, default=mild.tables, help="matches at once, 16 clients each")
    add("--actions", type=int, default=mild.actions, help="actions to accept for a seed, at least")
    add("--calm", type=int, default=mild.calm, help="actions to accept before the first fault")
    add("--faults", type=int, default=mild.faults, help="faults for a seed")
    add("--rate", type=float, default=0, help="fail below so many actions/s before faults")
    add("--json", action="store_true", help="a line of JSON for each seed")
    where = parser.add_mutually_exclusive_group()
    add = where.add_argument
    add("--topology", choices=TOPOLOGIES, default="single", help="how Redis is run")
    add("--servers", help="host:port,… of servers that run, with --rate-limits off")
    return parser.parse_args()


def main() -> int:
    """Runs seed after seed; 1 if anything was found."""
    args = arguments()
    weather = Weather(args.matches, args.faults, args.calm, args.actions)
    first = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    kept = Path(tempfile.mkdtemp(prefix="parlor-storm-"))
    until = time.monotonic() + args.seconds if args.seconds else None
    failed = False
    with Crowd() as crowd:
        for seed in range(first, first + args.seeds):
            if until and time.monotonic() > until:
                break
            folder = kept / str(seed)
            folder.mkdir()
            if args.servers:
                scene = Scene(args.servers.split(","))
            else:
                scene = TOPOLOGIES[args.topology](folder / "servers.log")
            account = rage(scene, crowd, weather, seed, folder)
            print(json.dumps(account.to_json()) if args.json else account, flush=True)
            failed = failed or not account.is_good or account.rate < args.rate
    if any(kept.iterdir()):
        print(f"recordings are in {kept}", file=sys.stderr)
    else:
        kept.rmdir()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
