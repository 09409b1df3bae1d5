"""A request that is sent again gets the first answer, byte for byte, marked as a repeat."""

from collections.abc import Callable

from google.protobuf.message import Message

from parlor_client.duel import act, play_to_the_end, two_seats, view
from parlor_client.requests import Table, bearer, create_request, left_open, new_id, taken
from parlor_client.server import Server
from parlor_client.stubs import matches as m


def check_repeat(ask: Callable[[], Message], first: Message) -> None:
    """Asks again: all but the mark is what it was."""
    assert not first.replayed
    again = ask()
    assert again.replayed
    again.replayed = False
    assert again.SerializeToString(deterministic=True) == first.SerializeToString(
        deterministic=True
    )


def test_a_match_is_created_once(server: Server) -> None:
    request = create_request([taken("a", b"x"), left_open()], visibility=m.VISIBILITY_PRIVATE)
    first = server.matches.CreateMatch(request)
    check_repeat(lambda: server.matches.CreateMatch(request), first)
    join = m.JoinMatchRequest(request_id=new_id(), join_code=first.join_code)
    server.matches.JoinMatch(join)
    act_anyone(server, Table.of(first))
    check_repeat(lambda: server.matches.CreateMatch(request), first)


def act_anyone(server: Server, table: Table) -> None:
    """The seat of the creator acts, if it is its turn."""
    if view(server, table, table.tokens[0]).legal_actions:
        act(server, table, 0)


def test_a_seat_is_taken_once(server: Server) -> None:
    created = server.matches.CreateMatch(create_request([taken(), left_open(), left_open()]))
    request = m.JoinMatchRequest(
        request_id=new_id(), join_code=created.join_code, name="b", entropy=b"y"
    )
    first = server.matches.JoinMatch(request)
    assert (first.seat_token.seat, first.match.version) == (1, 2)
    check_repeat(lambda: server.matches.JoinMatch(request), first)
    server.matches.JoinMatch(m.JoinMatchRequest(request_id=new_id(), join_code=created.join_code))
    check_repeat(lambda: server.matches.JoinMatch(request), first)


def test_a_join_code_is_read_as_people_type_it(server: Server) -> None:
    created = server.matches.CreateMatch(create_request([taken(), left_open(), left_open()]))
    for typed in (created.join_code.lower(), created.join_code.replace("-", " ")):
        joined = server.matches.JoinMatch(m.JoinMatchRequest(request_id=new_id(), join_code=typed))
        assert joined.match.match_id == created.match.match_id


def test_a_token_is_renewed_once_also_when_asked_with_the_one_it_revoked(server: Server) -> None:
    table = two_seats(server)
    request = m.RenewTokenRequest(match_id=table.match_id, request_id=new_id())

    def renew() -> m.RenewTokenResponse:
        return server.matches.RenewToken(request, metadata=bearer(table.tokens[0]))

    first = renew()
    check_repeat(renew, first)
    assert first.seat_token.token != table.tokens[0]
    assert view(server, table, first.seat_token.token).seat == 0


def test_an_action_is_carried_out_once_also_when_the_match_has_moved_on(server: Server) -> None:
    table = two_seats(server)
    request = table.action(view(server, table, table.tokens[0]).legal_actions[0])

    def submit() -> m.SubmitActionResponse:
        return server.matches.SubmitAction(request, metadata=bearer(table.tokens[0]))

    first = submit()
    check_repeat(submit, first)
    act(server, table, 1)
    check_repeat(submit, first)
    play_to_the_end(server, table)
    check_repeat(submit, first)


def test_two_seats_may_use_the_same_action_id(server: Server) -> None:
    table = two_seats(server)
    action_id = new_id()
    for seat in (0, 1):
        action = view(server, table, table.tokens[seat]).legal_actions[0]
        request = table.action(action, action_id=action_id)
        answer = server.matches.SubmitAction(request, metadata=bearer(table.tokens[seat]))
        assert not answer.replayed
