"""What a status says: its code and everything in its details."""

from collections.abc import Callable
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

DETAILS = {
    message.DESCRIPTOR.full_name: message
    for message in (
        error_details_pb2.BadRequest,
        error_details_pb2.ErrorInfo,
        error_details_pb2.PreconditionFailure,
        error_details_pb2.QuotaFailure,
        error_details_pb2.ResourceInfo,
        error_details_pb2.RetryInfo,
    )
}


# The message of each reason: it is always the same.
MESSAGES: dict[str, str] = {}


@dataclass
class Refusal:
    """A status, taken apart."""

    code: grpc.StatusCode
    message: str
    details: dict[str, Message]
    # All that came over the wire, without the date.
    wire: list[tuple[str, object]]

    @property
    def info(self) -> error_details_pb2.ErrorInfo:
        """The reason, its domain and its metadata."""
        return self.details["ErrorInfo"]

    @property
    def fields(self) -> list[str]:
        """The fields that are not valid."""
        violations = self.details["BadRequest"].field_violations
        assert all(violation.description for violation in violations), violations
        return [violation.field for violation in violations]

    @property
    def rules(self) -> list[str]:
        """The rules that an action breaks."""
        violations = self.details["PreconditionFailure"].violations
        assert all(violation.type == "RULE" for violation in violations), violations
        assert all(violation.description for violation in violations), violations
        return [violation.subject for violation in violations]


def read(error: grpc.RpcError) -> Refusal:
    """Takes the status of a failed call apart."""
    status = rpc_status.from_call(error)
    assert status is not None, f"{error.code()} {error.details()} carries no details"
    details = {}
    for packed in status.details:
        name = packed.type_url.removeprefix("type.googleapis.com/")
        message = DETAILS[name]()
        assert packed.Unpack(message)
        details[name.rpartition(".")[2]] = message
    headers = [*error.initial_metadata(), *error.trailing_metadata()]
    wire = [("code", error.code()), ("message", error.details())]
    wire += [(key, value) for key, value in headers if key != "date"]
    return Refusal(error.code(), error.details(), details, wire)


def refused(code: str, reason: str, ask: Callable[[], object]) -> Refusal:
    """Asks, and checks that the answer is a refusal with this code and this reason."""
    with pytest.raises(grpc.RpcError) as caught:
        ask()
    refusal = read(caught.value)
    assert refusal.code == grpc.StatusCode[code], refusal
    assert (refusal.info.reason, refusal.info.domain) == (reason, "parlor"), refusal
    assert MESSAGES.setdefault(reason, refusal.message) == refusal.message
    return refusal
