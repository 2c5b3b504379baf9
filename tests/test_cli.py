"""The command line from outside: words and JSON in process, signals and streams as processes."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers import CHECKED

import bigtop.engines
from bigtop.cli.common import LINE_LIMIT
from bigtop.cli.main import COMMANDS, TRACEBACK_VARIABLE
from bigtop.cli.main import bigtop as command
from bigtop.notation import Position

VECTORS = Path(__file__).parent / "vectors"

TWO = "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
FLIP = "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 1f2 0123 0+0/0+0/0+0/0+0 -"
HIDDEN = "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 0 0123 0+0/0+0/0+0/0+0 -"
FULL = "34.T5.75/71.T1.31 63@1 0 - 9+2/6+1 38"
OVER = "-/37.21 45@0 1 - 17+3/2+0 -"
MOVED = TWO + " moves L1~"
CLOCK = {"seconds", "sims_per_second", "nodes_per_second"}
NUMBERS = {"points", "points_se", "margin", "margin_se", "win", "value"}

# A process with the package that the tests import, whichever directory they run in.
PROCESS = [sys.executable, "-c", "from bigtop.cli.main import main; main()"]


def vectors(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").splitlines()]


def run(*args: str, stdin: str | None = None, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(command, list(args), input=stdin, env=env, catch_exceptions=False)


def done(*args: str, stdin: str | None = None) -> str:
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def keys(*args: str, stdin: str | None = None) -> dict[str, Any]:
    (line,) = done(*args, "--json", stdin=stdin).splitlines()
    return dict(json.loads(line))


def refused(*args: str, stdin: str | None = None) -> str:
    """Run a command that must fail for its input; return the one line on stderr."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 2, (args, result.output)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("bigtop: ")
    return line


def without_clock(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in CLOCK}


# --- hint ---------------------------------------------------------------------------------------


def test_hint_json_has_the_fixed_keys() -> None:
    answer = keys("hint", TWO, "--sims", "400", "--seed", "7", "--engine", "ismcts")
    assert list(answer) == [
        "position", "seat", "engine", "seed", "move", "says",
        "sims", "worlds", "seconds", "sims_per_second", "lines",
    ]  # fmt: skip
    assert answer["position"] == TWO
    assert answer["seat"] == 1
    assert answer["engine"].startswith("ismcts:sims=400")
    assert answer["seed"] == 7
    assert answer["sims"] == 400
    assert answer["move"] == answer["lines"][0]["move"]
    assert answer["says"] == answer["lines"][0]["says"]
    assert answer["sims_per_second"] == pytest.approx(400 / answer["seconds"])
    assert len(answer["lines"]) == 5
    for line in answer["lines"]:
        assert line.keys() == {"move", "visits", "says", "pv", *NUMBERS}
        assert line["pv"][:1] == [line["move"]]
        assert all(line[key] is None or isinstance(line[key], float) for key in NUMBERS)


def test_hint_lines_zero_gives_every_move() -> None:
    answer = keys("hint", TWO, "--sims", "400", "--seed", "7", "--lines", "0")
    moves = [line["move"] for line in answer["lines"]]
    assert sorted(moves) == sorted(Position.parse(TWO).legal_moves())
    assert len(keys("hint", TWO, "--sims", "400", "--seed", "7", "--lines", "2")["lines"]) == 2


@pytest.mark.parametrize("lines", ["0", "1", "5"])
def test_hint_in_the_flip_phase_has_two_lines(lines: str) -> None:
    answer = keys("hint", FLIP, "--sims", "200", "--seed", "7", "--lines", lines)
    assert sorted(line["move"] for line in answer["lines"]) == ["flip", "keep"]
    assert answer["lines"][0]["move"] == answer["move"]


def test_hint_after_moves_has_the_history() -> None:
    answer = keys("hint", MOVED, "--sims", "200", "--seed", "7")
    assert answer["position"] == str(Position.parse(MOVED)) != TWO
    assert answer["history"] == MOVED


@pytest.mark.parametrize("threads", ["1", "2"])
def test_hint_repeats_with_its_seed(threads: str) -> None:
    args = ["hint", TWO, "--sims", "400", "--seed", "12345678901234567890"]
    first = keys(*args)
    assert without_clock(keys(*args, "--threads", threads)) == without_clock(first)


def test_hint_draws_a_seed_and_reports_it() -> None:
    result = run("hint", TWO, "--sims", "100", "--json")
    seed = json.loads(result.stdout)["seed"]
    assert result.stderr == f"bigtop: seed {seed} (drawn; --seed {seed} repeats this)\n"
    again = keys("hint", TWO, "--sims", "100", "--seed", str(seed))
    assert without_clock(again) == without_clock(json.loads(result.stdout))


def test_hint_prints_null_where_an_engine_gives_no_number() -> None:
    answer = keys("hint", TWO, "--engine", "random", "--seed", "7")
    assert all(line["win"] is None for line in answer["lines"])
    text = done("hint", TWO, "--engine", "random", "--seed", "7")
    assert re.search(r"^  \S+ +\d+ .* -$", text, re.MULTILINE)


def test_hint_of_the_planner_has_its_values() -> None:
    answer = keys("hint", TWO, "--engine", "planner", "--seed", "7", "--lines", "3")
    values = [line["value"] for line in answer["lines"]]
    assert values == sorted(values, reverse=True)
    lines = done("hint", TWO, "--engine", "planner", "--seed", "7", "--lines", "3").splitlines()
    assert lines[3].split()[-1] == "value"
    assert [line.split()[-1] for line in lines[4:9:2]] == [f"{value:+.2f}" for value in values]


def test_hint_for_people() -> None:
    args = ["hint", TWO, "--sims", "400", "--seed", "7"]
    answer = keys(*args)
    text = done(*args)
    lines = text.splitlines()
    assert lines[0] == "Seat 1 of 2 to move; active set 5 5 of seat 0."
    assert lines[1].startswith(f"{answer['engine']}, seed 7: 400 simulations, ")
    heads = [line.split()[0] for line in lines if re.match(r"  \S", line)]
    assert heads == ["move", *(line["move"] for line in answer["lines"]), "5"]
    best = answer["lines"][0]
    assert f"{best['points']:+.2f} +- {best['points_se']:.2f}" in text
    assert f"{best['win']:.1%}" in text
    assert best["says"] in " ".join(text.split())
    assert text.isascii()
    assert max(map(len, lines)) <= 80


def test_hint_says_which_chance_of_winning_it_means() -> None:
    assert "win round" in done("hint", TWO, "--engine", "greedy", "--seed", "1")
    assert "win game" in done("hint", TWO + " 1:0/0", "--engine", "greedy", "--seed", "1")


def test_hint_refuses_a_round_that_is_over() -> None:
    assert "over" in refused("hint", OVER)
    assert "over" in refused("hint", TWO + " moves pass")


def test_hint_refuses_a_hidden_hand() -> None:
    assert "11 hidden cards" in refused("hint", HIDDEN)
    assert "hidden" in refused("hint", FLIP.replace("1f2", "0f2"))


@pytest.mark.parametrize(
    "args",
    [
        ["--engine", "nobody"],
        ["--engine", "ismcts:sims=x"],
        ["--engine", ""],
        ["--sims", "0"],
        ["--sims", "10", "--time", "1"],
        ["--time", "0"],
        ["--time", "nan"],
        ["--time", "inf"],
        ["--time", "-1"],
        ["--lines", "-1"],
        ["--seed", "-1"],
        ["--seed", str(2**64)],
        ["--seed", "seven"],
        ["--threads", "0"],
        ["--memory", "0"],
        ["--color", "pink"],
        ["--bogus"],
    ],
    ids=" ".join,
)
def test_hint_refuses_bad_options(args: list[str]) -> None:
    refused("hint", TWO, *args)


@pytest.mark.parametrize("entry", vectors("bad_positions.jsonl"), ids=lambda e: str(e["why"]))
def test_a_bad_position_gives_one_line(entry: dict[str, str]) -> None:
    line = refused("hint", "--seed", "1", "--", entry["position"])
    assert len(line) < 10_000
    if entry["refused_by"] == "reading":
        refused("moves", "--", entry["position"])
        refused("show", "--", entry["position"])


def test_a_time_budget_is_kept() -> None:
    """Not to the millisecond: the machine may be busy, and then it ends early rather than late."""
    answer = keys("hint", TWO, "--time", "0.05", "--seed", "7")
    assert 0 < answer["seconds"] < 0.5
    assert answer["sims"] > 0
    longer = keys("hint", TWO, "--time", "0.5", "--seed", "7")
    assert longer["sims"] > answer["sims"]


# --- moves, show, deal, perft, engines ----------------------------------------------------------


def test_moves_json_is_the_list_of_the_vectors() -> None:
    entries = vectors("moves.jsonl")
    stdin = "".join(entry["position"] + "\n" for entry in entries)
    lines = done("moves", "-", "--json", stdin=stdin).splitlines()
    assert len(lines) == len(entries)
    for line, entry in zip(lines, entries, strict=True):
        answer = json.loads(line)
        assert answer == {
            "position": entry["position"],
            "seat": Position.parse(entry["position"]).turn,
            "moves": entry["moves"],
        }


def test_moves_all_lists_every_legal_token() -> None:
    for entry in vectors("moves.jsonl")[:30]:
        tokens = keys("moves", entry["position"], "--all")["moves"]
        assert len(tokens) == len(set(tokens)) == entry["legal"]
        assert set(entry["moves"]) <= set(tokens)


def test_moves_for_people_has_a_line_a_move() -> None:
    tokens = Position.parse(TWO).legal_moves()
    lines = done("moves", TWO).splitlines()
    assert lines[:2] == [
        "Seat 1 of 2 to move; active set 5 5 of seat 0.",
        f"{len(tokens)} moves:",
    ]
    assert [line.split()[0] for line in lines[2:]] == tokens
    assert "  S4-5  Show 4 5 (places 4 to 5)" not in lines  # a pair beats a run
    assert any(line.split(maxsplit=1)[1] == "Show 4 5 6 (places 4 to 6)" for line in lines[2:])


def test_moves_in_the_flip_phase() -> None:
    assert keys("moves", FLIP)["moves"] == ["keep", "flip"]


def test_a_round_that_is_over_has_no_moves() -> None:
    assert keys("moves", OVER)["moves"] == []
    assert done("moves", OVER) == "The round is over: seat 0 has no card left.\n"
    assert keys("moves", TWO + " moves pass")["moves"] == []


def test_moves_refuses_a_hidden_hand() -> None:
    assert "hidden" in refused("moves", HIDDEN)


def test_show_draws_every_readable_position() -> None:
    for entry in vectors("good_positions.jsonl"):
        assert "seat  cards  captured" in done("show", entry["position"])
    assert "seat  cards  captured" in done("show", HIDDEN)


def test_show_json_holds_the_whole_table() -> None:
    text = "x6/37.x5/12.T9.x3/x7/x9 58.65@0 2 024 2+1/0+0/4+2/1+0/3+0 13.14 3:1/2/3/4/5"
    assert keys("show", text) == {
        "position": text,
        "players": 5,
        "seat": 2,
        "start": None,
        "over": False,
        "end": "",
        "hands": [["x"] * 6, ["37", *"xxxxx"], ["12", "T9", "x", "x", "x"], ["x"] * 7, ["x"] * 9],
        "active": {"cards": ["58", "65"], "owner": 0},
        "tokens": [0, 2, 4],
        "forced_pass": False,
        "captured": [2, 0, 4, 1, 3],
        "chips": [1, 0, 2, 0, 0],
        "points": [-3, -6, 1, -6, -6],
        "out": ["13", "14"],
        "game": {"round": 3, "scores": [1, 2, 3, 4, 5]},
    }
    assert keys("show", FLIP)["start"] == 2
    assert keys("show", OVER)["end"] == "i"


def test_show_of_a_seat_is_its_view() -> None:
    assert keys("show", FULL, "--view", "0")["hands"] == [["34", "T5", "75"], ["x"] * 3]
    scouted = keys("show", FULL + " moves S2 L1 S2", "--view", "0")
    assert scouted["hands"] == [["34", "75"], ["T5", "x", "x"]]
    assert "expected a seat from 0 to 1" in refused("show", FULL, "--view", "2")
    assert "hidden" in refused("show", TWO, "--view", "0")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_deal_gives_a_full_position_in_the_flip_phase(players: int) -> None:
    answer = keys("deal", "--players", str(players), "--seed", "7")
    assert answer.keys() == {"position", "seed"}
    position = Position.parse(answer["position"])
    assert (position.players, position.turn) == (players, 0)
    assert position.flipping
    assert position.is_open
    holder = [seat for seat in range(players) if {0x12, 0x21} & set(position.round.hand(seat))]
    assert [position.start] == (holder or [0])
    assert done("deal", "--players", str(players), "--seed", "7") == answer["position"] + "\n"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_deal_as_a_seat_sees_it(players: int) -> None:
    full = Position.parse(keys("deal", "--players", str(players), "--seed", "3")["position"])
    for seat in range(players):
        answer = keys("deal", "--players", str(players), "--seed", "3", "--view", str(seat))
        view = Position.parse(answer["position"])
        assert f" {seat}f{full.start} " in answer["position"]
        assert view.round.hand(seat) == full.round.hand(seat)
        others = [view.round.hidden(other) for other in range(players) if other != seat]
        assert others == [len(full.round.hand(seat))] * (players - 1)


def test_deal_for_four_by_default_and_with_a_drawn_seed() -> None:
    result = run("deal", "--json")
    answer = json.loads(result.stdout)
    assert Position.parse(answer["position"]).players == 4
    assert result.stderr == (
        f"bigtop: seed {answer['seed']} (drawn; --seed {answer['seed']} repeats this)\n"
    )
    assert keys("deal", "--seed", str(answer["seed"])) == answer
    assert keys("deal", "--seed", "1")["position"] != keys("deal", "--seed", "2")["position"]


def test_deal_for_the_edition_with_a_forced_pass() -> None:
    for view in ([], ["--view", "1"]):
        text = keys("deal", "--players", "2", "--forced-pass", "--seed", "7", *view)["position"]
        assert text.split(" ")[3] == "f"
        assert Position.parse(text).round.forced_pass
    assert "expected two players" in refused("deal", "--forced-pass")


@pytest.mark.parametrize(
    "args", ["--players 6", "--players 1", "--view 4", "--view -1", "--seed x", "word"]
)
def test_deal_refuses_bad_options(args: str) -> None:
    refused("deal", *args.split())


def test_perft_counts_as_the_vectors_do() -> None:
    for entry in vectors("perft.jsonl"):
        for depth, nodes in enumerate(entry["perft"][:2], 1):
            answer = keys("perft", entry["position"], str(depth))
            assert list(answer) == ["position", "depth", "nodes", "seconds", "nodes_per_second"]
            assert (answer["position"], answer["depth"]) == (entry["position"], depth)
            assert answer["nodes"] == nodes


def test_perft_divide_counts_behind_each_move() -> None:
    entry = vectors("perft.jsonl")[0]
    answer = keys("perft", entry["position"], "2", "--divide")
    assert list(answer["divide"]) == Position.parse(entry["position"]).legal_moves()
    assert sum(answer["divide"].values()) == answer["nodes"] == entry["perft"][1]
    text = done("perft", entry["position"], "2", "--divide").splitlines()
    counts = [line.split() for line in text[:-1]]
    assert {move: int(number) for move, number in counts} == answer["divide"]
    assert text[-1].startswith(f"{entry['perft'][1]} nodes at depth 2, ")


def test_perft_of_depth_zero_and_of_a_round_that_is_over() -> None:
    for args in ([FULL, "0"], [OVER, "0"], [OVER, "3"]):
        assert keys("perft", *args)["nodes"] == 1
        divided = keys("perft", *args, "--divide")
        assert (divided["nodes"], divided["divide"]) == (1, {})


def test_perft_refuses_what_it_cannot_count() -> None:
    assert "full" in refused("perft", TWO, "2")
    assert "flip phase" in refused("perft", FLIP, "2")
    refused("perft", FULL, "-1")
    refused("perft", FULL, "deep")
    refused("perft", FULL)


def test_engines_are_listed_with_options_and_defaults() -> None:
    answer = keys("engines")
    assert [entry["name"] for entry in answer["engines"]] == list(bigtop.engines.ENGINES)
    names = {entry["name"]: entry for entry in answer["engines"]}
    assert {"random", "greedy", "planner", "flat", "ismcts", "bigtop"} <= names.keys()
    assert any(
        option["name"] == "sims" and int(option["default"]) > 0
        for option in names["ismcts"]["options"]
    )
    text = done("engines")
    for entry in answer["engines"]:
        assert re.search(rf"^{re.escape(entry['name'])}$", text, re.MULTILINE)
        for option in entry["options"]:
            assert f"{option['name']}={option['default']}" in text


# --- every command ------------------------------------------------------------------------------


def test_a_position_may_come_without_quotes_or_begin_with_an_empty_hand() -> None:
    assert keys("show", *TWO.split(" "))["position"] == TWO
    assert keys("show", OVER)["position"] == OVER
    assert json.loads(done("show", "--json", "--", OVER))["position"] == OVER
    assert keys("perft", *FULL.split(" "), "1")["nodes"] == len(Position.parse(FULL).legal_moves())


def test_lines_of_stdin_are_answered_in_order_and_bad_ones_do_not_stop_the_others() -> None:
    stdin = f"{TWO}\nrubbish\n\n{FULL}\n{HIDDEN}\n{OVER}"
    result = run("moves", "-", "--json", stdin=stdin)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 2
    assert [a.get("position") for a in answers] == [TWO, None, None, FULL, None, OVER]
    assert [a.get("line") for a in answers] == [None, 2, 3, None, 5, None]
    assert "rubbish" in answers[1]["error"]
    assert result.stderr == "bigtop: 3 of 6 lines refused\n"

    result = run("moves", "-", stdin=stdin)
    assert result.exit_code == 2
    assert [line for line in result.stdout.splitlines() if "@" in line] == [TWO, FULL, OVER]
    complaints = result.stderr.splitlines()
    assert [line.split(":")[1] for line in complaints] == [" line 2", " line 3", " line 5"]


def test_every_line_of_stdin_is_answered_as_it_is_alone() -> None:
    stdin = f"{TWO}\n{FLIP}\n"
    args = ["--sims", "200", "--seed", "9"]
    lines = done("hint", "-", "--json", *args, stdin=stdin).splitlines()
    alone = [keys("hint", position, *args) for position in (TWO, FLIP)]
    assert [without_clock(json.loads(line)) for line in lines] == [without_clock(a) for a in alone]


def test_a_single_bad_line_and_an_empty_stdin_are_refused() -> None:
    assert "line 1: " in refused("show", "-", stdin="rubbish\n")
    assert "empty" in refused("show", "-", stdin="")


def test_a_line_without_end_is_refused_and_the_next_one_answered() -> None:
    stdin = "x" * (3 * LINE_LIMIT) + "\n" + " " * LINE_LIMIT + "\n" + TWO + "\n"
    result = run("show", "-", "--json", stdin=stdin)
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert (first["line"], second["line"], third["position"]) == (1, 2, TWO)
    assert str(LINE_LIMIT) in first["error"]
    assert str(LINE_LIMIT) in second["error"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_runs_as_printed(name: str, tmp_path: Path) -> None:
    examples = [
        line.strip() for line in done(name, "--help").splitlines() if line.startswith("    bigtop ")
    ]
    assert any(f"bigtop {name}" in example for example in examples)
    if name in ("bench", "train") and CHECKED:
        pytest.skip("takes minutes on the checked build; tests of their own do it with less")
    for example in examples:
        assert_runs(example, tmp_path)


def test_the_example_of_the_group_runs_as_printed(tmp_path: Path) -> None:
    (example,) = re.findall(r"^    (bigtop .*)$", done("--help"), re.MULTILINE)
    assert_runs(example, tmp_path)


def assert_runs(example: str, folder: Path) -> None:
    """Run a line of a shell in which `bigtop` is the one under test."""
    script = folder / "bigtop"
    script.write_text(
        f"#!{sys.executable}\nfrom bigtop.cli.main import main\n"
        "if __name__ == '__main__':\n    main()\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    shell = shutil.which("bash") or "sh"
    ran = subprocess.run(
        [shell, "-c", example],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, (example, ran.stderr)
    assert ran.stdout


def test_the_group_lists_each_command_once_with_its_summary() -> None:
    text = done("--help")
    for name, summary in COMMANDS.items():
        assert len(re.findall(rf"^  {name} +{re.escape(summary)}$", text, re.MULTILINE)) == 1
    assert list(COMMANDS) == sorted(COMMANDS)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert done("--version") == f"bigtop, version {version('bigtop')}\n"


@pytest.mark.parametrize("args", [[], ["--bogus"], ["hnit"], ["show"], ["show", "--json"]])
def test_bad_usage_gives_one_line(args: list[str]) -> None:
    assert "--help" in refused(*args)


def test_colour_is_for_terminals_unless_asked_for() -> None:
    assert "\x1b[" not in run("show", TWO).stdout
    assert "\x1b[" not in run("show", TWO, "--color", "never").stdout
    assert "\x1b[" in run("show", TWO, "--color", "always").stdout
    assert "\x1b[" in run("show", TWO, "--color", "always", env={"NO_COLOR": "1"}).stdout
    for args in (["moves", TWO], ["hint", TWO, "--sims", "50", "--seed", "1"], ["engines"]):
        coloured = done(*args, "--color", "always")
        assert "\x1b[" in coloured
        bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert re.sub(r"[\d.]+ s \(.*", "", bare) == re.sub(r"[\d.]+ s \(.*", "", done(*args))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_on_a_terminal(variables: dict[str, str], coloured: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    subprocess.run(
        [*PROCESS, "show", TWO],
        stdout=theirs,
        env={**environment, "TERM": "xterm", **variables},
        timeout=60,
        check=True,
    )
    os.close(theirs)
    shown = b""
    # The end of a pseudo-terminal is no text on some systems, an error on others.
    with contextlib.suppress(OSError):
        while chunk := os.read(ours, 65536):
            shown += chunk
    os.close(ours)
    assert b"Seat 1 of 2 to move" in shown
    assert shown.rstrip().endswith(b"1/4")
    assert (b"\x1b[" in shown) is coloured


def test_an_engine_that_breaks_is_a_failure_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        spec = "broken"

        def answer(self, position: Position, seed: int, threads: int, memory: int) -> None:
            raise RuntimeError("lost\nits way")

    monkeypatch.setattr(bigtop.engines, "make_engine", lambda spec, sims, time: Broken())
    result = run("hint", TWO, "--seed", "1")
    assert result.exit_code == 1
    assert result.stderr == "bigtop: engine broken failed: RuntimeError: lost its way\n"


def test_a_failure_of_bigtop_itself_is_one_line_and_a_traceback_on_demand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(text: str) -> Position:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Position, "parse", fail)
    result = run("show", TWO)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("bigtop: internal error: ZeroDivisionError: by zero ")
    monkeypatch.setenv(TRACEBACK_VARIABLE, "1")
    with pytest.raises(ZeroDivisionError):
        run("show", TWO)


def test_messages_never_carry_control_characters() -> None:
    line = refused("show", "\x1b[31mx11/\x07x11\u202e")
    assert line.isprintable()


# --- as a process -------------------------------------------------------------------------------


@pytest.fixture
def process() -> Iterator[Any]:
    started: list[subprocess.Popen[str]] = []

    def start(*args: str, **options: Any) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [*PROCESS, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            assert stream is not None
            stream.close()


def test_stdin_is_answered_line_by_line(process: Any) -> None:
    child = process("moves", "-", "--json")
    for text in (TWO, "rubbish", FULL):
        child.stdin.write(text + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        assert answer.get("position", "rubbish") == text
    child.stdin.close()
    assert child.wait(timeout=30) == 2


@pytest.mark.parametrize(
    "args",
    [
        ["show", "-"],
        ["hint", TWO, "--seed", "1", "--sims", "1000000000"],
        ["hint", TWO, "--seed", "1", "--sims", "1000000000", "--threads", "2"],
        ["hint", TWO, "--seed", "1", "--time", "600", "--engine", "flat"],
        ["perft", vectors("perft.jsonl")[-1]["position"], "30"],
    ],
    ids=lambda args: " ".join(args[:1] + args[4:]),
)
def test_ctrl_c_ends_with_130_and_no_traceback(process: Any, args: list[str]) -> None:
    # Tests that run in the background of a shell inherit that interrupts are ignored.
    child = process(*args, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(1.5)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 130
    assert child.stdout.read() == ""
    assert child.stderr.read().strip() == ""


def test_a_reader_that_went_away_is_no_error_message(process: Any) -> None:
    child = process("moves", "-")
    child.stdout.close()
    child.stdin.write((TWO + "\n") * 100)
    child.stdin.close()
    child.wait(timeout=30)
    assert child.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_failure_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*PROCESS, "show", TWO],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr == f"bigtop: {os.strerror(errno.ENOSPC)}\n"


def test_bytes_that_are_no_text_are_bad_input() -> None:
    ran = subprocess.run(
        [*PROCESS, "show", "-"], input=b"\xff\xfe\n", capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    ran = subprocess.run(
        [*PROCESS, "show", b"\xff\xfe"], capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.count(b"\n") == 1
    assert b"Traceback" not in ran.stderr


def test_a_hint_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from bigtop.cli.main import bigtop\n"
        "try:\n"
        f"    bigtop.main(['hint', {TWO!r}, '--sims', '10', '--seed', '1'])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "heavy = {'numpy', 'asyncio', 'multiprocessing', 'unittest', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stderr == "[]\n"


def test_the_group_imports_no_command() -> None:
    code = (
        "import sys\n"
        "from bigtop.cli.main import bigtop\n"
        "try:\n"
        "    bigtop.main(['--help'])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "print([name for name in sys.modules if name.startswith('bigtop.')], file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    imported = set(json.loads(ran.stderr.replace("'", '"')))
    assert not imported & {f"bigtop.cli.{name}" for name in COMMANDS}


# --- fuzzing ------------------------------------------------------------------------------------

PIECES = ("", " ", "-", "x", "x9", ".", "/", "@", "+", "f", "T", "t", "0", "5", "99", "-1", "37",
          "T9", "~", "2:0/0", "moves", "S1", "L1~", "keep", "pass", "\t", "é", "\x00")  # fmt: skip


def reworded(text: str, rng: random.Random) -> str:
    """Change a position so that it often stays one: cards turned, exchanged, hidden; moves cut."""
    cards = [match.start() for match in re.finditer(r"\b[1-9T]{2}\b", text)]
    first, second = sorted(rng.choices(cards, k=2))
    one, other = text[first : first + 2], text[second : second + 2]
    match rng.randrange(5):
        case 0:
            return text[:first] + one[::-1] + text[first + 2 :]
        case 1 if first < second:
            return text[:first] + other + text[first + 2 : second] + one + text[second + 2 :]
        case 2:
            return text[:first] + "x" + text[first + 2 :]
        case 3:
            words = text.split(" ")
            return " ".join(words[: max(6, len(words) - rng.randrange(5))])
        case _:
            return re.sub(r"(?<= )[0-4](?= )", str(rng.randrange(5)), text, count=1)


def mangled(text: str, rng: random.Random) -> str:
    """Change any text: pieces put in, cut out, doubled, or taken from elsewhere."""
    first, last = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    match rng.randrange(5):
        case 0:
            return text[:first] + rng.choice(PIECES) + text[first:]
        case 1:
            return text[:first] + text[first + 1 :]
        case 2:
            return text[:first] + text[last:]
        case 3:
            return text[:last] + text[first:]
        case _:
            return text[:first] + rng.choice(PIECES) + text[first + 1 :]


def mutated(texts: list[str], number: int, seed: int) -> Iterator[str]:
    """Yield so many positions with one to three changes each."""
    rng = random.Random(seed)
    for _ in range(number):
        text = rng.choice(texts)
        for _ in range(rng.randrange(3)):
            text = reworded(text, rng)
        if rng.random() < 0.4:
            text = mangled(text, rng)
        yield text


@pytest.mark.parametrize(
    "number", [pytest.param(2_000, id="short"), pytest.param(100_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("args", [["--engine", "ismcts", "--sims", "16"], ["--engine", "planner"]])
def test_hint_survives_mutated_positions(number: int, args: list[str]) -> None:
    names = ("good_positions.jsonl", "views.jsonl", "moves.jsonl", "sequences.jsonl")
    texts = [entry["position"] for name in names for entry in vectors(name)]
    lines = list(mutated(texts, number, seed=number))
    ran = subprocess.run(
        [*PROCESS, "hint", "-", "--json", "--seed", "1", *args],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        timeout=3000,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == number
    refusals = [answer for answer in answers if "error" in answer]
    assert ran.stderr == f"bigtop: {len(refusals)} of {number} lines refused\n"
    assert 0.2 * number < len(refusals) < 0.8 * number  # both kinds were tried
    for line, answer in zip(lines, answers, strict=True):
        if "error" not in answer:
            position = Position.parse(line)
            assert answer["position"] == str(position)
            assert answer["move"] in position.legal_moves()
