"""The line that tells how far a match or a tournament is, for people at a terminal only."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bigtop.cli import running

# tells every board, so that a fast machine has something to tell too
TELLS_ALL = "from bigtop.cli import running; running.PROGRESS_SECONDS = 0.0"
PROCESS = [sys.executable, "-c", f"{TELLS_ALL}; from bigtop.cli.main import main; main()"]
ENGINES = {"match": ["greedy", "planner"], "tournament": ["greedy", "random", "planner"]}
STANDING = {"match": r"margin -\d+\.\d\d \+- \d+\.\d\d", "tournament": r"planner leads, margin \+"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        return self.getvalue().split("\r\x1b[K")[1:]


def on_terminal(words: list[str]) -> tuple[str, list[str]]:
    """What a process prints, and the lines it shows one over the other on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROCESS, *words], stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        shown = b""
        # the end of a pseudo-terminal is no text on some systems, an error on others
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 65536):
                shown += chunk
        printed, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0
    return printed, re.split(r"\r\x1b\[K", shown.decode())


@pytest.mark.parametrize("kind", ["match", "tournament"])
def test_the_line_tells_boards_speed_time_left_and_margin(kind: str, tmp_path: Path) -> None:
    record = tmp_path / "record"
    words = [kind, *ENGINES[kind], "--players", "3", "--seed", "1", "--record", str(record),
             "--workers", "1", "--boards"]  # fmt: skip
    printed, lines = on_terminal([*words, "10"])
    assert lines[0] == lines[-1] == ""  # it is taken away at the end
    assert lines[1].startswith("0 of 10 boards, ")
    assert "10 boards" in printed
    printed, lines = on_terminal([*words, "60"])
    assert lines[1] == f"reading {record}"[:79]
    assert lines[2].startswith("10 of 60 boards, ")
    told = re.compile(rf"[\d,]+ of 60 boards, [\d.]+ boards/s, \d+ (s|min) left, {STANDING[kind]}")
    assert any(told.match(line) for line in lines[3:])
    assert printed.count("\n") > 3


def test_nothing_is_told_beside_json_or_away_from_a_terminal() -> None:
    words = ["match", "greedy", "planner", "--seed", "1", "--boards", "20", "--workers", "1"]
    printed, lines = on_terminal([*words, "--json"])
    assert printed.startswith("{")
    assert lines == [""]
    done = subprocess.run([*PROCESS, *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_boards_of_a_record_do_not_count_for_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    clock = [100.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = running.Progress(5000, lambda: "margin +1.00 +- 0.10")
    for done, later in ((4000, 0.0), (4010, 0.1), (4100, 10.0), (4200, 0.01), (4900, 9.99)):
        clock[0] += later
        progress.tell(done)
    progress.close()
    assert terminal.lines() == [
        "4,000 of 5,000 boards, margin +1.00 +- 0.10",
        "4,100 of 5,000 boards, 9.9 boards/s, 91 s left, margin +1.00 +- 0.10",
        "4,900 of 5,000 boards, 44.8 boards/s, 2 s left, margin +1.00 +- 0.10",
        "",
    ]


def test_a_line_is_cut_where_it_would_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    running.Progress(5, lambda: "x" * 100).tell(0)
    assert terminal.lines() == [("0 of 5 boards, " + "x" * 100)[:79]]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (99.4, "99 s"),
        (99.6, "2 min"),
        (7100, "118 min"),
        (7200, "2 h 0 min"),
        (3600 * 47.99, "47 h 59 min"),
        (3600 * 48, "2 days 0 h"),
        (86400 * 12 + 3600 * 5, "12 days 5 h"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert running.duration(seconds) == words
