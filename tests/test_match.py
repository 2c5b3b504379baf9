"""Boards, runs and matches: what is played follows from the seed, and no board is ever lost."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from helpers import sized

from bigtop.boards import Run, Seats, deals, play_board, tables
from bigtop.cli.main import bigtop
from bigtop.engines import ENGINES
from bigtop.match import MatchStanding
from bigtop.players import Limits
from bigtop.record import GameRecord, check_record, parse_record
from bigtop.runs import (
    FORFEIT_POINTS,
    LONGEST_LINE,
    PlayerRefusedError,
    RecordFile,
    RecordInUseError,
    RunMismatchError,
    local_workers,
    play_chunk,
    play_run,
    result_of,
)
from bigtop.statistics import SequentialTest

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "engine.py"


def run_of(*engines: str, players: int = 3, seed: int = 5, **more: Any) -> Run:
    return Run(more.pop("kind", "match"), engines, players, more.pop("unit", "round"), seed, **more)


def play(run: Run, boards: int, record: Path | None = None, **more: Any) -> MatchStanding:
    standing = MatchStanding(run, more.pop("test", None))
    for _ in play_run(standing, boards, record, **more):
        pass
    return standing


def figures(standing: MatchStanding) -> dict[str, Any]:
    found = standing.json(0.0)
    del found["seconds"]
    return found


# Boards ---------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_takes_every_seat_once_and_the_control_table_none(players: int) -> None:
    run = run_of("planner", "greedy", players=players)
    seated = tables(run, 7)
    assert [table.control for table in seated] == [False] * players + [True]
    assert [table.engines.index(0) for table in seated[:-1]] == list(range(players))
    assert all(table.engines.count(0) == 1 for table in seated[:-1])
    assert seated[-1].engines == (1,) * players


@pytest.mark.parametrize(
    ("engines", "players"),
    [(3, 3), (4, 3), (5, 3), (4, 4), (5, 4), (6, 4), (5, 5), (6, 5), (7, 5), (3, 2), (6, 2)],
)
def test_a_tournament_seats_every_pair_equally_often(engines: int, players: int) -> None:
    run = run_of(
        *(f"planner:scout={n + 1}" for n in range(engines)), players=players, kind="tournament"
    )
    cycle = 1
    for factor in range(engines - players + 1, engines):
        cycle *= factor
    seats: Counter[tuple[int, int]] = Counter()
    pairs: Counter[tuple[int, int, int, int]] = Counter()
    for board in range(cycle):
        seated = tables(run, board)
        assert len(seated) == engines
        for table in seated:
            seats.update(enumerate(table.engines))
            for a, b in itertools.permutations(range(players), 2):
                pairs[a, table.engines[a], b, table.engines[b]] += 1
        # on each board already, every engine sits once in every seat
        assert set(seats.values()) == {board + 1}
    assert set(pairs.values()) == {cycle // (engines - 1)}
    assert len(pairs) == players * (players - 1) * engines * (engines - 1)


def test_boards_do_not_depend_on_each_other() -> None:
    run = run_of("random", "planner", players=4)
    together = play_chunk(run, 0, 6)
    alone = [play_chunk(run, board, 1) for board in (5, 0, 3)]
    assert [chunk.lines[0] for chunk in alone] == [together.lines[board] for board in (5, 0, 3)]


@pytest.mark.parametrize("name", ENGINES)
def test_what_was_played_before_changes_nothing(name: str) -> None:
    """Boards one by one, with new players each, or in another order with the same ones."""
    searches = any(option.name == "sims" for option in ENGINES[name].options)
    spec = f"{name}:sims={sized(20, 8)}" if searches else name
    run = run_of(spec, "planner:scout=1.5")

    def played(seats: Seats, boards: Sequence[int]) -> dict[int, list[GameRecord]]:
        return {board: play_board(seats, board) for board in boards}

    alone: dict[int, list[GameRecord]] = {}
    for board in (0, 1, 2):
        with Seats(run) as seats:
            alone |= played(seats, [board])
    with Seats(run) as seats:
        for order in ([2, 0, 1], [1, 1, 0, 2]):
            assert played(seats, order) == alone
    with Seats(run_of("planner:scout=1.5", spec)) as seats:
        other = played(seats, [0])
    with Seats(run) as seats:
        assert played(seats, [0]) != other
        assert played(seats, [2])[2] == alone[2]


def test_all_tables_of_a_board_have_the_same_deal_and_streams_of_their_own() -> None:
    run = run_of("random", "random", players=3)
    with Seats(run) as seats:
        records = play_board(seats, 4)
    assert len({record.rounds[0].deal for record in records}) == 1
    assert len({record.rounds[0].moves for record in records}) == len(records)


def test_the_rest_of_the_cards_is_dealt_in_the_second_round_of_two() -> None:
    run = run_of("planner", "greedy", players=2, unit="game", forced_pass=True)
    first, second = deals(run, 0)
    cards = [
        {tuple(sorted(divmod(card, 16))) for seat in (0, 1) for card in round_.hand(seat)}
        for round_ in (first, second)
    ]
    assert len(cards[0]) == len(cards[1]) == 22
    assert not cards[0] & cards[1]
    assert second.start == 1 - first.start
    assert first.forced_pass
    assert second.forced_pass


@pytest.mark.parametrize("unit", ["round", "game"])
@pytest.mark.parametrize("players", [2, 3, 5])
def test_records_replay(players: int, unit: str) -> None:
    run = run_of("greedy", "planner", players=players, unit=unit)
    for lines in play_chunk(run, 0, 3).lines:
        for line in lines:
            record = parse_record(line)
            check_record(record)
            assert len(record.rounds) == (players if unit == "game" else 1)


def test_at_once_or_move_by_move_a_round_is_the_same() -> None:
    run = run_of("planner", "greedy", players=4)
    quick = play_chunk(run, 0, 5).lines
    with Seats(run) as seats:
        seats.at_once[0] = None  # as if it were an engine that searches
        slow = [play_board(seats, board) for board in range(5)]
    for board, records in enumerate(slow):
        for line, record in zip(quick[board], records, strict=True):
            assert parse_record(line).rounds == record.rounds


# Results --------------------------------------------------------------------------------


def test_an_engine_is_as_good_as_itself() -> None:
    standing = play(run_of("planner", "planner", players=3), 300)
    assert standing.margin.ci95 is not None
    assert standing.margin.ci95[0] <= 0 <= standing.margin.ci95[1]
    assert standing.json(0.0)["gain"]["mean"] == 0  # the very same rounds


def test_the_weaker_engine_is_found_out() -> None:
    standing = play(run_of("greedy", "planner", players=4), 60)
    margin = standing.margin
    assert margin.ci95 is not None
    assert margin.ci95[1] < -5
    assert standing.rounds == 240


def test_results_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    run = run_of("random", "planner", players=3, seed=8)
    files = [tmp_path / "one", tmp_path / "three"]
    alone = play(run, 40, files[0])
    three = play(run, 40, files[1], workers=3, make=local_workers(3))
    assert figures(alone) == figures(three)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_match_stops_at_the_same_board_however_it_is_played(tmp_path: Path) -> None:
    run = run_of("greedy", "planner", players=3, seed=8)
    test = SequentialTest(-3.0, 0.0, minimum=10)
    alone = play(run, 1000, test=test)
    assert alone.verdict is not None
    assert alone.verdict.accepted == "h0"
    assert alone.boards < 1000
    record = tmp_path / "record"
    play(run, 5, record)
    again = play(run, 1000, record, test=test)
    assert figures(again) == figures(alone)
    # what was written beyond the decision is not counted
    play(run, alone.boards + 7, record)
    assert figures(play(run, 1000, record, test=test)) == figures(alone)


# Never lose a round ---------------------------------------------------------------------


def test_a_record_cut_anywhere_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    run = run_of("random", "planner", players=3)
    whole = tmp_path / "whole"
    wanted = figures(play(run, 12, whole))
    data = whole.read_bytes()
    rng = random.Random(1)
    cuts = {0, 1, len(data) - 1, len(data), *(rng.randrange(len(data)) for _ in range(60))}
    cuts |= {at + 1 for at, byte in enumerate(data) if byte == ord("\n") and rng.random() < 0.3}
    for cut in sorted(cuts):
        torn = tmp_path / "torn"
        torn.write_bytes(data[:cut])
        assert figures(play(run, 12, torn)) == wanted
        assert torn.read_bytes() == data


def command(record: Path, boards: int) -> list[str]:
    return [
        sys.executable, "-c", "from bigtop.cli.main import main; main()",
        "match", "random", "planner", "--players", "3", "--boards", str(boards), "--seed", "5",
        "--workers", "2", "--record", str(record), "--json",
    ]  # fmt: skip


def test_a_killed_match_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    boards = 3000
    undisturbed = tmp_path / "undisturbed"
    wanted = figures(play(run_of("random", "planner", players=3), boards, undisturbed))
    record = tmp_path / "record"
    rng = random.Random(2)
    kills = 0
    for _ in range(6):
        process = subprocess.Popen(
            command(record, boards), stdout=subprocess.DEVNULL, start_new_session=True
        )
        enough = (record.stat().st_size if record.exists() else 0) + rng.randrange(1, 400_000)
        while process.poll() is None and (not record.exists() or record.stat().st_size < enough):
            time.sleep(0.005)
        kills += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert kills >= 2
    done = subprocess.run(command(record, boards), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    del found["seconds"]
    assert found == json.loads(json.dumps(wanted))
    assert record.read_bytes() == undisturbed.read_bytes()


def test_an_interrupt_tells_how_to_go_on(tmp_path: Path) -> None:
    record = tmp_path / "record"
    process = subprocess.Popen(
        command(record, 10_000_000), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
        # heard even where the tests were started in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not record.exists() or record.stat().st_size < 20_000:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, words = process.communicate()
    assert process.returncode == 130
    assert f"--record {record}" in words
    assert "to go on: bigtop match random planner" in words
    assert "margin" in words


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"seed": 6}, "seed 5 there, 6 asked for"),
        ({"players": 4}, "players 3 there, 4 asked for"),
        ({"unit": "game"}, "rounds a game 1 there, 3 asked for"),
        ({"engines": ("random", "greedy")}, "engine 1 planner there, greedy asked for"),
        ({"budget": "sims=5"}, "kind of run or budget"),
    ],
)
def test_the_record_of_another_run_is_refused(
    tmp_path: Path, other: dict[str, Any], difference: str
) -> None:
    record = tmp_path / "record"
    play(run_of("random", "planner"), 3, record)
    before = record.read_bytes()
    asked: dict[str, Any] = {"players": 3, "seed": 5, "unit": "round", **other}
    engines = asked.pop("engines", ("random", "planner"))
    with pytest.raises(RunMismatchError, match=difference):
        play(run_of(*engines, **asked), 3, record)
    assert record.read_bytes() == before


def test_a_file_that_is_no_record_is_refused_and_kept(tmp_path: Path) -> None:
    record = tmp_path / "notes"
    record.write_text("buy milk\nand bread\n")
    with pytest.raises(RunMismatchError, match="line 1: expected a game record"):
        play(run_of("random", "planner"), 3, record)
    assert record.read_text() == "buy milk\nand bread\n"


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    run = run_of("random", "planner")
    with (
        RecordFile(tmp_path / "record", run),
        pytest.raises(RecordInUseError, match="another process is writing it"),
    ):
        RecordFile(tmp_path / "record", run)


def test_a_full_disk_is_one_line_and_nothing_is_lost(tmp_path: Path) -> None:
    record = tmp_path / "record"
    room = 30_000
    run = subprocess.run(
        command(record, 300),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "the same command goes on from what was written" in run.stderr
    assert record.stat().st_size <= room
    whole = play(run_of("random", "planner", players=3), 300)
    assert figures(play(run_of("random", "planner", players=3), 300, record)) == figures(whole)


def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_bytes(bytes(LONGEST_LINE + 5))
    with pytest.raises(RunMismatchError, match="line 1: expected a game record"):
        play(run_of("random", "planner"), 3, record)


def test_who_forfeits_a_round_has_much_less_than_all_others() -> None:
    game = {
        "engine_of_seat": [0, 1, 1],
        "points": [5, 2, 3],
        "rounds": [
            {"end": "forfeit", "forfeit": {"seat": 0, "why": "crashed"}, "points": [5, 2, 3]}
        ],
    }
    found = result_of(game)
    assert found.points == (2 - FORFEIT_POINTS, 2, 3)
    assert found.forfeits == ((0, "crashed"),)


# Players that cannot start ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "seconds", "why"),
    [
        ("import time; time.sleep(600)", 0.4, "too late: no bepok within 0.4 s"),
        ("raise SystemExit(3)", 60, "crashed: it ended with status 3, waiting for bepok"),
        ("print('bepok 99')", 60, "protocol: expected bepok and a version up to 1"),
    ],
)
@pytest.mark.parametrize("kind", ["match", "tournament"])
def test_a_program_that_does_not_start_is_refused_once(
    kind: str,
    program: str,
    seconds: float,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bigtop.runs.LIMITS", Limits(handshake=seconds))
    monkeypatch.setattr("bigtop.runs.play_board", None)  # no board is played
    record = tmp_path / "record"
    spec = f"cmd:{shlex.join([sys.executable, '-S', '-c', program])}"
    result = CliRunner().invoke(
        bigtop, [kind, "planner", spec, "--seed", "1", "--workers", "1", "--record", str(record)]
    )
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"bigtop: {spec} does not start: {why}")
    assert record.read_bytes() == b""


def test_a_finished_record_needs_no_player(tmp_path: Path) -> None:
    record = tmp_path / "record"
    program = tmp_path / "engine.py"
    program.write_bytes(EXAMPLE.read_bytes())
    run = run_of(f"cmd:{shlex.join([sys.executable, str(program)])}", "planner")
    played = figures(play(run, 2, record))
    program.unlink()
    assert figures(play(run, 2, record)) == played
    with pytest.raises(PlayerRefusedError, match="does not start: crashed"):
        play(run, 3, record)
