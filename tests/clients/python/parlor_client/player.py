"""Plays a seat: chooses among the legal actions it is given, whatever the game."""

import random

import grpc

from parlor_client.follower import Follower
from parlor_client.requests import Table, bearer
from parlor_client.stubs import matches as m

# How often it does what a client may do at any time.
REPEAT = LOOK = 0.2
LEAVE = 0.05


class Player:
    """One seat of one match, with its own stream."""

    def __init__(self, stub: object, table: Table, seat: int, rng: random.Random) -> None:
        self._stub = stub
        self._table = table
        self._seat = seat
        self._rng = rng
        self._answered: set[int] = set()
        self.follower = Follower(stub, table.match_id, table.tokens[seat])
        self.answers: dict[int, m.SubmitActionResponse] = {}
        self.looks: list[m.View] = []
        self.repeats = 0

    async def play(self) -> None:
        """Plays until the match is over, and checks its own stream against everything else."""
        async for message in self.follower.follow():
            arm = getattr(message, message.WhichOneof("message"))
            await self._act(arm.view)
            if self._rng.random() < LOOK:
                self.looks.append(await self.follower.look())
            if self.follower.resumed == 0 or self._rng.random() < LEAVE:
                self.follower.leave()
        assert self.follower.resumed > 0
        self._compare()

    async def _act(self, view: m.View) -> None:
        assert view.seat == self._seat
        mine = [decision.decision for decision in view.decisions if decision.seat == self._seat]
        assert len(mine) <= 1, "a seat has one decision at a time"
        assert bool(mine) == bool(view.legal_actions), "who is asked is told what it may do"
        if not mine or mine[0] in self._answered:
            return
        self._answered.add(mine[0])
        action = self._rng.choice(view.legal_actions)
        # Named or not, the decision is the one that is open.
        named = {"decision": mine[0]} if self._rng.random() < 0.5 else {}
        request = self._table.action(action, **named)
        answer = await self._submit(request)
        assert not answer.replayed
        assert answer.version not in self.answers
        self.answers[answer.version] = answer
        if self._rng.random() < REPEAT:
            again = await self._submit(request)
            assert again.replayed
            again.replayed = False
            assert again.SerializeToString() == answer.SerializeToString()
            self.repeats += 1

    async def _submit(self, request: m.SubmitActionRequest) -> m.SubmitActionResponse:
        metadata = bearer(self._table.tokens[self._seat])
        return await self._stub.SubmitAction(request, metadata=metadata)

    def _compare(self) -> None:
        views, updates = self.follower.views, self.follower.updates
        for version, answer in self.answers.items():
            assert answer.view == views[version]
            assert list(answer.events) == list(updates[version].events)
        for look in self.looks:
            assert look == views[look.version]

    async def resume_everywhere(self) -> None:
        """Comes back from places in the middle: the rest is the same, byte for byte."""
        messages = self.follower.messages
        places = {0, len(messages) - 1, *self._rng.sample(range(len(messages)), 3)}
        for place in sorted(places):
            rest = []
            async for message in self.follower.open(messages[place].resume_token):
                if not message.HasField("heartbeat"):
                    rest.append(message)
            # Whoever comes back after the end is told once more that it is the end.
            after = messages[place + 1 :] or messages[-1:]
            assert rest == after
            assert [message.SerializeToString() for message in rest] == [
                message.SerializeToString() for message in after
            ]


async def open_channel(address: str) -> grpc.aio.Channel:
    """A connection of its own."""
    channel = lasting_channel(address)
    await channel.channel_ready()
    return channel


def lasting_channel(address: str) -> grpc.aio.Channel:
    """A connection of its own, that comes back soon when it is lost."""
    options = [
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 20),
        ("grpc.min_reconnect_backoff_ms", 20),
        ("grpc.max_reconnect_backoff_ms", 200),
    ]
    return grpc.aio.insecure_channel(address, options)
