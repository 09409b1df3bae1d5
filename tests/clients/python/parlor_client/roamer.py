"""Viewers that go from server to server as these come and go, and write down all that they see."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import grpc
from grpc_status import rpc_status

from parlor_client import refusal
from parlor_client.recording import Recorder, now
from parlor_client.requests import bearer, new_id
from parlor_client.stubs import MatchStub, games
from parlor_client.stubs import matches as m

# For how long a call is tried again, and a stream may take.
PATIENCE_SECS = 60
FIRST_PAUSE_SECS, LONGEST_PAUSE_SECS = 0.01, 0.3

# How often a player does what a client may do, or what happens to one.
LEAVE = 0.03  # hangs up, to go on at another server
LOOK = 0.1  # asks another server for its view
REPEAT = 0.1  # loses an answer, and asks another server again
HANG_UP = 0.1  # does not wait for an answer, and asks another server again
RACE = 0.1  # sends two answers to one decision to two servers at once
STALE = 0.05  # answers a decision once more

# Statuses that are made on this side when a server is gone.
PASSING = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
}


def reason_of(error: grpc.RpcError) -> str | None:
    """The reason that the service gave, if it did answer."""
    return refusal.read(error).info.reason if rpc_status.from_call(error) else None


def is_passing(error: grpc.RpcError) -> bool:
    """Whether trying again may help."""
    reason = reason_of(error)
    if reason is None:
        return error.code() in PASSING
    return error.code() == grpc.StatusCode.UNAVAILABLE or reason in (
        "CONTENTION",
        "DEADLINE_EXCEEDED",
    )


class Pauses:
    """Waits between tries, longer each time, and gives up at last."""

    def __init__(self) -> None:
        self._give_up = asyncio.get_running_loop().time() + PATIENCE_SECS
        self._pause = FIRST_PAUSE_SECS

    async def wait(self, error: grpc.RpcError) -> None:
        """Waits, if it makes sense to try again."""
        if not is_passing(error) or asyncio.get_running_loop().time() > self._give_up:
            raise error
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECS)


class Roamer:
    """A viewer of one match, at one of several servers at a time."""

    def __init__(
        self,
        servers: list[tuple[str, MatchStub]],
        match_id: str,
        recorder: Recorder,
        rng: random.Random,
    ) -> None:
        self._servers = servers
        self._place = 0
        self._match_id = match_id
        self._metadata: list[tuple[str, str]] = []
        self._recorder = recorder
        self._rng = rng

    def _move_on(self) -> None:
        self._place = (self._place + 1) % len(self._servers)

    def _server(self, steps: int = 0) -> tuple[str, MatchStub]:
        return self._servers[(self._place + steps) % len(self._servers)]

    async def _ask(
        self, call: Callable[[MatchStub], Awaitable[object]], steps: int = 0
    ) -> object:
        """Asks one server after the other until there is an answer."""
        pauses = Pauses()
        while True:
            try:
                return await call(self._server(steps)[1])
            except grpc.RpcError as error:
                await pauses.wait(error)
                steps += 1

    async def follow(self, after_version: int | None = None) -> AsyncIterator[m.View]:
        """Gives what is seen at each version, until the match is over."""
        token, pauses = b"", Pauses()
        while True:
            address, stub = self._server()
            self._recorder.write("opened", server=address, resumed=bool(token))
            request = m.StreamViewRequest(match_id=self._match_id, resume_token=token)
            if after_version is not None and not token:
                request.after_version = after_version
            call = stub.StreamView(request, metadata=self._metadata, timeout=PATIENCE_SECS)
            code = None
            try:
                async for message in call:
                    token, pauses = message.resume_token, Pauses()
                    if view := self._note(message):
                        yield view
                        if self._rng.random() < LEAVE:
                            call.cancel()
                            break
                    elif message.HasField("end") and message.end.reason != m.END_REASON_DRAINING:
                        self._recorder.write("ended", reason=message.end.reason)
                        return
            except grpc.RpcError as error:
                code = error.code().name
                await pauses.wait(error)
            self._recorder.write("broken", server=address, code=code)
            self._move_on()

    def _note(self, message: m.StreamViewResponse) -> m.View | None:
        """Writes a message down; gives the view that it shows, if it does."""
        version = message.version
        match message.WhichOneof("message"):
            case "snapshot":
                view = message.snapshot.view
                forget = message.snapshot.reason != m.SNAPSHOT_REASON_INITIAL
                self._recorder.write("snapshot", version=version, forget=forget, view=view)
                return view
            case "update":
                self._recorder.write("update", version=version, update=message.update)
                return message.update.view
            case "heartbeat":
                self._recorder.write("heartbeat", version=version)
        return None


class Spectator(Roamer):
    """Looks on, from the first version to the last."""

    async def watch(self, token: str) -> None:
        """Watches until the match is over."""
        if token:
            self._metadata = bearer(token)
        async for _ in self.follow(after_version=0):
            pass


class SeatedRoamer(Roamer):
    """Takes a seat, and chooses among what it may do."""

    def __init__(self, *place: object) -> None:
        super().__init__(*place)
        self._answered: set[int] = set()

    async def play(self, join_code: str) -> None:
        """Plays until the match is over."""
        await self._join(join_code)
        await self._look()
        async for view in self.follow():
            if self._rng.random() < LOOK:
                await self._look()
            await self._answer(view)

    async def _join(self, join_code: str) -> None:
        entropy = self._rng.randbytes(16)
        request = m.JoinMatchRequest(
            request_id=new_id(), join_code=join_code, entropy=entropy, name="a Python player"
        )
        joined = await self._ask(lambda stub: stub.JoinMatch(request))
        self._metadata = bearer(joined.seat_token.token)
        self._recorder.seat = joined.seat_token.seat
        version = joined.match.version
        self._recorder.write("joined", version=version, entropy=entropy.hex())

    async def _look(self) -> None:
        request = m.GetViewRequest(match_id=self._match_id)
        asked = now()
        answer = await self._ask(lambda stub: stub.GetView(request, metadata=self._metadata), 1)
        self._recorder.write("looked", asked=asked, view=answer.view)

    async def _answer(self, view: m.View) -> None:
        mine = [asked.decision for asked in view.decisions if asked.seat == self._recorder.seat]
        if not mine or mine[0] in self._answered:
            return
        decision, actions = mine[0], view.legal_actions
        self._answered.add(decision)
        action = self._rng.choice(actions)
        if self._rng.random() < RACE:
            other = self._rng.choice(actions)
            await asyncio.gather(self._send(action, decision), self._send(other, decision, 1))
        else:
            await self._send(action, decision)
        if self._rng.random() < STALE:
            await self._send(action, decision)

    async def _send(self, action: games.GameAction, decision: int, steps: int = 0) -> None:
        """Sends an action until it is answered, each time to another server."""
        request = m.SubmitActionRequest(
            match_id=self._match_id, action_id=new_id(), action=action, decision=decision
        )
        action_id = request.action_id
        self._recorder.write("sent", action_id=action_id, decision=decision, action=action)
        luck, pauses = self._rng.random(), Pauses()
        tries = 2 if luck < REPEAT else 1
        patience = self._rng.uniform(0, 0.01) if luck > 1 - HANG_UP else None
        while tries > 0:
            address, stub = self._server(steps)
            lost = partial(self._recorder.write, "lost", action_id=action_id, server=address)
            steps += 1
            call = stub.SubmitAction(request, metadata=self._metadata, timeout=PATIENCE_SECS)
            if patience is not None:
                # The timer is the client's fault here: it hangs up on a call under way.
                asyncio.get_running_loop().call_later(patience, call.cancel)
                patience = None
            try:
                answer = await call
            except asyncio.CancelledError:
                if asyncio.current_task().cancelling():
                    raise
                lost(code="CANCELLED")
            except grpc.RpcError as error:
                code, reason = error.code(), reason_of(error)
                if not is_passing(error):
                    refused = {"action_id": action_id, "code": code.value[0], "reason": reason}
                    self._recorder.write("refused", **refused)
                    return
                lost(code=code.name)
                await pauses.wait(error)
            else:
                told = {"version": answer.version, "replayed": answer.replayed}
                self._recorder.write("acted", action_id=action_id, answer=answer, **told)
                tries -= 1
