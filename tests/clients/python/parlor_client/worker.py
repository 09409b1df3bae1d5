"""A process of viewers: reads from its input who is to play or watch, a JSON object on a line.

    python -m parlor_client.worker ADDRESS…

The first address is where its viewers begin. It writes a line for each that has seen its match to
the end, and ends when its input has.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from parlor_client.player import open_channel
from parlor_client.recording import Recorder
from parlor_client.roamer import SeatedRoamer, Spectator
from parlor_client.stubs import MatchStub


async def view(job: dict, servers: list[tuple[str, MatchStub]]) -> None:
    """Plays or watches as it is told."""
    recorder = Recorder(Path(job["record"]))
    viewer = (servers, job["match_id"], recorder, random.Random(job["seed"]))
    try:
        if job["kind"] == "play":
            await SeatedRoamer(*viewer).play(job["join_code"])
        else:
            await Spectator(*viewer).watch(job["spectator_token"])
    finally:
        recorder.close()
    print(json.dumps(job["record"]), flush=True)


async def main(addresses: list[str]) -> None:
    """Does what the input asks for, all at once."""
    jobs = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(jobs), sys.stdin
    )
    servers = [(address, MatchStub(await open_channel(address))) for address in addresses]
    async with asyncio.TaskGroup() as tasks:
        async for job in jobs:
            tasks.create_task(view(json.loads(job), servers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
