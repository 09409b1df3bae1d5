"""What measures an instance while people play gives figures."""

import os
import re
import subprocess
import sys
from pathlib import Path

SPREAD = r"p50 ([\d.]+), p95 ([\d.]+), most ([\d.]+)$"


def test_an_evening_is_measured() -> None:
    short = ["--tables", "6", "--idle", "10", "--begin", "4", "--seconds", "4"]
    command = [sys.executable, "-m", "parlor_client.evening", *short]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (rate,) = re.findall(r"^([\d.]+) actions/s", done.stdout, re.MULTILINE)
    assert float(rate) > 0
    cores, memory = re.findall(SPREAD, done.stdout, re.MULTILINE)
    for half, p95, most in (map(float, cores), map(float, memory)):
        assert 0 <= half <= p95 <= most
    assert float(memory[0]) > 1, "MiB"
