"""The player that the README shows, run as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from parlor_client.server import BINARY, Server
from parlor_client.stubs import ROOT, matches

PATIENCE_SECS = 60


def test_the_player_of_the_readme_plays_a_whole_match_at_the_rates_of_a_server(
    tmp_path: Path,
) -> None:
    program = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)[1]
    assert "127.0.0.1:50051" in program
    stubs = Path(matches.__file__).parents[2]
    with Server("--rate-limits", "on") as server:
        path = tmp_path / "player.py"
        path.write_text(program.replace("127.0.0.1:50051", server.address), encoding="utf-8")
        player = subprocess.Popen(
            [sys.executable, "-u", path],
            env={**os.environ, "PYTHONPATH": str(stubs)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            code = player.stdout.readline().removeprefix("join with ").strip()
            command = [BINARY, "play", "--server", f"http://{server.address}", "--join", code]
            rival = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECS, check=True
            )
            said, errors = player.communicate(timeout=PATIENCE_SECS)
        finally:
            player.kill()
    assert player.returncode == 0, errors
    assert "over: " in rival.stdout
    assert said.startswith("won by ")
