"""What a service offers beside its own methods: health, reflection, and a good end."""

import json
import os
import subprocess
import sysconfig

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from parlor_client import refusal
from parlor_client.duel import two_seats
from parlor_client.server import Server
from parlor_client.stubs import catalog, games
from parlor_client.stubs import matches as m

SERVICES = {"parlor.v1.CatalogService", "parlor.v1.MatchService", "grpc.health.v1.Health"}


@pytest.mark.parametrize("service", ["", "parlor.v1.MatchService"])
def test_a_server_that_serves_is_healthy(server: Server, service: str) -> None:
    stub = health_pb2_grpc.HealthStub(server.channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_the_health_of_an_unknown_service_is_not_found(server: Server) -> None:
    stub = health_pb2_grpc.HealthStub(server.channel)
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="nobody"))
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("version", ["v1alpha", "v1"])
def test_reflection_lists_the_services(server: Server, version: str) -> None:
    # The messages of both versions are the same but for their package.
    ask = server.channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    (answer,) = ask(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    found = {service.name for service in answer.list_services_response.service}
    assert found >= SERVICES | {f"grpc.reflection.{version}.ServerReflection"}


def test_reflection_describes_the_messages_as_the_protos_do(server: Server) -> None:
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(server.channel))
    for module in (catalog, games, m):
        found = pool.FindFileByName(module.DESCRIPTOR.name)
        assert set(found.message_types_by_name) == set(module.DESCRIPTOR.message_types_by_name)
        assert set(found.services_by_name) == set(module.DESCRIPTOR.services_by_name)


def test_reflection_describes_the_details_of_refusals(server: Server) -> None:
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(server.channel))
    for message in refusal.DETAILS.values():
        found = pool.FindMessageTypeByName(message.DESCRIPTOR.full_name)
        assert set(found.fields_by_name) == set(message.DESCRIPTOR.fields_by_name)


def test_buf_calls_a_method_with_reflection_alone(server: Server) -> None:
    listed = buf_curl(f"http://{server.address}/parlor.v1.CatalogService/ListGames")
    assert "neon" in {game["gameId"] for game in json.loads(listed.stdout)["games"]}
    method = f"http://{server.address}/parlor.v1.MatchService/GetView"
    refused = buf_curl("--data", '{"matchId": "nope"}', method)
    answer = json.loads(refused.stderr)
    assert answer["code"] == "invalid_argument"
    found = {detail["type"] for detail in answer["details"]}
    assert found == {"google.rpc.ErrorInfo", "google.rpc.BadRequest"}


def buf_curl(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Calls as someone would from a shell, who has nothing but the address."""
    command = ["buf", "curl", "--protocol", "grpc", "--http2-prior-knowledge", *arguments]
    path = {"PATH": sysconfig.get_path("scripts"), "HOME": os.environ["HOME"]}
    return subprocess.run(
        command, env=path, capture_output=True, text=True, check=False, timeout=60
    )


def test_an_unknown_method_is_not_implemented(server: Server) -> None:
    for path in ("/parlor.v1.MatchService/Cheat", "/nobody/Nothing"):
        with pytest.raises(grpc.RpcError) as caught:
            server.channel.unary_unary(path)(b"")
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_compressed_request_is_not_implemented(server: Server) -> None:
    request = catalog.GetGameRequest(game_id="x" * 4096)
    with pytest.raises(grpc.RpcError) as caught:
        server.catalog.GetGame(request, compression=grpc.Compression.Gzip)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_headers_that_are_too_large_leave_the_connection_usable(server: Server) -> None:
    request = catalog.ListGamesRequest()
    with pytest.raises(grpc.RpcError):
        server.catalog.ListGames(request, metadata=[("x-much", "y" * 12_000)])
    assert server.catalog.ListGames(request).games


def test_a_quiet_stream_gets_signs_of_life() -> None:
    with Server("--heartbeat", "20ms") as server:
        table = two_seats(server)
        stream = server.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
        kinds = [next(stream).WhichOneof("message") for _ in range(4)]
        assert kinds == ["snapshot", "heartbeat", "heartbeat", "heartbeat"]
        stream.cancel()


def test_a_server_that_is_told_to_stop_tells_its_watchers_and_goes() -> None:
    server = Server()
    table = two_seats(server)
    stream = server.matches.StreamView(m.StreamViewRequest(match_id=table.match_id))
    snapshot = next(stream)
    server.terminate()
    end = next(stream)
    assert end.end.reason == m.END_REASON_DRAINING
    assert (end.version, end.resume_token) == (snapshot.version, snapshot.resume_token)
    assert next(stream, None) is None
    assert stream.code() == grpc.StatusCode.OK
    assert server.stop() == 0
