"""The checker finds what is wrong: good recordings, each spoiled in one way."""

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from parlor_client import recording
from parlor_client.checker import check, neon_event
from parlor_client.findings import Rule
from parlor_client.recording import Recording, Viewer
from parlor_client.server import Server
from parlor_client.stubs import matches as m
from parlor_client.viewers import Tables

SEATS = (2, 4)


@pytest.fixture(scope="module")
def good(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Recording]:
    """A match of two and one of four, as both clients record them."""
    folder = tmp_path_factory.mktemp("recordings")
    with Tables([server.address]) as tables:
        for seats in SEATS:
            tables.play(folder / str(seats), seats, random.Random(seats), with_rust=True)
    return {seats: recording.read(folder / str(seats)) for seats in SEATS}


@pytest.mark.parametrize("seats", SEATS)
def test_a_good_recording_is_found_good(good: dict[int, Recording], seats: int) -> None:
    report = check([good[seats]])
    assert not report.findings, report
    assert report.counts["actions accepted"] > 10
    assert report.counts["frames checked"] > 10 * seats
    assert report.counts["views compared"] > report.counts["frames checked"] / 2


class Spoiled:
    """A recording that can be spoiled."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.viewers = recording.viewers
        # A version in the middle of the match.
        self.middle = recording.found.version // 2

    @property
    def spectator(self) -> Viewer:
        return next(viewer for viewer in self.viewers if viewer.seat is None)

    @property
    def seated(self) -> list[Viewer]:
        return [viewer for viewer in self.viewers if viewer.seat is not None]

    def lines(self, kind: str) -> Iterator[tuple[Viewer, SimpleNamespace]]:
        for viewer in self.viewers:
            for line in viewer.of(kind):
                yield viewer, line

    def update(self, viewer: Viewer, version: int) -> SimpleNamespace:
        return next(line for line in viewer.of("update") if line.version == version)

    def acted(self, version: int) -> tuple[Viewer, SimpleNamespace]:
        """The first answer to the action of a version, and who got it."""
        acted = ((viewer, line) for viewer, line in self.lines("acted") if line.version == version)
        return next(acted)

    def sent(self, version: int) -> SimpleNamespace:
        viewer, acted = self.acted(version)
        return next(line for line in viewer.of("sent") if line.action_id == acted.action_id)

    def event(self, viewer: Viewer, arm: str) -> object:
        """The first event of this kind that a viewer was told of."""
        events = (event for line in viewer.of("update") for event in line.update.events)
        return next(happened for found, happened in map(neon_event, events) if found == arm)

    def move(self, first: int, by: int) -> None:
        """Renumbers all that viewers were told, from this version on."""
        self.recording.found.version += by
        for viewer in self.viewers:
            for line in viewer.of("snapshot", "update", "heartbeat"):
                if line.version >= first:
                    line.version += by
                    if line.kind == "update":
                        line.update.view.version += by


def drop_an_update(of: Spoiled) -> None:
    of.spectator.lines.remove(of.update(of.spectator, of.middle))


def repeat_an_update(of: Spoiled) -> None:
    lines = of.spectator.lines
    line = of.update(of.spectator, of.middle)
    lines.insert(lines.index(line) + 1, line)


def swap_two_updates(of: Spoiled) -> None:
    lines = of.spectator.lines
    one, other = (lines.index(of.update(of.spectator, of.middle + n)) for n in (0, 1))
    lines[one], lines[other] = lines[other], lines[one]


def begin_in_the_middle(of: Spoiled) -> None:
    lines = of.spectator.lines
    del lines[: lines.index(of.update(of.spectator, 3))]


def begin_anew(of: Spoiled) -> None:
    line = of.update(of.spectator, of.middle)
    vars(line).update(kind="snapshot", forget=True, view=line.update.view)


def end_too_soon(of: Spoiled) -> None:
    of.spectator.lines.remove(of.update(of.spectator, of.recording.found.version))


def never_end(of: Spoiled) -> None:
    of.spectator.lines.pop()


def change_the_table(of: Spoiled) -> None:
    cards = of.update(of.spectator, of.middle).update.view.game.neon.victory_point_cards
    cards[0] = cards[0] % 6 + 1


def change_a_hand_size(of: Spoiled) -> None:
    of.update(of.spectator, of.middle).update.view.game.neon.seats[1].hand_size += 1


def change_a_pile_size(of: Spoiled) -> None:
    of.update(of.spectator, of.middle).update.view.game.neon.seats[1].pile_size += 1


def change_an_own_pile(of: Spoiled) -> None:
    last = of.recording.found.version
    of.update(of.seated[0], last).update.view.game.neon.own.pile.append(6)


def change_a_score(of: Spoiled) -> None:
    last = of.recording.found.version
    of.update(of.spectator, last).update.view.game.neon.seats[0].result.score += 1


def change_a_winner(of: Spoiled) -> None:
    last = of.recording.found.version
    of.update(of.spectator, last).update.view.outcome.winners.append(0)


def change_a_view_that_is_read(of: Spoiled) -> None:
    _, line = next(of.lines("looked"))
    line.view.game.neon.round += 1


def change_the_view_of_an_answer(of: Spoiled) -> None:
    _, line = of.acted(of.middle)
    line.answer.view.game.neon.round += 1
    for _, again in of.lines("acted"):
        if again.action_id == line.action_id:
            again.answer.view.CopyFrom(line.answer.view)


def change_an_event(of: Spoiled) -> None:
    cards = of.event(of.spectator, "round_ended").victory_point_cards
    cards[0] = cards[0] % 6 + 1


def drop_an_event(of: Spoiled) -> None:
    del of.update(of.spectator, of.middle).update.events[:]


def change_a_seat_that_was_taken(of: Spoiled) -> None:
    of.update(of.spectator, 2).update.events[0].seat_taken.taken.name = "nobody"


def leak_a_hand_to_a_spectator(of: Spoiled) -> None:
    own = of.update(of.seated[0], of.middle).update.view.game.neon.own
    of.update(of.spectator, of.middle).update.view.game.neon.own.CopyFrom(own)


def leak_a_hand_to_another_seat(of: Spoiled) -> None:
    owns = [of.update(viewer, of.middle).update.view.game.neon.own for viewer in of.seated]
    owns.sort(key=lambda own: len(own.hand))
    owns[0].hand.extend(owns[-1].hand)


def leak_a_deal(of: Spoiled) -> None:
    of.event(of.spectator, "dealt").hand.append(1)


def leak_a_second_hand(of: Spoiled) -> None:
    of.event(of.spectator, "second_hand_taken").hand.append(1)


def leak_a_pile(of: Spoiled) -> None:
    of.update(of.spectator, of.middle).update.view.game.neon.seats[0].result.pile.append(1)


def ask_the_wrong_seat(of: Spoiled) -> None:
    (decision,) = of.update(of.spectator, of.middle).update.view.decisions
    decision.seat = (decision.seat + 1) % 2


def open_a_decision_too_early(of: Spoiled) -> None:
    of.update(of.spectator, of.middle).update.view.decisions[0].decision -= 1


def keep_a_legal_action_back(of: Spoiled) -> None:
    shown = (line.update.view for _, line in of.lines("update"))
    next(view for view in shown if view.legal_actions).legal_actions.pop()


def offer_an_action_twice(of: Spoiled) -> None:
    shown = (line.update.view for _, line in of.lines("update"))
    offered = next(view for view in shown if view.legal_actions).legal_actions
    offered.append(offered[0])


def forget_the_last_action(of: Spoiled) -> None:
    last = of.recording.found.version
    of.recording.found.version -= 1
    for viewer in of.viewers:
        viewer.lines.remove(of.update(viewer, last))


def forget_an_action(of: Spoiled) -> None:
    for viewer in of.viewers:
        viewer.lines.remove(of.update(viewer, of.middle))
    of.move(of.middle + 1, -1)


def double_an_action(of: Spoiled) -> None:
    of.move(of.middle + 1, +1)
    for viewer in of.viewers:
        line = of.update(viewer, of.middle)
        again = copy.deepcopy(line)
        again.version = again.update.view.version = of.middle + 1
        viewer.lines.insert(viewer.lines.index(line) + 1, again)


def acknowledge_with_two_versions(of: Spoiled) -> None:
    viewer, line = of.acted(of.middle)
    viewer.lines.insert(-1, SimpleNamespace(**vars(line) | {"version": of.middle + 1}))


def carry_out_a_repeat(of: Spoiled) -> None:
    viewer, line = next(pair for pair in of.lines("acted") if not pair[1].replayed)
    viewer.lines.insert(-1, line)


def acknowledge_two_actions_with_one_version(of: Spoiled) -> None:
    viewer, line = of.acted(of.middle)
    for kind in (of.sent(of.middle), line):
        viewer.lines.insert(-1, SimpleNamespace(**vars(kind) | {"action_id": "another"}))


def send_nothing(of: Spoiled) -> None:
    viewer, _ = of.acted(of.middle)
    action_id = of.sent(of.middle).action_id
    viewer.lines = [line for line in viewer.lines if getattr(line, "action_id", "") != action_id]


def leave_an_action_unanswered(of: Spoiled) -> None:
    sent = SimpleNamespace(**vars(of.sent(of.middle)) | {"action_id": "another"})
    of.viewers[0].lines.insert(0, sent)


def refuse_without_need(of: Spoiled) -> None:
    leave_an_action_unanswered(of)
    sent = of.viewers[0].lines[0]
    refused = {"kind": "refused", "code": 9, "reason": "ILLEGAL_ACTION"}
    of.viewers[0].lines.insert(1, SimpleNamespace(**vars(sent) | refused))


def refuse_what_was_carried_out(of: Spoiled) -> None:
    viewer, line = of.acted(of.middle)
    refused = {"kind": "refused", "code": 10, "reason": "REVISION_CONFLICT"}
    viewer.lines.insert(-1, SimpleNamespace(**vars(line) | refused))


def answer_a_repeat_otherwise(of: Spoiled) -> None:
    viewer, line = of.acted(of.middle)
    again = copy.deepcopy(line)
    again.answer.view.game.neon.round += 1
    again.replayed = True
    viewer.lines.insert(-1, again)


def carry_out_before_what_came_before(of: Spoiled) -> None:
    of.sent(of.middle).at = of.acted(of.middle + 2)[1].at + 1


def tell_before_it_is_sent(of: Spoiled) -> None:
    of.update(of.spectator, of.middle).at = of.sent(of.middle).at - 1


def read_what_is_old(of: Spoiled) -> None:
    _, line = next(of.lines("looked"))
    line.asked = max(line.at for _, line in of.lines("acted")) + 1


def carry_out_what_is_not_allowed(of: Spoiled) -> None:
    sent = of.sent(of.middle).action.neon
    cards = getattr(sent, sent.WhichOneof("action")).values
    cards.extend([cards[0]] * 10)
    told = sorted(cards)
    for _, line in of.lines("update"):
        if line.version == of.middle:
            _, happened = neon_event(line.update.events[0])
            happened.values[:] = told


def deal_too_few_cards(of: Spoiled) -> None:
    for viewer in of.viewers:
        for line in viewer.of("snapshot", "update"):
            view = line.view if line.kind == "snapshot" else line.update.view
            if view.game.neon.own.hand:
                view.game.neon.own.hand.pop()


def end_otherwise(of: Spoiled) -> None:
    of.recording.found.outcome.scores[0] += 1


def reveal_another_secret(of: Spoiled) -> None:
    of.recording.found.commitment = bytes(32)


# What is wrong with what one viewer saw, and all that is found then.
WHAT_ONE_SAW: dict[Callable[[Spoiled], None], Rule] = {
    drop_an_update: Rule.GAP,
    repeat_an_update: Rule.REPEAT,
    swap_two_updates: Rule.ORDER,
    begin_anew: Rule.RESET,
    end_too_soon: Rule.END,
    never_end: Rule.END,
    change_the_table: Rule.VIEW,
    change_a_hand_size: Rule.VIEW,
    change_a_pile_size: Rule.VIEW,
    change_an_own_pile: Rule.VIEW,
    change_a_score: Rule.VIEW,
    change_a_winner: Rule.VIEW,
    change_a_view_that_is_read: Rule.VIEW,
    change_the_view_of_an_answer: Rule.VIEW,
    change_an_event: Rule.EVENTS,
    drop_an_event: Rule.EVENTS,
    change_a_seat_that_was_taken: Rule.EVENTS,
    leak_a_hand_to_a_spectator: Rule.LEAK,
    leak_a_hand_to_another_seat: Rule.LEAK,
    leak_a_deal: Rule.LEAK,
    leak_a_second_hand: Rule.LEAK,
    leak_a_pile: Rule.LEAK,
    ask_the_wrong_seat: Rule.DECISIONS,
    open_a_decision_too_early: Rule.DECISIONS,
    keep_a_legal_action_back: Rule.LEGAL,
    offer_an_action_twice: Rule.LEGAL,
    carry_out_a_repeat: Rule.DOUBLED,
    acknowledge_two_actions_with_one_version: Rule.DOUBLED,
    leave_an_action_unanswered: Rule.UNANSWERED,
    refuse_without_need: Rule.REFUSED,
    refuse_what_was_carried_out: Rule.ANSWER,
    tell_before_it_is_sent: Rule.EARLY,
    read_what_is_old: Rule.STALE,
    carry_out_what_is_not_allowed: Rule.ILLEGAL,
    deal_too_few_cards: Rule.DEAL,
    end_otherwise: Rule.OUTCOME,
}

# What is wrong with the match, and what is found then, among other things.
WHAT_HAPPENED: dict[Callable[[Spoiled], None], Rule] = {
    begin_in_the_middle: Rule.START,
    forget_the_last_action: Rule.LOST,
    forget_an_action: Rule.LOST,
    double_an_action: Rule.UNSENT,
    send_nothing: Rule.UNSENT,
    acknowledge_with_two_versions: Rule.DOUBLED,
    answer_a_repeat_otherwise: Rule.ANSWER,
    carry_out_before_what_came_before: Rule.TIME,
    reveal_another_secret: Rule.OUTCOME,
}


@pytest.mark.parametrize("way", WHAT_ONE_SAW | WHAT_HAPPENED, ids=lambda way: way.__name__)
@pytest.mark.parametrize("seats", SEATS)
def test_a_spoiled_recording_is_found_bad(
    good: dict[int, Recording], seats: int, way: Callable[[Spoiled], None]
) -> None:
    # Only with two players is there a second hand.
    seats = 2 if way is leak_a_second_hand else seats
    spoiled = Spoiled(copy.deepcopy(good[seats]))
    way(spoiled)
    report = check([spoiled.recording])
    found = {finding.rule for finding in report.findings}
    if way in WHAT_ONE_SAW:
        assert found == {WHAT_ONE_SAW[way]}, report
    else:
        assert WHAT_HAPPENED[way] in found, report


def test_all_that_can_be_found_is_found_here() -> None:
    # What two who may see the same are told is compared where there is no model to compare it with.
    assert {*WHAT_ONE_SAW.values(), *WHAT_HAPPENED.values()} == set(Rule) - {Rule.FORK}
