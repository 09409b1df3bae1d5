"""Viewers that go from server to server as these come and go, and write down all that they see."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager

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

# Why a stream ends that is not to be taken up again.
LAST = {
    m.END_REASON_MATCH_OVER,
    m.END_REASON_MATCH_EXPIRED,
    m.END_REASON_TOKEN_REVOKED,
}

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
    later = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    return error.code() in later or reason == "CONTENTION"


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


class Curfew:
    """When the viewers of a match leave although it is not over."""

    def __init__(self) -> None:
        # Nobody acts any more.
        self.begun = False
        # The newest version that anybody's doing was acknowledged with.
        self.reached = 1
        self._acting = 0

    @staticmethod
    def at(version: int) -> "Curfew":
        """Who has seen this version leaves."""
        curfew = Curfew()
        curfew.begun = True
        curfew.reach(version)
        return curfew

    @property
    def version(self) -> int | None:
        """Who has seen this version leaves: nobody acts, nor will."""
        return self.reached if self.begun and not self._acting else None

    def reach(self, version: int) -> None:
        """Notes a version that was acknowledged."""
        self.reached = max(self.reached, version)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """While somebody acts, the last version is not known."""
        self._acting += 1
        try:
            yield
        finally:
            self._acting -= 1


class Roamer:
    """A viewer of one match, at one of several servers at a time."""

    # How long it waits for an answer.
    call_secs: float = PATIENCE_SECS

    def __init__(
        self,
        servers: list[tuple[str, MatchStub]],
        match_id: str,
        recorder: Recorder,
        rng: random.Random,
        curfew: Curfew | None = None,
    ) -> None:
        self._servers = servers
        self._place = 0
        self._match_id = match_id
        self._metadata: list[tuple[str, str]] = []
        self._recorder = recorder
        self._rng = rng
        self._curfew = curfew or Curfew()

    def _move_on(self) -> None:
        self._place = (self._place + 1) % len(self._servers)

    def _server(self, steps: int = 0) -> tuple[str, MatchStub]:
        return self._servers[(self._place + steps) % len(self._servers)]

    async def attempt(self, doing: Awaitable[None]) -> None:
        """Does something; that it fails is written down like all else."""
        try:
            await doing
        except grpc.RpcError as error:
            said = {"code": error.code().name, "reason": reason_of(error)}
            self._recorder.write("failed", **said)

    async def _ask(self, method: str, request: object, steps: int = 0) -> object:
        """Asks one server after the other until there is an answer."""
        pauses = Pauses()
        while True:
            call = getattr(self._server(steps)[1], method)
            try:
                return await call(request, metadata=self._metadata, timeout=self.call_secs)
            except grpc.RpcError as error:
                await pauses.wait(error)
                steps += 1

    async def follow(self, after_version: int | None = None) -> AsyncIterator[m.View]:
        """Gives what is seen at each version, until the match is over or it is time to leave."""
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
                    elif message.HasField("end"):
                        if message.end.reason in LAST:
                            self._recorder.write("ended", reason=message.end.reason)
                            return
                        await asyncio.sleep(message.end.after_ms / 1000)
                    last = self._curfew.version
                    if last is not None and message.version >= last:
                        self._recorder.write("left")
                        call.cancel()
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

    look = LOOK

    def __init__(self, *place: object) -> None:
        super().__init__(*place)
        self._answered: set[int] = set()
        # What was carried out.
        self._done: list[m.SubmitActionRequest] = []

    async def play(self, join_code: str) -> None:
        """Plays until the match is over."""
        await self._join(join_code)
        await self._look()
        await self._play_on(None)

    async def _play_on(self, after_version: int | None) -> None:
        async for view in self.follow(after_version):
            if self._rng.random() < self.look:
                await self._look()
            await self._answer(view)

    async def _join(self, join_code: str) -> str:
        """Takes a seat; gives its token."""
        entropy = self._rng.randbytes(16)
        request = m.JoinMatchRequest(
            request_id=new_id(), join_code=join_code, entropy=entropy, name="a Python player"
        )
        joined = await self._ask("JoinMatch", request)
        self._metadata = bearer(joined.seat_token.token)
        self._recorder.seat = joined.seat_token.seat
        version = joined.match.version
        self._curfew.reach(version)
        self._recorder.write("joined", version=version, entropy=entropy.hex())
        return joined.seat_token.token

    async def _look(self) -> m.View:
        request = m.GetViewRequest(match_id=self._match_id)
        asked = now()
        answer = await self._ask("GetView", request, 1)
        self._recorder.write("looked", asked=asked, view=answer.view)
        return answer.view

    async def _answer(self, view: m.View) -> None:
        """Answers what its seat is asked, once."""
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

    async def _send(self, action: games.GameAction, decision: int, steps: int = 0) -> str | None:
        """Sends an action until it is answered, each time to another server; gives the reason if it
        is refused."""
        request = m.SubmitActionRequest(
            match_id=self._match_id, action_id=new_id(), action=action, decision=decision
        )
        sent = {"action_id": request.action_id, "decision": decision, "action": action}
        self._recorder.write("sent", **sent)
        luck = self._rng.random()
        patience = self._rng.uniform(0, 0.01) if luck > 1 - HANG_UP else None
        return await self._settle(request, steps, 2 if luck < REPEAT else 1, patience)

    async def _settle(
        self,
        request: m.SubmitActionRequest,
        steps: int,
        answers: int,
        patience: float | None = None,
    ) -> str | None:
        """Sends a request until there are so many answers to it, or a refusal."""
        pauses = Pauses()
        while answers > 0:
            address, stub = self._server(steps)
            steps += 1
            told = {"action_id": request.action_id, "server": address, "asked": now()}
            call = stub.SubmitAction(request, metadata=self._metadata, timeout=self.call_secs)
            if patience is not None:
                # The timer is the client's fault here: it hangs up on a call under way.
                asyncio.get_running_loop().call_later(patience, call.cancel)
                patience = None
            try:
                answer = await call
            except asyncio.CancelledError:
                if asyncio.current_task().cancelling():
                    raise
                self._recorder.write("lost", **told, code="CANCELLED")
            except grpc.RpcError as error:
                code, reason = error.code(), reason_of(error)
                if not is_passing(error):
                    self._recorder.write("refused", **told, code=code.value[0], reason=reason)
                    return reason
                self._recorder.write("lost", **told, code=code.name, reason=reason)
                await pauses.wait(error)
            else:
                self._curfew.reach(answer.version)
                told |= {"version": answer.version, "replayed": answer.replayed}
                self._recorder.write("acted", **told, answer=answer)
                answers -= 1
        self._done.append(request)
        return None
