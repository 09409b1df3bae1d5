"""Whole matches of every game with every number of seats, each seat with its own stream."""

import asyncio
import hashlib
import itertools
import random
from collections.abc import Iterator

import grpc
import pytest

from conftest import shared_server
from parlor_client import refusal
from parlor_client.follower import Follower
from parlor_client.player import Player, open_channel
from parlor_client.requests import Table, create_request, left_open, new_id, taken
from parlor_client.server import Server
from parlor_client.stubs import MatchStub, catalog, games
from parlor_client.stubs import matches as m


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every game and number of seats in the catalog."""
    if "seats" in metafunc.fixturenames:
        found = shared_server().catalog.ListGames(catalog.ListGamesRequest()).games
        tables = [
            pytest.param(game.game_id, seats, id=f"{game.game_id}-{seats}")
            for game in found
            for seats in range(game.min_seats, game.max_seats + 1)
        ]
        metafunc.parametrize(("game", "seats"), tables)


def default_options(game: str) -> games.GameOptions:
    """The game, as it is when nothing is chosen."""
    options = games.GameOptions()
    getattr(options, game).SetInParent()
    return options


def other_options(server: Server, game: str, seats: int) -> Iterator[games.GameOptions]:
    """The game with every combination of its switches, and the rest chosen that the catalog offers
    and that is not a list of cards."""
    offered = server.catalog.GetGame(catalog.GetGameRequest(game_id=game)).options
    switches = [option.name for option in offered if option.WhichOneof("kind") == "switch"]
    for chosen in itertools.product([False, True], repeat=len(switches)):
        options = default_options(game)
        arm = getattr(options, game)
        for name, on in zip(switches, chosen, strict=True):
            setattr(arm, name, on)
        for option in offered:
            match option.WhichOneof("kind"):
                case "number":
                    setattr(arm, option.name, option.number.min)
                case "seat":
                    setattr(arm, option.name, seats - 1)
        yield options


def test_a_whole_match_is_played_and_every_stream_tells_all_of_it(
    server: Server, loop: asyncio.Runner, game: str, seats: int, seed: int
) -> None:
    choices = [default_options(game), *other_options(server, game, seats)]
    played = [loop.run(whole_match(server, seats, options, seed)) for options in choices]
    # How many seats there can be may depend on the options.
    assert any(played), f"{game} says that it has tables of {seats}, but none was created"


async def whole_match(server: Server, seats: int, options: games.GameOptions, seed: int) -> bool:
    """Plays a match; says whether this table can be with these options."""
    rng = random.Random(seed)
    channels = [await open_channel(server.address) for _ in range(3)]
    try:
        stubs = [MatchStub(channel) for channel in channels]
        table = await create(stubs[0], seats, options, rng)
        if table is None:
            return False
        players = [Player(stubs[seat % 3], table, seat, rng) for seat in table.tokens]
        spectator = Follower(stubs[1], table.match_id, None)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(watch(spectator))
            for player in players:
                tasks.create_task(player.play())
            for _ in range(len(table.tokens), seats):
                seat = await join(stubs[2], table, rng)
                players.append(Player(stubs[seat % 3], table, seat, rng))
                tasks.create_task(players[-1].play())
        for player in players:
            await player.resume_everywhere()
        found = (await stubs[2].GetMatch(m.GetMatchRequest(match_id=table.match_id))).match
        check_the_end(found, players, spectator)
        return True
    finally:
        for channel in channels:
            await channel.close()


async def create(
    stub: MatchStub, seats: int, options: games.GameOptions, rng: random.Random
) -> Table | None:
    """A match with some of its seats open; nothing, if the game has no such table."""
    new = [taken("first", b"entropy")]
    new += [rng.choice([taken(f"seat {seat}"), left_open()]) for seat in range(1, seats)]
    try:
        return Table.of(await stub.CreateMatch(create_request(new, options)))
    except grpc.RpcError as error:
        details = refusal.read(error)
        assert details.info.reason == "INVALID_FIELD", details
        assert details.fields == ["seats"], details
        return None


async def join(stub: MatchStub, table: Table, rng: random.Random) -> int:
    """Takes the next open seat."""
    request = m.JoinMatchRequest(
        request_id=new_id(), join_code=table.join_code, name="joined", entropy=rng.randbytes(8)
    )
    joined = await stub.JoinMatch(request)
    assert joined.match.match_id == table.match_id
    table.tokens[joined.seat_token.seat] = joined.seat_token.token
    return joined.seat_token.seat


async def watch(spectator: Follower) -> None:
    """Looks on, and is never asked for anything."""
    async for message in spectator.follow():
        view = getattr(message, message.WhichOneof("message")).view
        assert not view.HasField("seat")
        assert not view.legal_actions


def check_the_end(found: m.Match, players: list[Player], spectator: Follower) -> None:
    """No action is lost or doubled, and everyone saw the same match to its end."""
    followers = [spectator, *(player.follower for player in players)]
    assert {follower.version for follower in followers} == {found.version}

    acted = sorted(version for player in players for version in player.answers)
    started = acted[0]
    assert acted == list(range(started, found.version + 1)), "each version is one action"

    for version in range(started, found.version + 1):
        # Each opened its stream in its own time, some of them after others had begun to play.
        there = [follower for follower in followers if version >= min(follower.views)]
        assert there, "whoever acted was there"
        seen = [follower.views[version] for follower in there]
        for view in seen:
            assert view.state == seen[0].state
            assert list(view.decisions) == list(seen[0].decisions)
            assert view.outcome == seen[0].outcome

    assert found.state == m.MATCH_STATE_OVER
    assert hashlib.sha256(found.secret).digest() == found.commitment
    for follower in followers:
        assert follower.views[found.version].outcome == found.outcome
        ended = [
            event.match_ended
            for event in follower.updates[found.version].events
            if event.HasField("match_ended")
        ]
        assert [(end.outcome, end.secret) for end in ended] == [(found.outcome, found.secret)]
    assert len(found.outcome.scores) == len(players)
