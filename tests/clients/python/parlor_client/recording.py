"""What viewers of a match sent and received, as `parlor play --record` writes it too.

A recording is a file for each viewer with a JSON object on each line: `at`, in microseconds since
1970, the viewer's `seat`, a `kind`, and what belongs to that kind; messages are in hexadecimal.

    joined    took a seat: `version`, `entropy`
    opened    opens a stream: `server`, whether `resumed`
    broken    a stream ended that is to be taken up again: `server`, `code`
    snapshot  `version`, `view`, whether to `forget` what came before
    update    `version`, `update`
    heartbeat `version`
    ended     all was told: perhaps `reason`, `resumed`
    left      the match goes on no further, and all was told
    failed    the viewer gave up: `code`, `reason`
    sent      an action, before its first try: `action_id`, `decision`, `action`
    acted     it was carried out: `action_id`, `version`, `answer`, whether `replayed`
    refused   it was not: `action_id`, `code`, `reason`
    lost      a try got no answer, and is made again: `action_id`, `server`, `code`, `reason`
    looked    asked for its view: `asked` (when), `view`

Where Python wrote them, lines about a try also say which `server` was asked, and when: `asked`.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from google.protobuf.message import Message

from parlor_client.stubs import games
from parlor_client.stubs import matches as m

MESSAGES = {
    "action": games.GameAction,
    "answer": m.SubmitActionResponse,
    "update": m.Update,
    "view": m.View,
}
SUMMARY = "match.json"


def now() -> int:
    """The time, as a recording has it."""
    return time.time_ns() // 1000


class Recorder:
    """Writes down what one viewer sends and receives."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self.seat: int | None = None

    def write(self, kind: str, **fields: object) -> None:
        """Writes a line."""
        line = {"at": now(), "seat": self.seat, "kind": kind}
        for name, value in fields.items():
            packed = isinstance(value, Message)
            line[name] = value.SerializeToString().hex() if packed else value
        self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Ends the recording."""
        self._file.close()


@dataclass
class Viewer:
    """What one viewer recorded."""

    name: str
    lines: list[SimpleNamespace]

    @property
    def seat(self) -> int | None:
        """Its seat; a spectator has none."""
        return self.lines[-1].seat if self.lines else None

    def of(self, *kinds: str) -> list[SimpleNamespace]:
        """The lines of these kinds."""
        return [line for line in self.lines if line.kind in kinds]


@dataclass
class Recording:
    """What all viewers of a match recorded, and what the service said of it afterwards."""

    found: m.Match
    viewers: list[Viewer]


def write_summary(folder: Path, found: m.Match) -> None:
    """Adds what the service says of a match to the recordings of its viewers."""
    summary = {"found": found.SerializeToString().hex()}
    (folder / SUMMARY).write_text(json.dumps(summary), encoding="utf-8")


def read(folder: Path) -> Recording:
    """Reads the recordings of one match."""
    summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    viewers = [
        Viewer(path.stem, [_read_line(line) for line in path.read_text("utf-8").splitlines()])
        for path in sorted(folder.glob("*.jsonl"))
    ]
    return Recording(m.Match.FromString(bytes.fromhex(summary["found"])), viewers)


def read_players(path: Path) -> list[Viewer]:
    """Reads what all players of one `parlor play` recorded."""
    lines = [_read_line(line) for line in path.read_text("utf-8").splitlines()]
    seats = sorted({line.seat for line in lines})
    return [
        Viewer(f"seat {seat}", [line for line in lines if line.seat == seat]) for seat in seats
    ]


def _read_line(text: str) -> SimpleNamespace:
    line = SimpleNamespace(**json.loads(text))
    for name in MESSAGES.keys() & vars(line).keys():
        setattr(line, name, MESSAGES[name].FromString(bytes.fromhex(getattr(line, name))))
    return line
