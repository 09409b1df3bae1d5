"""A match of NeoN for two, played step by step."""

from parlor_client.requests import Table, bearer, create_request, taken
from parlor_client.server import Server
from parlor_client.stubs import games
from parlor_client.stubs import matches as m


def play(*values: int) -> games.GameAction:
    """A play of NeoN."""
    action = games.GameAction()
    action.neon.play.values.extend(values)
    return action


def two_seats(server: Server, visibility: int = m.VISIBILITY_PUBLIC) -> Table:
    """A match of two that has started; seat 0 plays first."""
    request = create_request([taken("a"), taken("b")], visibility=visibility)
    request.options.neon.first_player = 0
    return Table.of(server.matches.CreateMatch(request))


def view(server: Server, table: Table, token: str | None) -> m.View:
    """What whoever has this token sees."""
    request = m.GetViewRequest(match_id=table.match_id)
    return server.matches.GetView(request, metadata=bearer(token) if token else []).view


def act(server: Server, table: Table, seat: int) -> m.SubmitActionResponse:
    """Carries out the first action that the seat may."""
    action = view(server, table, table.tokens[seat]).legal_actions[0]
    metadata = bearer(table.tokens[seat])
    return server.matches.SubmitAction(table.action(action), metadata=metadata)


def play_to_the_end(server: Server, table: Table) -> None:
    """Plays until nobody may do anything."""
    while (now := view(server, table, table.tokens[0])).state != m.MATCH_STATE_OVER:
        act(server, table, now.decisions[0].seat)
