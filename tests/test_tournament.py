"""Tournaments, and ratings from records alone."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bigtop.boards import Run
from bigtop.cli.main import bigtop as command
from bigtop.runs import play_run
from bigtop.tournament import TournamentStanding, standing_of_records

ENGINES = ("random", "planner", "greedy", "planner:scout=1.5")

CRASHES = """
import sys
print("bepok 1", flush=True)
for line in sys.stdin:
    if line == "isready\\n":
        print("readyok", flush=True)
    elif line.startswith("go"):
        sys.exit(1)
"""


def invoke(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, list(args), input=stdin, catch_exceptions=False)


def answer(*args: str) -> dict[str, Any]:
    result = invoke(*args, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def played(record: Path, boards: int, *engines: str, **more: Any) -> TournamentStanding:
    run = Run("tournament", engines, more.get("players", 3), more.get("unit", "round"), 5)
    standing = TournamentStanding(run)
    for _ in play_run(standing, boards, record):
        pass
    return standing


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("unit", ["round", "game"])
def test_the_record_of_a_tournament_gives_its_ratings(
    players: int, unit: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    wanted = played(record, 12, *ENGINES, players=players, unit=unit).json()
    assert wanted["boards"] == 12
    assert wanted["rounds"] == 12 * 4 * (players if unit == "game" else 1)
    assert answer("rate", str(record)) == json.loads(json.dumps(wanted))
    assert answer("rate", "--check", str(record)) == json.loads(json.dumps(wanted))


def test_forfeits_are_counted_by_engine_and_reason(tmp_path: Path) -> None:
    record = tmp_path / "record"
    spec = f"cmd:{shlex.join([sys.executable, '-c', CRASHES])}"
    # named last, it is not the first engine that is met
    wanted = played(record, 2, "planner", "greedy", "random", spec).json()
    assert wanted["forfeit_reasons"] == {f"{spec}: crashed": 6}
    assert wanted["ratings"][-1]["engine"] == spec
    assert answer("rate", str(record)) == json.loads(json.dumps(wanted))


def test_records_of_several_runs_and_without_boards_add_up(tmp_path: Path) -> None:
    three, two = tmp_path / "three", tmp_path / "two"
    played(three, 4, "random", "greedy", "planner")
    played(two, 3, "greedy", "planner:scout=1.5", players=2, unit="game")
    lines = three.read_bytes().splitlines(keepends=True)
    loose = dict(json.loads(lines[0]))
    for key in ("board", "engine_of_seat", "config", "seed"):
        del loose[key]
    lines += two.read_bytes().splitlines(keepends=True) + [json.dumps(loose).encode()] * 2
    standing = standing_of_records(lines)
    assert standing.boards == 4 + 3 + 2
    assert standing.rounds == 4 * 3 + 3 * 2 * 2 + 2
    assert set(standing.run.engines) == {"random", "greedy", "planner", "planner:scout=1.5"}
    assert standing.run.players == 3
    assert standing.run.unit == "game"
    # whoever counts the lines one by one comes to the same
    index = {name: engine for engine, name in enumerate(standing.run.engines)}
    rounds, points, ahead = [0] * 4, [0] * 4, [[0.0] * 4 for _ in range(4)]
    for line in lines:
        game = json.loads(line)
        seats = [index[name] for name in game["players"]]
        for a, won in zip(seats, game["points"], strict=True):
            rounds[a] += len(game["rounds"])
            points[a] += won
            for b, other in zip(seats, game["points"], strict=True):
                if a != b:
                    ahead[a][b] += 1.0 if won > other else 0.5 if won == other else 0.0
    assert standing.compared.rounds.tolist() == rounds
    assert standing.compared.points.tolist() == points
    assert standing.compared.ahead().tolist() == ahead


def test_the_margins_of_a_tournament_add_up_to_nothing(tmp_path: Path) -> None:
    standing = played(tmp_path / "record", 10, *ENGINES)
    means = [found.mean for found in standing.estimates()]
    assert None not in means
    assert sum(mean or 0.0 for mean in means) == pytest.approx(0.0, abs=1e-12)
    found = dict(zip(ENGINES, means, strict=True))
    assert (found["random"] or 0.0) < (found["greedy"] or 0.0) < (found["planner"] or 0.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:200], "line 1"),
        (lambda text: text.rstrip() + "{}\n", "line 1"),
        (lambda text: text + "[1]\n", "line 2: "),
        (lambda text: '{"bigtop": 1}\n', "line 1"),
        (lambda text: "", "expected at least one game that counts"),
    ],
)
def test_what_is_no_record_is_refused(change: Any, said: str, tmp_path: Path) -> None:
    record = tmp_path / "record"
    played(record, 1, "random", "planner", players=2)
    text = record.read_text().splitlines(keepends=True)[0]
    result = invoke("rate", "-", stdin=change(text))
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert said in line


def test_letters_of_any_script_in_a_record(tmp_path: Path) -> None:
    record = tmp_path / "record"
    played(record, 2, "random", "planner", players=2)
    text = record.read_text().replace('"random"', '"zufällig 随机"')
    record.write_text(text, "utf-8")
    names = {rating["engine"] for rating in answer("rate", str(record))["ratings"]}
    assert names == {"zufällig 随机", "planner"}
