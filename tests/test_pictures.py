"""Pictures of results: files of the right kind, with the numbers of the result in words."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bigtop.cli.main import bigtop as command
from bigtop.pictures import MOST_POINTS, History
from bigtop.statistics import Estimate, IntegerSums, estimate

needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None,
    reason="Matplotlib is not installed: pip install 'bigtop[plot]'",
)

HERE = ["--workers", "1"]
MATCH = ["match", "planner:scout=1.5", "planner", "--players", "3", "--boards", "30", *HERE]
TOURNAMENT = ["tournament", "random", "greedy", "planner", "--players", "3", "--boards", "8", *HERE]


def run(*args: str) -> str:
    result = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def words(path: Path) -> list[str]:
    """The words in an SVG file."""
    text = path.read_text("utf-8")
    assert text.startswith("<?xml")
    assert "</svg>" in text
    return [unescape(found) for found in re.findall(r"<text[^>]*>(.*?)</text>", text, re.DOTALL)]


@needs_matplotlib
@pytest.mark.parametrize("unit", ["round", "game"])
def test_the_picture_of_a_match(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "match.svg"
    printed = run(*MATCH, "--seed", "1", "--unit", unit, "--stop=-3,1", "--plot", str(path))
    there = words(path)
    assert "planner:scout=1.5 against a table of planner" in there
    played = {"round": "single rounds", "game": "games of 3 rounds"}[unit]
    assert f"3 players, {played}, 30 boards, seed 1; 95% intervals" in there
    assert f"mean, points a {unit}" in there
    assert {"boards", "par", "H0", "H1"} <= set(there)
    for name, label in (("margin", "margin"), ("gain", "gain over the same seat")):
        (number,) = re.findall(rf"^  {name} +(\S+ \+- \S+)", printed, re.MULTILINE)
        assert f"{label} {number.replace('+-', '±')}" in there


@needs_matplotlib
def test_the_pictures_of_a_tournament_and_of_its_record(tmp_path: Path) -> None:
    record, path, again = tmp_path / "record", tmp_path / "one.svg", tmp_path / "two.SVG"
    printed = run(*TOURNAMENT, "--seed", "1", "--record", str(record), "--plot", str(path))
    there = words(path)
    assert "Ratings of 3 engines" in there
    assert "3 players, single rounds, 8 boards, seed 1; 95% intervals" in there
    assert "mean margin, points a round" in there
    assert "(planner has 1000; 400 more are ten times the odds of finishing ahead)" in there
    ratings = re.findall(r"^ +\d  (\S+) +(\d+) \+- (\d+)", printed, re.MULTILINE)
    assert len(ratings) == 3
    for name, rating, reach in ratings:
        assert name in there
        assert (f"{rating} ± {reach}" if name != "planner" else "1000") in there
    assert sum(word.startswith(("random ", "greedy ", "planner ")) for word in there) == 3
    run("rate", str(record), "--plot", str(again))
    of_record = words(again)
    assert "8 boards, 24 rounds in records; 95% intervals" in of_record
    for name, rating, reach in ratings:
        assert name in of_record
        assert (f"{rating} ± {reach}" if name != "planner" else "1000") in of_record
    assert "boards" not in of_record


@needs_matplotlib
def test_a_png_and_equal_results_equal_pictures(tmp_path: Path) -> None:
    path = tmp_path / "match.png"
    run(*MATCH, "--seed", "1", "--plot", str(path))
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert width > height > 500
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for picture in pictures:
        run(*TOURNAMENT, "--seed", "1", "--plot", str(picture))
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


@needs_matplotlib
@pytest.mark.parametrize("boards", ["1", "2"])
def test_what_little_there_is_is_drawn(boards: str, tmp_path: Path) -> None:
    path = tmp_path / "few.svg"
    # a name full of what a picture might read as its own, and too long for it
    name = "cmd:" + f"{sys.executable} -c '$x_{{1}}$ <&> {'very ' * 9}long'"
    run("match", "random", "random", "--boards", boards, "--seed", "1", *HERE, "--plot", str(path))
    assert "random against a table of random" in words(path)
    record = tmp_path / "record"
    run("tournament", "random", "greedy", "--boards", boards, "--seed", "1", *HERE,
        "--record", str(record))  # fmt: skip
    quoted = name.replace('"', '\\"')
    record.write_text(record.read_text().replace('"greedy"', f'"{quoted}"'))
    run("rate", str(record), "--plot", str(path))
    assert name[:39] + "…" in words(path)


@needs_matplotlib
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_costs_the_picture_and_not_the_result(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.symlink_to("/dev/full")
    done = subprocess.run(
        [sys.executable, "-c", "from bigtop.cli.main import main; main()", *MATCH,
         "--seed", "1", "--plot", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "  margin " in done.stdout
    assert done.stderr == f"bigtop: No space left on device: {path}\n"


def refused(*args: str) -> str:
    """Run a command that must fail for its input before it plays; the one line on stderr."""
    result = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


COMMANDS = [MATCH, TOURNAMENT, ["rate", "no-such-record"]]


@pytest.mark.parametrize("words", COMMANDS, ids=["match", "tournament", "rate"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("picture.jpg", "expected a name that ends in .png or .svg"),
        ("picture", "expected a name that ends in .png or .svg"),
        ("", "expected a name that ends in .png or .svg"),
        ("nowhere/picture.png", "there is no folder"),
        ("folder.svg", "this is a folder"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_play(
    words: list[str], name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtop.runs.play_board", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    line = refused(*words, "--plot", name)
    assert line.startswith("bigtop: --plot: ")
    assert said in line


@pytest.mark.parametrize("words", COMMANDS, ids=["match", "tournament", "rate"])
def test_without_matplotlib_it_is_said_how_to_get_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    line = refused(*words, "--plot", "picture.png")
    assert "a picture needs Matplotlib, pip install 'bigtop[plot]'" in line


def test_extras_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys; from bigtop.cli.main import bigtop\n"
        "try: bigtop.main(['match', 'random', 'random', '--boards', '2', '--workers', '1'])\n"
        "except SystemExit: pass\n"
        "sys.exit(bool({'matplotlib', 'distributed', 'dask'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_history_of_any_length_is_short_and_right() -> None:
    history, sums = History(), IntegerSums()
    wanted: dict[int, Estimate] = {}

    def now() -> list[Any]:
        return [estimate(sums)]

    for board in range(1, 10 * MOST_POINTS + 1):
        sums.add(board % 7)
        history.note(board, now)
        if board % 160 == 0:
            wanted[board] = estimate(sums)
    assert MOST_POINTS / 2 <= len(history.boards) <= MOST_POINTS
    assert history.boards == list(range(history.every, 10 * MOST_POINTS + 1, history.every))
    found = dict(zip(history.boards, history.estimates, strict=True))
    assert {board: found[board] for board in wanted} == {n: [e] for n, e in wanted.items()}
