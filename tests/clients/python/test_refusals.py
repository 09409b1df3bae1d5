"""Every reason for which the service refuses something, provoked by a client."""

import base64
import http.client
import re
import time
from collections.abc import Callable
from functools import partial

import grpc
import jwt
import pytest
from google.rpc import error_details_pb2, status_pb2

from conftest import API_KEY, TOKEN_KEY
from parlor_client.duel import act, play, play_to_the_end, two_seats, view
from parlor_client.refusal import refused
from parlor_client.requests import (
    Table,
    bearer,
    create_request,
    left_open,
    new_id,
    taken,
)
from parlor_client.server import Server
from parlor_client.stubs import ROOT, catalog, games
from parlor_client.stubs import matches as m

# What no client can provoke while the store is well and the code has no mistakes; tests/it does.
NEED_A_FAULT = {
    "ANSWER_TOO_LARGE",
    "CONTENTION",
    "DATA_CORRUPT",
    "DURABILITY_PENDING",
    "HISTORY_FORKED",
    "OUTCOME_UNKNOWN",
    "OVERLOADED",
    "PANIC",
    "RULES_PANIC",
    "RULES_VERSION_RETIRED",
    "SCHEMA_TOO_NEW",
    "STORE_FAILOVER",
    "STORE_FULL",
    "STORE_MISCONFIGURED",
    "STORE_READ_ONLY",
    "STORE_UNAVAILABLE",
}

# What no library for gRPC sends, or shows; tests/it provokes it.
NEED_ANOTHER_CLIENT = {"NOT_GRPC", "SLOW_CONSUMER"}

PROVOKED: set[str] = set()

Test = Callable[..., None]


def provokes(*reasons: str) -> Callable[[Test], Test]:
    """Says which reasons a test provokes."""

    def note(test: Test) -> Test:
        PROVOKED.update(reasons)
        return test

    return note


def every_reason() -> set[str]:
    """The reasons of the service, as its source has them."""
    source = (ROOT / "src" / "grpc" / "errors.rs").read_text()
    return set(re.findall(r'^    ([A-Z_]+) = [A-Z]\w+ "', source, re.MULTILINE))


def test_every_reason_of_the_service_is_provoked_here_or_in_rust() -> None:
    assert every_reason() == PROVOKED | NEED_A_FAULT | NEED_ANOTHER_CLIENT
    assert not PROVOKED & (NEED_A_FAULT | NEED_ANOTHER_CLIENT)
    tests = "".join(file.read_text() for file in (ROOT / "tests" / "it").rglob("*.rs"))
    named = set(re.findall(r'"([A-Z_]+)"', tests))
    assert named >= NEED_A_FAULT | NEED_ANOTHER_CLIENT


def test_every_reason_of_the_service_is_documented_in_its_api() -> None:
    protos = "".join(file.read_text() for file in (ROOT / "proto").rglob("*.proto"))
    assert every_reason() <= set(re.findall(r"`([A-Z_]+)`", protos))


def crafted(table: Table, key: bytes = TOKEN_KEY, kid: str = "tests", **claims: object) -> str:
    """A token for seat 0 of a match, made here instead of by the server."""
    now = int(time.time())
    usual = {
        "iss": "parlor",
        "sub": table.match_id,
        "seat": 0,
        "epoch": 0,
        "iat": now,
        "exp": now + 60,
    }
    return jwt.encode(usual | claims, key, algorithm="HS256", headers={"kid": kid})


def every_call(server: Server, table: Table) -> list[Callable[[list], object]]:
    """Each method that looks at the authorization, as a call that needs only that."""
    look = m.GetViewRequest(match_id=table.match_id)
    follow = m.StreamViewRequest(match_id=table.match_id)
    renew = m.RenewTokenRequest(match_id=table.match_id, request_id=new_id())
    found = m.GetMatchRequest(match_id=table.match_id)
    return [
        lambda metadata: server.matches.GetView(look, metadata=metadata),
        lambda metadata: server.matches.GetMatch(found, metadata=metadata),
        lambda metadata: server.matches.SubmitAction(table.action(play(1)), metadata=metadata),
        lambda metadata: server.matches.RenewToken(renew, metadata=metadata),
        lambda metadata: next(server.matches.StreamView(follow, metadata=metadata)),
    ]


# Who calls


@provokes("TOKEN_MISSING")
def test_acting_needs_a_token(server: Server) -> None:
    table = two_seats(server)
    _, _, submit, renew, _ = every_call(server, table)
    for ask in (submit, renew):
        refused("UNAUTHENTICATED", "TOKEN_MISSING", partial(ask, []))


def test_a_private_match_needs_a_token_to_be_looked_at(server: Server) -> None:
    table = two_seats(server, m.VISIBILITY_PRIVATE)
    for ask in every_call(server, table):
        refused("UNAUTHENTICATED", "TOKEN_MISSING", partial(ask, []))
    assert not view(server, table, table.spectator_token).HasField("seat")


def test_without_a_token_a_private_match_and_none_at_all_look_the_same(server: Server) -> None:
    private = two_seats(server, m.VISIBILITY_PRIVATE)
    nothing = Table(match_id=new_id())
    for hidden, missing in zip(
        every_call(server, private), every_call(server, nothing), strict=True
    ):
        one = refused("UNAUTHENTICATED", "TOKEN_MISSING", partial(hidden, []))
        other = refused("UNAUTHENTICATED", "TOKEN_MISSING", partial(missing, []))
        assert one.wire == other.wire


@provokes("TOKEN_INVALID")
def test_a_token_that_is_not_from_here_is_refused_in_one_way(server: Server) -> None:
    table = two_seats(server)
    good = table.tokens[0]
    assert view(server, table, crafted(table)).seat == 0, "what is crafted well is accepted"
    header, claims, signature = good.split(".")
    other_key = bytes(32)
    garbled = [
        "",
        "nonsense",
        "a.b.c",
        good[:-1],
        f"{header}.{claims}.{signature[::-1]}",
        f"{header}.{claims}",
        good + "A" * 600,
        crafted(table, key=other_key),
        crafted(table, kid="unknown"),
        crafted(table, iss="someone else"),
        crafted(table, seat=7),
        crafted(table, sub="not a match"),
        jwt.encode({"sub": table.match_id}, None, algorithm="none", headers={"kid": "tests"}),
    ]
    answers = []
    for ask in every_call(server, table):
        for token in garbled:
            answers.append(refused("UNAUTHENTICATED", "TOKEN_INVALID", partial(ask, bearer(token))))
        for header in ("Basic dXNlcjpwYXNz", "Bearer", good):
            metadata = [("authorization", header)]
            answers.append(refused("UNAUTHENTICATED", "TOKEN_INVALID", partial(ask, metadata)))
    assert all(answer.wire == answers[0].wire for answer in answers)


@provokes("TOKEN_EXPIRED")
def test_an_expired_token_is_refused(server: Server) -> None:
    table = two_seats(server)
    long_ago = int(time.time()) - 3600
    token = crafted(table, iat=long_ago - 60, exp=long_ago)
    for ask in every_call(server, table):
        refused("UNAUTHENTICATED", "TOKEN_EXPIRED", partial(ask, bearer(token)))


@provokes("TOKEN_REVOKED")
def test_a_token_that_was_replaced_is_refused(server: Server) -> None:
    table = two_seats(server)
    old = table.tokens[0]
    renew = m.RenewTokenRequest(match_id=table.match_id, request_id=new_id())
    new = server.matches.RenewToken(renew, metadata=bearer(old)).seat_token.token
    for ask in every_call(server, table):
        refused("UNAUTHENTICATED", "TOKEN_REVOKED", partial(ask, bearer(old)))
    assert view(server, table, new).seat == 0
    assert view(server, table, table.tokens[1]).seat == 1, "the other seat keeps its token"


@provokes("TOKEN_SCOPE")
def test_a_token_of_another_match_is_refused_even_where_anyone_may_look(server: Server) -> None:
    here, there = two_seats(server), two_seats(server)
    nowhere = Table(match_id=new_id())
    for ask in [*every_call(server, there), *every_call(server, nowhere)]:
        metadata = bearer(here.tokens[0])
        refused("PERMISSION_DENIED", "TOKEN_SCOPE", partial(ask, metadata))


@provokes("SEAT_FORBIDDEN")
def test_a_spectator_may_not_act(server: Server) -> None:
    table = two_seats(server, m.VISIBILITY_PRIVATE)
    _, _, submit, renew, _ = every_call(server, table)
    for ask in (submit, renew):
        metadata = bearer(table.spectator_token)
        refused("PERMISSION_DENIED", "SEAT_FORBIDDEN", partial(ask, metadata))


@provokes("API_KEY_MISSING", "API_KEY_INVALID")
def test_creating_needs_an_api_key_where_the_server_asks_for_one(guarded_server: Server) -> None:
    create = guarded_server.matches.CreateMatch
    request = create_request([taken(), taken()])

    def with_key(key: str) -> m.CreateMatchResponse:
        return create(request, metadata=[("x-api-key", key)])

    refused("UNAUTHENTICATED", "API_KEY_MISSING", partial(create, request))
    for key in ("", "wrong", API_KEY + "s", API_KEY.upper()):
        refused("UNAUTHENTICATED", "API_KEY_INVALID", partial(with_key, key))
    first = with_key(API_KEY)
    assert with_key(API_KEY).replayed
    other = with_key("another-api-key-of-tests")
    assert not other.replayed, "requests of different creators never meet"
    assert other.match.match_id != first.match.match_id
    # Everything else is open to whoever has a token.
    table = Table.of(first)
    assert view(guarded_server, table, table.tokens[0]).seat == 0


# What a request says


def invalid(ask: Callable[[], object]) -> list[str]:
    """The fields for which a request is refused."""
    return refused("INVALID_ARGUMENT", "INVALID_FIELD", ask).fields


def with_cards(ids: list[str]) -> games.GameOptions:
    """Options of Candy with these cards in the deck."""
    options = games.GameOptions()
    options.candy.add_cards.extend(ids)
    return options


NO_UUID = ["", "nope", "123e4567e89b12d3a456426614174000", "{" + new_id() + "}", "z" * 36]


@provokes("INVALID_FIELD")
@pytest.mark.parametrize(
    ("change", "fields"),
    [
        *(({"request_id": text}, ["request_id"]) for text in NO_UUID),
        ({"options": games.GameOptions()}, ["options.game"]),
        ({"options": None}, ["options.game"]),
        ({"options": with_cards(["x"] * 5000)}, ["options.candy.add_cards"] * 20),
        ({"options": with_cards(["x" * 16000])}, ["options.candy.add_cards"]),
        ({"visibility": m.VISIBILITY_UNSPECIFIED}, ["visibility"]),
        ({"visibility": 77}, ["visibility"]),
        ({"seats": []}, ["seats"]),
        ({"seats": [taken()]}, ["seats"]),
        ({"seats": [taken()] * 7}, ["seats"]),
        ({"seats": [taken()] * 300}, ["seats"]),
        ({"seats": [taken(), m.NewSeat()]}, ["seats[1].kind"]),
        ({"seats": [m.NewSeat(kind=9), taken()]}, ["seats[0].kind"]),
        ({"seats": [taken("x" * 33), taken()]}, ["seats[0].name"]),
        ({"seats": [taken("line\nbreak"), taken()]}, ["seats[0].name"]),
        ({"seats": [taken(), taken(entropy=bytes(65))]}, ["seats[1].entropy"]),
        ({"seats": [taken(), m.NewSeat(kind=m.SEAT_KIND_OPEN, name="x")]}, ["seats[1]"]),
        ({"seats": [taken(), m.NewSeat(kind=m.SEAT_KIND_OPEN, entropy=b"x")]}, ["seats[1]"]),
    ],
)
def test_a_match_with_an_invalid_field_is_not_created(
    server: Server, change: dict, fields: list[str]
) -> None:
    request = create_request([taken(), taken()])
    for name, value in change.items():
        request.ClearField(name)
        if value is not None:
            request.MergeFrom(m.CreateMatchRequest(**{name: value}))
    assert invalid(partial(server.matches.CreateMatch, request)) == fields


@pytest.mark.parametrize("seat", [2, 6, 2**32 - 1])
def test_a_first_player_who_has_no_seat_is_refused(server: Server, seat: int) -> None:
    request = create_request([taken(), taken()])
    request.options.neon.first_player = seat
    fields = invalid(partial(server.matches.CreateMatch, request))
    assert fields == ["options.neon.first_player"]


def test_all_that_is_wrong_with_a_new_match_is_said_at_once(server: Server) -> None:
    request = m.CreateMatchRequest(
        request_id="nope",
        seats=[taken("x" * 33, bytes(65)), m.NewSeat()],
    )
    assert sorted(invalid(partial(server.matches.CreateMatch, request))) == [
        "options.game",
        "request_id",
        "seats[0].entropy",
        "seats[0].name",
        "seats[1].kind",
        "visibility",
    ]


def test_what_the_game_refuses_is_said_together_with_all_else(server: Server) -> None:
    request = create_request([taken()], visibility=m.VISIBILITY_UNSPECIFIED)
    request.options.neon.first_player = 3
    fields = invalid(partial(server.matches.CreateMatch, request))
    assert sorted(fields) == ["options.neon.first_player", "seats", "visibility"]


def test_all_that_is_wrong_with_a_join_is_said_at_once(server: Server) -> None:
    request = m.JoinMatchRequest(join_code="?", seat=6, name="\t", entropy=bytes(65))
    assert sorted(invalid(partial(server.matches.JoinMatch, request))) == [
        "entropy",
        "join_code",
        "name",
        "request_id",
        "seat",
    ]


def test_a_join_names_a_seat_of_the_table(server: Server) -> None:
    created = server.matches.CreateMatch(create_request([taken(), left_open()]))
    request = m.JoinMatchRequest(request_id=new_id(), join_code=created.join_code, seat=5)
    assert invalid(partial(server.matches.JoinMatch, request)) == ["seat"]


@pytest.mark.parametrize("text", NO_UUID)
def test_every_id_is_a_uuid(server: Server, text: str) -> None:
    table = two_seats(server)
    metadata = bearer(table.tokens[0])
    for ask in every_call(server, Table(match_id=text)):
        assert invalid(partial(ask, metadata)) == ["match_id"]
    submit = table.action(play(1), action_id=text)
    assert invalid(partial(server.matches.SubmitAction, submit, metadata=metadata)) == ["action_id"]
    renew = m.RenewTokenRequest(match_id=table.match_id, request_id=text)
    assert invalid(partial(server.matches.RenewToken, renew, metadata=metadata)) == ["request_id"]


def test_an_action_is_set_and_well_formed(server: Server) -> None:
    table = two_seats(server)
    metadata = bearer(table.tokens[0])
    no_kind = games.GameAction()
    no_kind.neon.SetInParent()
    unknown_game = games.GameAction.FromString(b"\xfa\x01\x00")
    cases = [
        (None, ["action.game"]),
        (games.GameAction(), ["action.game"]),
        (unknown_game, ["action.game"]),
        (no_kind, ["action.neon.action"]),
        (play(1, 7), ["action.neon.play.values[1]"]),
        (play(0), ["action.neon.play.values[0]"]),
        (play(*[1] * 11), ["action.neon.play.values"]),
    ]
    for action, fields in cases:
        submit = table.action(action)
        assert invalid(partial(server.matches.SubmitAction, submit, metadata=metadata)) == fields
    submit = table.action(None, action_id="nope")
    fields = invalid(partial(server.matches.SubmitAction, submit, metadata=metadata))
    assert sorted(fields) == ["action.game", "action_id"]


def test_a_resume_token_is_one_of_this_match(server: Server) -> None:
    table, other = two_seats(server), two_seats(server)

    def follow(table: Table, token: bytes) -> m.StreamViewResponse:
        request = m.StreamViewRequest(match_id=table.match_id, resume_token=token)
        return next(server.matches.StreamView(request))

    token = follow(table, b"").resume_token
    garbled = bytes([token[0], token[1] ^ 1, *token[2:]])
    for bad in (b"x", token[:-1], token + b"x", garbled, follow(other, b"").resume_token):
        assert invalid(partial(follow, table, bad)) == ["resume_token"]


@provokes("GAME_NOT_FOUND")
def test_an_unknown_game_is_not_found(server: Server) -> None:
    for game in ("", "chess", "NEON"):
        request = catalog.GetGameRequest(game_id=game)
        refused("NOT_FOUND", "GAME_NOT_FOUND", partial(server.catalog.GetGame, request))


@provokes("MALFORMED_MESSAGE")
@pytest.mark.parametrize("method", ["CreateMatch", "JoinMatch", "SubmitAction", "GetView"])
def test_bytes_that_are_no_message_are_refused(server: Server, method: str) -> None:
    send = server.channel.unary_unary(f"/parlor.v1.MatchService/{method}")
    truncated, wrong_type, no_text, no_tag = b"\x0a\x05ab", b"\x08\x01", b"\x0a\x01\xff", b"\xff"
    # Groups within groups: no field of ours, skipped only to a certain depth.
    deep = b"\xfb\x01" * 8_000
    for sent in (truncated, wrong_type, no_text, no_tag, deep):
        refused("INVALID_ARGUMENT", "MALFORMED_MESSAGE", partial(send, sent))


@provokes("MESSAGE_TOO_LARGE")
def test_a_request_that_is_too_large_is_refused(server: Server) -> None:
    for service, method, most in (
        ("MatchService", "CreateMatch", 65536),
        ("MatchService", "JoinMatch", 16384),
        ("MatchService", "SubmitAction", 16384),
        ("MatchService", "GetView", 16384),
        ("CatalogService", "GetGame", 16384),
    ):
        send = server.channel.unary_unary(f"/parlor.v1.{service}/{method}")
        refusal = refused("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE", partial(send, bytes(most + 1)))
        assert refusal.info.metadata == {"maxBytes": str(most)}
        # As large as it may be, it is read, and found to be no message.
        refused("INVALID_ARGUMENT", "MALFORMED_MESSAGE", partial(send, bytes(most)))


def test_a_request_may_be_just_as_large_as_the_limit_says(server: Server) -> None:
    room = 16384 - 3
    for length, code, reason in (
        (room, "NOT_FOUND", "GAME_NOT_FOUND"),
        (room + 1, "RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE"),
    ):
        request = catalog.GetGameRequest(game_id="x" * length)
        refused(code, reason, partial(server.catalog.GetGame, request))


@provokes("INVALID_TIMEOUT")
@pytest.mark.parametrize("timeout", ["soon", "5", "1.5S", "-1S", "123456789m", "1s"])
def test_a_timeout_that_cannot_be_read_is_refused(server: Server, timeout: str) -> None:
    assert list_games_within(server, timeout) == ("INVALID_ARGUMENT", "INVALID_TIMEOUT")


@pytest.mark.parametrize("timeout", ["0S", "1n", "999u"])
def test_a_timeout_of_less_than_a_millisecond_is_over_at_once(server: Server, timeout: str) -> None:
    assert list_games_within(server, timeout) == ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED")


def list_games_within(server: Server, timeout: str) -> tuple[str, str]:
    """The code and reason for a call with this timeout, which a gRPC library would not send."""
    connection = http.client.HTTPConnection(server.address, timeout=30)
    headers = {"content-type": "application/grpc-web+proto", "grpc-timeout": timeout}
    connection.request("POST", "/parlor.v1.CatalogService/ListGames", bytes(5), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    number = int(response.getheader("grpc-status"))
    (code,) = (code.name for code in grpc.StatusCode if code.value[0] == number)
    packed = response.getheader("grpc-status-details-bin")
    status = status_pb2.Status.FromString(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return code, info.reason


@provokes("DEADLINE_EXCEEDED")
def test_a_call_without_any_time_is_refused(server: Server) -> None:
    table = two_seats(server)
    for ask in every_call(server, table):
        metadata = [*bearer(table.tokens[0]), ("grpc-timeout", "0n")]
        refused("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", partial(ask, metadata))
    assert view(server, table, table.tokens[0]).version == 1, "nothing was done"


def test_the_deadline_of_a_stream_ends_it(server: Server) -> None:
    table = two_seats(server)
    request = m.StreamViewRequest(match_id=table.match_id)
    # Without a deadline on this side, so that the answer is certainly the server's.
    metadata = [("grpc-timeout", "100m")]
    messages: list[m.StreamViewResponse] = []

    def follow() -> None:
        messages.extend(server.matches.StreamView(request, metadata=metadata))

    began = time.monotonic()
    refused("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", follow)
    assert 0.09 <= time.monotonic() - began < 5
    assert [message.WhichOneof("message") for message in messages] == ["snapshot"]


# What a match says


@provokes("ILLEGAL_ACTION")
def test_an_illegal_action_names_the_rule_it_breaks_and_changes_nothing(server: Server) -> None:
    table = two_seats(server)
    metadata = bearer(table.tokens[0])
    before = view(server, table, table.tokens[0])
    hand = list(before.game.neon.own.hand)
    missing = next(value for value in range(1, 7) if hand.count(value) < 10)
    too_many = [missing] * (hand.count(missing) + 1)
    choose = games.GameAction()
    choose.neon.choose.values.append(before.game.neon.victory_point_cards[0])
    apart = next((a, b) for a in hand for b in hand if b - a > 1)
    described = server.catalog.GetGame(catalog.GetGameRequest(game_id="neon"))
    cases = [
        (play(*too_many), "not_in_hand"),
        (choose, "time_to_play"),
        (play(*apart), "not_a_combination"),
        (play(), "not_a_combination"),
    ]
    for action, rule in cases:
        submit = table.action(action)
        ask = partial(server.matches.SubmitAction, submit, metadata=metadata)
        refusal = refused("FAILED_PRECONDITION", "ILLEGAL_ACTION", ask)
        assert refusal.rules == [rule]
        assert rule in {entry.id for entry in described.refusals}
    assert view(server, table, table.tokens[0]) == before


def test_an_action_of_another_game_breaks_a_rule_of_every_game(server: Server) -> None:
    table = two_seats(server)
    action = games.GameAction()
    action.neapolitan.decline.SetInParent()
    submit = table.action(action)
    ask = partial(server.matches.SubmitAction, submit, metadata=bearer(table.tokens[0]))
    assert refused("FAILED_PRECONDITION", "ILLEGAL_ACTION", ask).rules == ["other_game"]
    for game in server.catalog.ListGames(catalog.ListGamesRequest()).games:
        described = server.catalog.GetGame(catalog.GetGameRequest(game_id=game.game_id))
        assert "other_game" in {entry.id for entry in described.refusals}


@provokes("NOT_YOUR_TURN")
def test_whoever_has_no_decision_may_not_act(server: Server) -> None:
    table = two_seats(server)
    submit = table.action(play(1))
    metadata = bearer(table.tokens[1])
    ask = partial(server.matches.SubmitAction, submit, metadata=metadata)
    refused("FAILED_PRECONDITION", "NOT_YOUR_TURN", ask)


@provokes("MATCH_NOT_STARTED")
def test_nobody_acts_before_every_seat_is_taken(server: Server) -> None:
    table = Table.of(server.matches.CreateMatch(create_request([taken(), left_open()])))
    submit = table.action(play(1))
    metadata = bearer(table.tokens[0])
    ask = partial(server.matches.SubmitAction, submit, metadata=metadata)
    refused("FAILED_PRECONDITION", "MATCH_NOT_STARTED", ask)


@provokes("MATCH_OVER")
def test_nobody_acts_after_the_end(server: Server) -> None:
    table = two_seats(server)
    play_to_the_end(server, table)
    for seat in (0, 1):
        submit = table.action(play(1))
        metadata = bearer(table.tokens[seat])
        ask = partial(server.matches.SubmitAction, submit, metadata=metadata)
        refused("FAILED_PRECONDITION", "MATCH_OVER", ask)


@provokes("REVISION_CONFLICT", "REVISION_IN_FUTURE")
def test_a_decision_that_is_not_open_is_refused_with_the_current_version(server: Server) -> None:
    table = two_seats(server)
    before = view(server, table, table.tokens[0])
    act(server, table, 0)

    def submit(seat: int, decision: int) -> m.SubmitActionResponse:
        now = view(server, table, table.tokens[seat])
        action = (now.legal_actions or before.legal_actions)[0]
        request = table.action(action, decision=decision)
        return server.matches.SubmitAction(request, metadata=bearer(table.tokens[seat]))

    closed = before.decisions[0].decision
    for seat, decision in ((0, closed), (1, closed), (1, 0)):
        refusal = refused("ABORTED", "REVISION_CONFLICT", partial(submit, seat, decision))
        assert refusal.info.metadata == {"currentRevision": "2"}
    for seat, decision in ((0, 3), (1, 3), (1, 2**64 - 1)):
        refusal = refused("OUT_OF_RANGE", "REVISION_IN_FUTURE", partial(submit, seat, decision))
        assert refusal.info.metadata == {"currentRevision": "2"}
    assert submit(1, 2).version == 3


@provokes("SEAT_TAKEN", "MATCH_FULL")
def test_only_an_open_seat_can_be_taken(server: Server) -> None:
    created = server.matches.CreateMatch(create_request([taken(), left_open()]))

    def join(**seat: int) -> m.JoinMatchResponse:
        request = m.JoinMatchRequest(request_id=new_id(), join_code=created.join_code, **seat)
        return server.matches.JoinMatch(request)

    refused("FAILED_PRECONDITION", "SEAT_TAKEN", partial(join, seat=0))
    assert join().seat_token.seat == 1
    refused("FAILED_PRECONDITION", "SEAT_TAKEN", partial(join, seat=1))
    refused("FAILED_PRECONDITION", "MATCH_FULL", join)


@provokes("MATCH_NOT_FOUND")
def test_a_match_that_never_was_is_not_found(server: Server) -> None:
    request = m.JoinMatchRequest(request_id=new_id(), join_code="0000-0000-0000-0000")
    refusal = refused("NOT_FOUND", "MATCH_NOT_FOUND", partial(server.matches.JoinMatch, request))
    assert refusal.details["ResourceInfo"].resource_type == "match"
    nothing = Table(match_id=new_id())
    for ask in every_call(server, nothing):
        metadata = bearer(crafted(nothing))
        refusal = refused("NOT_FOUND", "MATCH_NOT_FOUND", partial(ask, metadata))
        assert refusal.details["ResourceInfo"].resource_type == "match"


def test_a_match_that_expired_is_not_found_and_its_streams_say_so(
    forgetful_server: Server,
) -> None:
    table = two_seats(forgetful_server)
    request = m.StreamViewRequest(match_id=table.match_id)
    messages = list(forgetful_server.matches.StreamView(request, timeout=60))
    kinds = [message.WhichOneof("message") for message in messages]
    assert kinds[0] == "snapshot" and kinds[-1] == "end", kinds
    assert set(kinds[1:-1]) <= {"heartbeat"}, kinds
    assert {message.version for message in messages} == {1}
    assert messages[-1].end.reason == m.END_REASON_MATCH_EXPIRED
    for ask in every_call(forgetful_server, table):
        metadata = bearer(table.tokens[0])
        refused("NOT_FOUND", "MATCH_NOT_FOUND", partial(ask, metadata))


# What was asked before


@provokes("ACTION_ID_REUSED")
def test_an_action_id_stands_for_one_action(server: Server) -> None:
    table = two_seats(server)
    metadata = bearer(table.tokens[0])
    first, second = view(server, table, table.tokens[0]).legal_actions[:2]
    submit = table.action(first)
    server.matches.SubmitAction(submit, metadata=metadata)
    others = [
        table.action(second, action_id=submit.action_id),
        table.action(first, action_id=submit.action_id, decision=1),
    ]
    for other in others:
        ask = partial(server.matches.SubmitAction, other, metadata=metadata)
        refused("INVALID_ARGUMENT", "ACTION_ID_REUSED", ask)
    assert server.matches.SubmitAction(submit, metadata=metadata).replayed


@provokes("REQUEST_ID_REUSED")
def test_a_request_id_stands_for_one_request(server: Server) -> None:
    create = create_request([taken("a"), left_open(), left_open()])
    created = server.matches.CreateMatch(create)
    create.seats[0].name = "b"
    ask = partial(server.matches.CreateMatch, create)
    refused("INVALID_ARGUMENT", "REQUEST_ID_REUSED", ask)

    join = m.JoinMatchRequest(request_id=new_id(), join_code=created.join_code, name="c")
    server.matches.JoinMatch(join)
    join.name = "d"
    ask = partial(server.matches.JoinMatch, join)
    refused("INVALID_ARGUMENT", "REQUEST_ID_REUSED", ask)

    table = Table.of(created)
    renew = m.RenewTokenRequest(match_id=table.match_id, request_id=new_id())
    renewed = server.matches.RenewToken(renew, metadata=bearer(table.tokens[0]))
    metadata = bearer(renewed.seat_token.token)
    ask = partial(server.matches.RenewToken, renew, metadata=metadata)
    refused("INVALID_ARGUMENT", "REQUEST_ID_REUSED", ask)


# What was done too often


@provokes("RATE_LIMITED")
def test_who_is_too_fast_is_told_how_long_to_wait() -> None:
    with Server("--rate-limits", "on", "--seat-rate", "1/min") as hurried:
        table = two_seats(hurried)
        act(hurried, table, 0)
        submit = table.action(play(1))
        ask = partial(hurried.matches.SubmitAction, submit, metadata=bearer(table.tokens[0]))
        refusal = refused("RESOURCE_EXHAUSTED", "RATE_LIMITED", ask)
        assert refusal.details["RetryInfo"].retry_delay.seconds > 30
        (violation,) = refusal.details["QuotaFailure"].violations
        assert violation.subject == "actions of the seat"


@provokes("STREAM_QUOTA")
def test_only_so_many_watch_a_match() -> None:
    with Server("--spectators", "1") as small:
        table = two_seats(small)
        request = m.StreamViewRequest(match_id=table.match_id)
        first = small.matches.StreamView(request)
        next(first)
        ask = partial(next, small.matches.StreamView(request))
        refusal = refused("RESOURCE_EXHAUSTED", "STREAM_QUOTA", ask)
        (violation,) = refusal.details["QuotaFailure"].violations
        assert violation.subject == "spectators of the match"
        first.cancel()
