"""Recordings of crowded tables, each spoiled in one way, are found bad whatever the game."""

import asyncio
import copy
import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from parlor_client import recording
from parlor_client.crowd import offered
from parlor_client.faults import Fault, Kind, Struck, Traces, draw
from parlor_client.findings import Report, Rule
from parlor_client.history import History
from parlor_client.recording import Recording, Viewer
from parlor_client.server import Server
from parlor_client.table import CLIENTS, CrowdedTable
from test_checker import (
    Spoiled,
    acknowledge_two_actions_with_one_version,
    acknowledge_with_two_versions,
    begin_anew,
    begin_in_the_middle,
    carry_out_a_repeat,
    carry_out_before_what_came_before,
    drop_an_event,
    drop_an_update,
    end_too_soon,
    leave_an_action_unanswered,
    never_end,
    refuse_what_was_carried_out,
    refuse_without_need,
    repeat_an_update,
    send_nothing,
    swap_two_updates,
    tell_before_it_is_sent,
)

GAMES = ("candy", "neapolitan", "neon")
LATE_AT = 24


@pytest.fixture(scope="module")
def good(
    lively_server: Server, loop: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Recording]:
    """A match of each game that is left before its end, but for what is over sooner."""
    folder = tmp_path_factory.mktemp("crowded")
    games = {game.summary.game_id: game for game in loop.run(offered(lively_server.address))}
    for name in GAMES:
        settled: list[None] = []
        table = CrowdedTable(
            folder / name,
            [lively_server.address] * 2,
            random.Random(name),
            lambda settled=settled: len(settled) >= LATE_AT,
            lambda settled=settled: settled.append(None),
        )
        loop.run(table.play(games[name]))
    return {name: recording.read(folder / name) for name in GAMES}


def judge(recording: Recording, *, may_forget: bool = False) -> Report:
    """Judges a recording without a model of its game."""
    report = Report()
    History(recording, report, may_forget=may_forget).check()
    return report


@pytest.mark.parametrize("game", GAMES)
def test_a_good_recording_of_a_crowded_table_is_found_good(
    good: dict[str, Recording], game: str
) -> None:
    report = judge(good[game])
    assert not report.findings, report
    followed = [viewer for viewer in good[game].viewers if "replay" not in viewer.name]
    assert len(followed) == CLIENTS
    assert report.counts["actions accepted"] == good[game].found.version - 1 - len(
        good[game].found.seats
    )
    assert report.counts["refused: REVISION_CONFLICT"] > 0, "nobody raced anybody"


def tell_something_else(of: Spoiled) -> None:
    update = of.update(of.spectator, of.middle).update
    update.CopyFrom(of.update(of.spectator, of.middle - 1).update)
    update.view.version = of.middle


def look_at_something_else(of: Spoiled) -> None:
    viewer, line = next(of.lines("looked"))
    line.view.decisions.add(decision=1, seat=viewer.seat)


def look_at_what_is_old(of: Spoiled) -> None:
    old = of.update(of.spectator, of.middle)
    asked = max(line.at for _, line in of.lines("acted")) + 1
    looked = {"kind": "looked", "asked": asked, "view": old.update.view}
    of.spectator.lines.insert(-1, SimpleNamespace(**vars(old) | looked))


def begin_with_what_is_old(of: Spoiled) -> None:
    viewer, line = next(of.lines("snapshot"))
    opened = viewer.of("opened")[0]
    opened.at = max(line.at for _, line in of.lines("acted")) + 1


def start_with_something_else(of: Spoiled) -> None:
    line = next(line for _, line in of.lines("snapshot"))
    line.view.decisions.add(decision=1)


def lose_the_last_action(of: Spoiled) -> None:
    last = of.recording.found.version
    of.recording.found.version -= 1
    for viewer in of.viewers:
        told = [line for line in viewer.of("snapshot", "update") if line.version == last]
        viewer.lines = [line for line in viewer.lines if line not in told]


def lose_an_action_for_another(of: Spoiled) -> None:
    """What was acknowledged is not what everyone was told."""
    _, line = of.acted(of.middle)
    _, other = of.acted(of.middle - 1)
    for _, again in of.lines("acted"):
        if again.action_id == line.action_id:
            again.answer.events.extend(other.answer.events)


def answer_a_decision_twice(of: Spoiled) -> None:
    first = of.sent(of.middle)
    other = next(
        of.sent(version)
        for version in range(of.middle + 1, of.recording.found.version + 1)
        if of.sent(version).seat == first.seat
    )
    other.decision = first.decision


def carry_an_action_out_again(of: Spoiled) -> None:
    """Another version of the match is the same action again."""
    of.move(of.middle + 1, +1)
    for viewer in of.viewers:
        for line in viewer.of("acted", "looked"):
            if line.kind == "acted" and line.version > of.middle:
                line.version += 1
                line.answer.version += 1
                line.answer.view.version += 1
            elif line.kind == "looked" and line.view.version > of.middle:
                line.view.version += 1
        told = [line for line in viewer.of("update") if line.version == of.middle]
        for line in told:
            again = copy.deepcopy(line)
            again.version = again.update.view.version = of.middle + 1
            viewer.lines.insert(viewer.lines.index(line) + 1, again)


def take_two_seats_at_once(of: Spoiled) -> None:
    one, other, *_ = (line for _, line in of.lines("joined"))
    other.version = one.version


def answer_a_repeat_with_other_events(of: Spoiled) -> None:
    viewer, line = of.acted(of.middle)
    again = copy.deepcopy(line)
    again.answer.events.add()
    again.replayed = True
    viewer.lines.insert(-1, again)


# What is found then, among other things.
WAYS: dict[Callable[[Spoiled], None], Rule] = {
    drop_an_update: Rule.GAP,
    repeat_an_update: Rule.REPEAT,
    swap_two_updates: Rule.ORDER,
    begin_in_the_middle: Rule.START,
    begin_anew: Rule.RESET,
    end_too_soon: Rule.END,
    never_end: Rule.END,
    tell_something_else: Rule.FORK,
    drop_an_event: Rule.FORK,
    look_at_something_else: Rule.FORK,
    start_with_something_else: Rule.FORK,
    lose_the_last_action: Rule.LOST,
    lose_an_action_for_another: Rule.LOST,
    answer_a_decision_twice: Rule.DOUBLED,
    carry_an_action_out_again: Rule.UNSENT,
    carry_out_a_repeat: Rule.DOUBLED,
    acknowledge_with_two_versions: Rule.DOUBLED,
    acknowledge_two_actions_with_one_version: Rule.DOUBLED,
    take_two_seats_at_once: Rule.DOUBLED,
    send_nothing: Rule.UNSENT,
    leave_an_action_unanswered: Rule.UNANSWERED,
    refuse_without_need: Rule.REFUSED,
    refuse_what_was_carried_out: Rule.ANSWER,
    answer_a_repeat_with_other_events: Rule.ANSWER,
    carry_out_before_what_came_before: Rule.TIME,
    tell_before_it_is_sent: Rule.EARLY,
    look_at_what_is_old: Rule.STALE,
    begin_with_what_is_old: Rule.STALE,
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("game", GAMES)
def test_a_spoiled_recording_of_a_crowded_table_is_found_bad(
    good: dict[str, Recording], game: str, way: Callable[[Spoiled], None]
) -> None:
    spoiled = Spoiled(copy.deepcopy(good[game]))
    way(spoiled)
    report = judge(spoiled.recording)
    assert WAYS[way] in {finding.rule for finding in report.findings}, report


class TestWhereAChangeMayBeLost:
    """What is shown before it is safe may be taken back; what was acknowledged may not."""

    @staticmethod
    def take_back(viewer: Viewer, of: Spoiled) -> None:
        """A viewer is told something else of a version, and to forget it, and starts over there."""
        line = of.update(viewer, of.middle)
        lost = copy.deepcopy(line)
        lost.update.view.decisions.add(decision=1)
        place = viewer.lines.index(line)
        reset = copy.deepcopy(of.update(viewer, of.middle - 1))
        vars(reset).update(kind="snapshot", forget=True, view=reset.update.view, at=line.at)
        lost.at = line.at - 1
        viewer.lines[place:place] = [lost, reset]

    def test_a_change_that_is_taken_back_is_no_fork(self, good: dict[str, Recording]) -> None:
        spoiled = Spoiled(copy.deepcopy(good["candy"]))
        self.take_back(spoiled.spectator, spoiled)
        report = judge(spoiled.recording, may_forget=True)
        assert not report.findings, report
        assert report.counts["streams that started over"] == 1
        assert report.counts["views that were taken back"] == 1
        rules = {finding.rule for finding in judge(spoiled.recording).findings}
        assert rules == {Rule.RESET, Rule.FORK}

    @pytest.mark.parametrize(
        "way", [tell_something_else, lose_an_action_for_another, drop_an_update]
    )
    def test_all_else_is_found_all_the_same(
        self, good: dict[str, Recording], way: Callable[[Spoiled], None]
    ) -> None:
        spoiled = Spoiled(copy.deepcopy(good["candy"]))
        way(spoiled)
        report = judge(spoiled.recording, may_forget=True)
        assert {finding.rule for finding in report.findings} == {WAYS[way]}, report


def test_the_faults_of_a_seed_are_always_the_same_and_of_as_many_kinds_as_can_be() -> None:
    kinds = tuple(Kind)
    faults = draw(random.Random(7), kinds, len(kinds) + 3, places=3)
    assert faults == draw(random.Random(7), kinds, len(kinds) + 3, places=3)
    assert faults != draw(random.Random(8), kinds, len(kinds) + 3, places=3)
    assert {fault.kind for fault in faults} == set(kinds)
    assert all(isinstance(fault, Fault) and fault.place in range(3) for fault in faults)


def test_a_fault_that_nobody_noticed_had_no_effect() -> None:
    def struck(kind: Kind, server: str, seen: int | None = None) -> Struck:
        return Struck(kind, server, 1_000, 2_000, seen)

    broken = SimpleNamespace(kind="broken", server="a", code="UNAVAILABLE", at=1_500)
    waited = SimpleNamespace(kind="acted", server="a", asked=1_500, at=2_500)
    viewer = Viewer("a viewer", [broken, waited])
    traces = Traces([Recording(None, [viewer])])
    for kind in (Kind.KILL, Kind.PAUSE):
        assert traces.effect(struck(kind, "a")) == 1
        assert traces.effect(struck(kind, "b")) == 0
    assert traces.effect(struck(Kind.CRASH, "b", seen=3)) == 3
    assert traces.effect(struck(Kind.CRASH, "a", seen=0)) == 0
