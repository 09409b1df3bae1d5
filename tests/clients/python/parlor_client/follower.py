"""Follows a match on its stream as one viewer, and checks all that a stream promises."""

from collections.abc import AsyncIterator

import grpc

from parlor_client.requests import bearer
from parlor_client.stubs import matches as m

# Nothing here takes nearly so long; a test that hangs is to fail.
PATIENCE_SECS = 120


class Follower:
    """One viewer of one match, and what its stream said."""

    def __init__(self, stub: object, match_id: str, token: str | None) -> None:
        self._stub = stub
        self._match_id = match_id
        self._metadata = bearer(token) if token else []
        self._leave = False
        # Every message but heartbeats, in order, over all of its streams.
        self.messages: list[m.StreamViewResponse] = []
        self.resumed = 0

    @property
    def version(self) -> int | None:
        """What was seen last."""
        return self.messages[-1].version if self.messages else None

    @property
    def views(self) -> dict[int, m.View]:
        """What was seen at each version."""
        arms = [getattr(message, message.WhichOneof("message")) for message in self.messages]
        return {arm.view.version: arm.view for arm in arms if not isinstance(arm, m.End)}

    @property
    def updates(self) -> dict[int, m.Update]:
        """What happened at each version."""
        updates = [message for message in self.messages if message.HasField("update")]
        return {message.version: message.update for message in updates}

    def leave(self) -> None:
        """Hangs up after this message, to come back with its token."""
        self._leave = True

    async def follow(self) -> AsyncIterator[m.StreamViewResponse]:
        """Gives every snapshot and update until the match is over, coming back where it left."""
        token = b""
        while True:
            call = self.open(token)
            async for message in call:
                self._check(message)
                token = message.resume_token
                if message.HasField("heartbeat"):
                    continue
                self.messages.append(message)
                if message.HasField("end"):
                    continue
                yield message
                if self._leave:
                    call.cancel()
                    self._leave = False
                    self.resumed += 1
                    break
            else:
                assert self.messages[-1].HasField("end"), "a stream says why it ends"
                assert await call.code() == grpc.StatusCode.OK
                return

    def open(self, token: bytes) -> grpc.aio.UnaryStreamCall:
        """Opens a stream, from the beginning or from where this token says."""
        request = m.StreamViewRequest(match_id=self._match_id, resume_token=token)
        return self._stub.StreamView(request, metadata=self._metadata, timeout=PATIENCE_SECS)

    async def look(self) -> m.View:
        """What the same viewer is shown when it asks."""
        request = m.GetViewRequest(match_id=self._match_id)
        return (await self._stub.GetView(request, metadata=self._metadata)).view

    def _check(self, message: m.StreamViewResponse) -> None:
        kind = message.WhichOneof("message")
        assert message.resume_token, message
        if self.version is None:
            assert kind == "snapshot", f"a stream begins with a snapshot, not with {kind}"
            assert message.snapshot.reason == m.SNAPSHOT_REASON_INITIAL
            assert message.snapshot.view.version == message.version
        elif self.messages[-1].HasField("end"):
            raise AssertionError(f"nothing comes after an end, but a {kind} did")
        elif kind == "update":
            assert message.version == self.version + 1, f"{message.version} after {self.version}"
            assert message.update.view.version == message.version
        elif kind == "end":
            assert message.version == self.version
            assert message.end.reason == m.END_REASON_MATCH_OVER
        else:
            assert kind == "heartbeat", f"no {kind} after the first message"
            assert message.version == self.version
