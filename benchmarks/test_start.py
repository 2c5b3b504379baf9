"""Cold starts, each a process of its own, beside a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

from measuring import CORE, Measure

from bigtop.notation import Position

ONE_MOVE = "37/x2/x - 0 - 12+1/10+2/10+0 -"
"""The last card in hand and nothing to beat: it can only be shown."""


BAD = "x11/" + "37." * 33_000
"""A position of 100,000 characters that is none."""


def started(command: Sequence[str], status: int = 0) -> Mapping[str, int]:
    done = subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert done.returncode == status
    return {"starts": 1}


def test_python(measure: Measure) -> None:
    measure("start Python", CORE, lambda: started([sys.executable, "-c", "pass"]), runs=15)


def test_import(measure: Measure) -> None:
    command = [sys.executable, "-c", "import bigtop"]
    measure("import bigtop", CORE, lambda: started(command), runs=15)


def test_hint(measure: Measure) -> None:
    """The whole command on a position with one move."""
    assert len(Position.parse(ONE_MOVE).legal_moves()) == 1
    command = [str(Path(sysconfig.get_path("scripts")) / "bigtop"), "hint", ONE_MOVE]
    measure("bigtop hint", CORE, lambda: started(command), runs=15)


def test_refusal(measure: Measure) -> None:
    """The whole command on a long position that cannot be read."""
    command = [str(Path(sysconfig.get_path("scripts")) / "bigtop"), "hint", BAD]
    measure("refuse 100,000 characters", CORE, lambda: started(command, 2), runs=15)
