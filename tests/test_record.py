"""Game records: reading, writing and replaying them, and what is refused at which place."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtop import (
    Forfeit,
    Game,
    GameRecord,
    NotationError,
    Position,
    RecordError,
    RoundRecord,
    check_record,
    format_record,
    parse_record,
    read_records,
    replay,
    write_record,
)
from bigtop.core.rng import Rng
from bigtop.core.state import MOVE_LIMIT, deal, deck
from bigtop.notation import format_move, format_row, low_first, parse_row

GAMES = Path(__file__).parent / "vectors" / "games.jsonl"
LINES = GAMES.read_text(encoding="utf-8").splitlines()
FIRST_OF = {len(json.loads(line)["players"]): line for line in reversed(LINES)}
"""The first game of the vectors for each number of players."""

Object = dict[str, Any]


def changed(change: Callable[[Object], object], players: int = 3) -> str:
    """The line of a game after a change."""
    value = json.loads(FIRST_OF[players])
    change(value)
    return json.dumps(value)


# Reading and writing ------------------------------------------------------------------------


def test_vectors_are_written_as_they_were_read() -> None:
    with GAMES.open("rb") as stream:
        assert [format_record(record) for record in read_records(stream)] == LINES
    with GAMES.open(encoding="utf-8") as text:
        assert [record.line for record in read_records(text)] == list(range(1, len(LINES) + 1))
    out = io.StringIO()
    for line in LINES[:5]:
        write_record(out, parse_record(line))
    assert out.getvalue() == "".join(f"{line}\n" for line in LINES[:5])


def test_what_a_record_says() -> None:
    record = parse_record(LINES[2])
    assert record.players == ("random", "random")
    assert record.seed == 11
    assert record.forced_pass
    assert record.is_whole
    assert record.points == (-10, 8)
    first = record.rounds[0]
    assert first.start == 0
    assert first.deal[1] == "87.69.38.48.64.T6.67.27.74.81.T7"
    assert first.flips == (False, True)
    assert first.moves[:5] == ("S4", "S5", "S6", "L8~", "S3")
    assert first.end == "ii"
    assert first.points == (-7, 4)
    assert first.forfeit is None
    assert (record.board, record.engine_of_seat, record.control, record.config) == (
        None,
        None,
        False,
        None,
    )


def test_unknown_keys_are_kept() -> None:
    def add(value: Object) -> None:
        value["zoo"] = {"a": [1, 2.5, None, "\u00e4\n"]}
        value["rounds"][1]["clock"] = [0.25]
        value["rounds"][1]["end"] = "forfeit"
        value["rounds"][1]["forfeit"] = {"seat": 1, "why": "\u2620", "trace": ["x"]}

    line = changed(add)
    record = parse_record(line)
    assert record.extra == {"zoo": {"a": [1, 2.5, None, "\u00e4\n"]}}
    assert record.rounds[1].extra == {"clock": [0.25]}
    assert record.rounds[1].forfeit == Forfeit(1, "\u2620", {"trace": ["x"]})
    assert json.loads(format_record(record)) == json.loads(line)
    assert parse_record(format_record(record)) == record
    assert format_record(record).isascii()


def test_keys_of_runs() -> None:
    run = {"board": 12, "engine_of_seat": [0, 1, 1], "control": True, "config": "a1b2"}
    record = parse_record(changed(lambda value: value.update(run)))
    assert record.board == 12
    assert record.engine_of_seat == [0, 1, 1]
    assert record.control
    assert record.config == "a1b2"
    assert record.extra == {}
    assert json.loads(format_record(record)).items() >= run.items()
    seedless = parse_record(changed(lambda value: value.pop("seed")))
    assert seedless.seed is None
    assert "seed" not in json.loads(format_record(seedless))


def test_bytes_and_text_are_the_same() -> None:
    line = changed(lambda value: value.update(players=["\u00e9", "b", "c"]))
    raw = json.dumps(json.loads(line), ensure_ascii=False)
    assert parse_record(raw) == parse_record(raw.encode()) == parse_record(line)


class Endless:
    """Lines without end: whoever reads them all never comes back."""

    def __init__(self) -> None:
        self.given = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.given += 1
        return LINES[self.given % len(LINES)] + "\n"


def test_reading_streams() -> None:
    stream = Endless()
    records = list(itertools.islice(read_records(stream), 10))
    assert len(records) == stream.given == 10


TORN = LINES[0].partition("11")[0]
"""A line that was not written to its end: it stops before the value of the seed."""

BAD_LINES: dict[str, tuple[str | bytes, str]] = {
    "empty": ("\n", "expected a game record, one JSON object on the line, it is empty"),
    "torn": (
        TORN,
        f"expected a game record, one JSON object on the line, the JSON breaks at character "
        f"{len(TORN) + 1} (Expecting value): {TORN[-30:]!a}",
    ),
    "no JSON": (
        "hello",
        "expected a game record, one JSON object on the line, the JSON breaks at character 1 "
        "(Expecting value): 'hello'",
    ),
    "two objects": (
        "{} {}",
        "expected a game record, one JSON object on the line, the JSON breaks at character 4 "
        "(Extra data): '{} {}'",
    ),
    "a list": ("[1]", "expected a game record, one JSON object on the line, got [1]"),
    "a number": ("17", "expected a game record, one JSON object on the line, got 17"),
    "not UTF-8": (b'{"bigtop": "\xff"}', "expected UTF-8, byte 13 is none"),
    "NaN": (
        '{"bigtop": NaN}',
        "expected a game record, one JSON object on the line, NaN is no number of JSON",
    ),
    "a huge number": (
        '{"bigtop": 1e999}',
        "expected a game record, one JSON object on the line, a number is too big to be kept",
    ),
    "a key twice": (
        '{"bigtop": 1, "bigtop": 1}',
        "expected a game record, one JSON object on the line, the key 'bigtop' appears twice in "
        "one object",
    ),
    "deep": (
        "[" * 100_000,
        "expected a game record, one JSON object on the line, the JSON is nested too deeply",
    ),
    "no version": ("{}", "expected the key bigtop (1), it is missing"),
    "version 2": (
        changed(lambda value: value.update(bigtop=2)),
        "expected 1 for bigtop, got 2",
    ),
    "version true": (
        changed(lambda value: value.update(bigtop=True)),
        "expected 1 for bigtop, got True",
    ),
    "no players": (
        changed(lambda value: value.pop("players")),
        "expected the key players (2 to 5 names), it is missing",
    ),
    "one player": (
        changed(lambda value: value.update(players=["a"])),
        "expected 2 to 5 names for players, got ['a']",
    ),
    "names": (
        changed(lambda value: value.update(players=["a", 1, "c"])),
        "expected 2 to 5 names for players, got ['a', 1, 'c']",
    ),
    "seed": (
        changed(lambda value: value.update(seed=1 << 64)),
        "expected an integer from 0 to 2**64 - 1 for seed, got 18446744073709551616",
    ),
    "seed 1.5": (
        changed(lambda value: value.update(seed=1.5)),
        "expected an integer from 0 to 2**64 - 1 for seed, got 1.5",
    ),
    "forced_pass": (
        changed(lambda value: value.update(forced_pass=True)),
        "expected forced_pass only with two players, there are 3",
    ),
    "forced_pass 1": (
        changed(lambda value: value.update(forced_pass=1), 2),
        "expected true or false for forced_pass, got 1",
    ),
    "board": (
        changed(lambda value: value.update(board="1")),
        "expected an integer for board, got '1'",
    ),
    "control": (
        changed(lambda value: value.update(control="yes")),
        "expected true or false for control, got 'yes'",
    ),
    "config": (
        changed(lambda value: value.update(config={})),
        "expected a text for config, got {}",
    ),
    "no rounds": (
        changed(lambda value: value.update(rounds=[])),
        "expected 1 to 3 rounds for 3 players for rounds, got []",
    ),
    "a round too many": (
        changed(lambda value: value.update(rounds=[0, 0, 0, 0])),
        "expected 1 to 3 rounds for 3 players for rounds, got [0, 0, 0, 0]",
    ),
    "points of two": (
        changed(lambda value: value.update(points=[1, 2])),
        "expected 3 integers for points, got [1, 2]",
    ),
    "points 1.0": (
        changed(lambda value: value.update(points=[1.0, 2, 3])),
        "expected 3 integers for points, got [1.0, 2, 3]",
    ),
    "a round is no object": (
        changed(lambda value: value.update(rounds=[[]])),
        "round 1: expected an object, got []",
    ),
    "a round's points": (
        changed(lambda value: value["rounds"][1].update(points=[0, 0, True])),
        "round 2: expected 3 integers for points, got [0, 0, True]",
    ),
    "start": (
        changed(lambda value: value["rounds"][1].update(start="0")),
        "round 2: expected a seat for start, got '0'",
    ),
    "no deal": (
        changed(lambda value: value["rounds"][2].pop("deal")),
        "round 3: expected the key deal (3 rows of cards), it is missing",
    ),
    "deal of two": (
        changed(lambda value: value["rounds"][2].update(deal=["-", "-"])),
        "round 3: expected 3 rows of cards for deal, got ['-', '-']",
    ),
    "flips of two": (
        changed(lambda value: value["rounds"][0].update(flips=[True, False])),
        "round 1: expected 3 times true or false for flips, got [True, False]",
    ),
    "flips as numbers": (
        changed(lambda value: value["rounds"][0].update(flips=[0, 1, 0])),
        "round 1: expected 3 times true or false for flips, got [0, 1, 0]",
    ),
    "moves as text": (
        changed(lambda value: value["rounds"][0].update(moves="S1")),
        "round 1: expected a list of move tokens for moves, got 'S1'",
    ),
    "end": (
        changed(lambda value: value["rounds"][0].update(end="iii")),
        "round 1: expected i, ii, cut or forfeit for end, got 'iii'",
    ),
    "forfeit without whom": (
        changed(lambda value: value["rounds"][0].update(end="forfeit")),
        "round 1: expected the key forfeit (an object with seat and why), it is missing",
    ),
    "forfeit of a ghost": (
        changed(
            lambda value: value["rounds"][0].update(
                end="forfeit", forfeit={"seat": 3, "why": "lost"}
            )
        ),
        "round 1, forfeit: expected a seat for seat, got 3",
    ),
    "forfeit without why": (
        changed(lambda value: value["rounds"][0].update(end="forfeit", forfeit={"seat": 1})),
        "round 1, forfeit: expected the key why (a text), it is missing",
    ),
    "forfeit but not": (
        changed(lambda value: value["rounds"][0].update(end="i", forfeit={"seat": 1, "why": ""})),
        "round 1: expected forfeit only when end is forfeit, not i",
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_malformed_lines(name: str) -> None:
    line, message = BAD_LINES[name]
    with pytest.raises(NotationError) as refused:
        parse_record(line)
    assert str(refused.value) == message
    with pytest.raises(NotationError) as numbered:
        parse_record(line, 17)
    assert str(numbered.value) == f"line 17: {message}"
    assert message.isprintable()


def test_a_huge_line_is_quoted_shortly() -> None:
    for line in ("x" * 1_000_000, json.dumps("x" * 1_000_000), '{"a": "' + "x" * 1_000_000):
        with pytest.raises(NotationError) as refused:
            parse_record(line)
        assert len(str(refused.value)) < 250
    with pytest.raises(NotationError) as digits:
        parse_record('{"bigtop": ' + "1" * 5000 + "}")
    assert len(str(digits.value)) < 250


def test_a_bad_line_ends_the_reading_or_is_told() -> None:
    lines = [LINES[0], "", LINES[1], LINES[2][:100], LINES[3]]
    read = read_records(lines)
    assert next(read) == parse_record(LINES[0])
    with pytest.raises(NotationError, match=r"^line 2: .*it is empty$"):
        next(read)
    told: list[tuple[int, str]] = []
    records = list(read_records(lines, lambda number, error: told.append((number, str(error)))))
    assert records == [parse_record(LINES[number]) for number in (0, 1, 3)]
    assert [record.line for record in records] == [1, 3, 5]
    assert [number for number, _ in told] == [2, 4]
    assert told[1][1].startswith("line 4: expected a game record, one JSON object on the line, ")


def test_files_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(LINES[0].encode() + b"\n\xff\xfe\n" + LINES[1].encode())
    with path.open("rb") as stream, pytest.raises(NotationError, match=r"^line 2: expected UTF-8"):
        list(read_records(stream))
    with path.open("rb") as stream:
        assert len(list(read_records(stream, lambda number, error: None))) == 2
    with (
        path.open(encoding="utf-8") as text,
        pytest.raises(NotationError, match=r"^line 1 or later: expected UTF-8, 'utf-8' codec"),
    ):
        list(read_records(text))


# Replaying ----------------------------------------------------------------------------------


def test_all_vectors_replay() -> None:
    with GAMES.open("rb") as stream:
        for record in read_records(stream):
            check_record(record)


def test_steps() -> None:
    record = parse_record(LINES[2])
    steps = list(replay(record))
    moves = sum(len(each.moves) for each in record.rounds)
    assert len(steps) == moves + 2 * (len(record.players) + 1)
    first = [step for step in steps if step.game.round == 1]
    assert [step.ply for step in first[:4]] == [0, 0, 0, 1]
    assert [step.seat for step in first[:4]] == [0, 1, 0, 1]
    assert [step.round.start for step in first[:4]] == [0, 0, -1, -1]
    assert [step.code for step in first].index(None) == len(first) - 1
    tokens = [format_move(step.code) for step in first if step.code is not None]
    assert tokens == ["keep", "flip", *record.rounds[0].moves]
    assert all(step.game == Game(1, (0, 0)) for step in first)
    second = steps[len(first) :]
    assert all(step.game == Game(2, record.rounds[0].points) for step in second)
    assert second[-1].round.points() == record.rounds[1].points
    assert second[-1].round.end == "ii"
    for step in (*first[:4], first[-1], second[5], second[-1]):
        position = step.position()
        assert position.round == step.round
        assert position.turn == step.seat
        assert position.plies == first[-1].position().plies[: step.played] or step in second
        assert Position.parse(position.history) == position
    assert first[3].position().history == f"{first[0].position()} moves keep flip S4"


def test_steps_are_the_callers_own() -> None:
    record = parse_record(LINES[0])
    texts = [str(step.position()) for step in replay(record)]
    for step in replay(record):
        while not step.round.end:
            step.round.play(step.round.moves()[0])
    assert [str(step.position()) for step in replay(record)] == texts
    steps = list(replay(record))
    assert [str(step.position()) for step in reversed(steps)] == texts[::-1]


def test_a_show_may_name_its_cards() -> None:
    def name(value: Object) -> None:
        round_value = value["rounds"][0]
        shows = [n for n, move in enumerate(round_value["moves"]) if "S" in move]
        steps = [step for step in replay(parse_record(FIRST_OF[3])) if step.game.round == 1]
        for n in shows:
            ply = steps[n + 4].position().plies[-1]
            round_value["moves"][n] = format_move(ply.code, ply.cards)

    line = changed(name)
    assert ":" in line.replace('":', "")
    check_record(parse_record(line))


def test_right_of_a_single_card() -> None:
    record = parse_record(LINES[0])
    moves = record.rounds[0].moves
    assert moves[:2] == ("S7", "L3")
    first = dataclasses.replace(record.rounds[0], moves=("S7", "R3", *moves[2:]))
    again = dataclasses.replace(record, rounds=(first, record.rounds[1]))
    check_record(again)
    assert [step.code for step in replay(again)] == [step.code for step in replay(record)]


def first_round(value: Object) -> Any:
    return value["rounds"][0]


def swap(value: Object) -> None:
    """Exchange a card of seat 0 with one of seat 1 that is not the same."""
    rows = [row.split(".") for row in first_round(value)["deal"]]
    rows[0][0] = rows[1][0]
    first_round(value)["deal"] = [".".join(row) for row in rows]


def longer_deal(value: Object) -> None:
    rows = [row.split(".") for row in first_round(value)["deal"]]
    rows[0].append(rows[1].pop())
    first_round(value)["deal"] = [".".join(row) for row in rows]


def same_cards_again(value: Object) -> None:
    value["rounds"][1]["deal"] = first_round(value)["deal"]


def move(number: int, token: str) -> Callable[[Object], None]:
    def change(value: Object) -> None:
        first_round(value)["moves"][number - 1] = token

    return change


THREE_MOVES = len(json.loads(FIRST_OF[3])["rounds"][0]["moves"])
THREE_START = json.loads(FIRST_OF[3])["rounds"][0]["start"]
THREE_END = json.loads(FIRST_OF[3])["rounds"][0]["end"]
THREE_POINTS = "/".join(map(str, json.loads(FIRST_OF[3])["rounds"][0]["points"]))
OTHER_END = "ii" if THREE_END == "i" else "i"


@pytest.mark.parametrize(
    ("change", "players", "round", "move", "reason"),
    [
        (swap, 3, 1, None, "deal: card .* appears twice: seat 0 and seat 1"),
        (longer_deal, 3, 1, None, "deal: flip phase: seat 0 holds 13 cards, 12 were dealt; "),
        (
            lambda value: first_round(value)["deal"].__setitem__(1, "45.3A"),
            3,
            1,
            None,
            "deal, seat 1: expected a card such as 37 or hidden cards such as x4 in the row "
            r"\(place 2\), got '3A': '45\.3A'$",
        ),
        (
            lambda value: first_round(value)["deal"].__setitem__(1, "x12"),
            3,
            1,
            None,
            "deal, seat 1: a card is hidden$",
        ),
        (
            lambda value: first_round(value)["deal"].__setitem__(
                0, first_round(value)["deal"][0].replace("9", "T")
            ),
            3,
            1,
            None,
            "deal: .*is not in the deck for 3 players",
        ),
        (
            same_cards_again,
            2,
            2,
            None,
            "card .* was dealt in round 1 already, the second round of two players is dealt "
            "from the other cards$",
        ),
        (
            lambda value: first_round(value).update(start=7),
            3,
            1,
            None,
            "deal: the starting seat is 7, the seats are 0 to 2$",
        ),
        (
            lambda value: first_round(value).update(start=-1),
            3,
            1,
            None,
            "deal: the starting seat is -1, the seats are 0 to 2$",
        ),
        (
            lambda value: first_round(value).update(start=(THREE_START + 1) % 3),
            3,
            1,
            None,
            f"seat {(THREE_START + 1) % 3} starts, it should be seat {THREE_START}: "
            "it holds the card 1/2$",
        ),
        (
            lambda value: value["rounds"][2].update(start=value["rounds"][1]["start"]),
            3,
            3,
            None,
            r"seat . starts, it should be seat .: the start passes to the next seat each round$",
        ),
        (move(2, "S99"), 3, 1, 2, "expected places from 1 to 45, got 'S99'$"),
        (move(2, "Z9"), 3, 1, 2, "expected a move such as .*, got 'Z9'$"),
        (move(1, "L1"), 3, 1, 1, "'L1': .*"),
        (move(2, "S13"), 3, 1, 2, "'S13': .*place 13.*"),
        (move(2, "pass"), 3, 1, 2, "'pass': .*"),
        (move(2, "keep"), 3, 1, 2, "'keep': .*"),
        (move(1, "S1:12"), 3, 1, 1, "'S1:12': the card at place 1 is known to be .., not 12$"),
        (
            lambda value: first_round(value)["moves"].append("S1"),
            3,
            1,
            THREE_MOVES + 1,
            rf"'S1' comes after the round has ended \({THREE_END}\)$",
        ),
        (
            lambda value: first_round(value)["moves"].pop(),
            3,
            1,
            None,
            f"it is not over after its {THREE_MOVES - 1} moves, the record says {THREE_END}$",
        ),
        (
            lambda value: first_round(value).update(end=OTHER_END),
            3,
            1,
            None,
            f"it ends by {THREE_END} after its {THREE_MOVES} moves, not by {OTHER_END}$",
        ),
        (
            lambda value: first_round(value).update(end="cut"),
            3,
            1,
            None,
            f"it ends by {THREE_END} after its {THREE_MOVES} moves, not by cut$",
        ),
        (
            lambda value: first_round(value).update(
                end="forfeit", forfeit={"seat": 0, "why": "tired"}
            ),
            3,
            1,
            None,
            rf"it is over after its {THREE_MOVES} moves \({THREE_END}\), not forfeited$",
        ),
        (
            lambda value: first_round(value).update(points=[9, 9, 9]),
            3,
            1,
            None,
            f"its points are {THREE_POINTS}, the record says 9/9/9$",
        ),
        (
            lambda value: value.update(points=[100, 0, 0]),
            3,
            None,
            None,
            "the points of its rounds add up to .*, the record says 100/0/0$",
        ),
        (lambda value: value["rounds"].pop(), 3, None, None, "the points of its rounds add up"),
    ],
)
def test_records_that_do_not_replay(
    change: Callable[[Object], object],
    players: int,
    round: int | None,
    move: int | None,
    reason: str,
) -> None:
    record = parse_record(changed(change, players), 5)
    with pytest.raises(RecordError, match=rf"^line 5, .*: {reason}") as refused:
        check_record(record)
    error = refused.value
    assert (error.round, error.move, error.line) == (round, move, 5)
    where = "the game" if round is None else f"round {round}"
    where += "" if move is None else f", move {move}"
    assert str(error) == f"line 5, {where}: {error.reason}"
    assert str(error).isprintable()
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), vars(twin)) == (str(error), vars(error))
    with pytest.raises(RecordError, match=f"^{where}: "):
        check_record(dataclasses.replace(record, line=0))


def test_what_came_before_an_error_was_right() -> None:
    record = parse_record(changed(move(6, "S12-13")))
    replayed = replay(record)
    steps = [next(replayed) for _ in range(8)]
    with pytest.raises(RecordError, match=r"^round 1, move 6: "):
        next(replayed)
    assert [step.ply for step in steps] == [0, 0, 0, 0, 1, 2, 3, 4]
    played = list(replay(parse_record(FIRST_OF[3])))[:8]
    assert [str(step.position()) for step in steps] == [str(step.position()) for step in played]


@pytest.mark.parametrize("token", ["S1:" + "12." * 40_000, "S" * 100_000, "\u00e9" * 100_000])
def test_a_long_token_is_quoted_shortly(token: str) -> None:
    with pytest.raises(RecordError, match=r"^round 1, move 2: ") as refused:
        check_record(parse_record(changed(move(2, token))))
    assert len(str(refused.value)) < 700
    late = changed(lambda value: first_round(value)["moves"].append(token))
    with pytest.raises(RecordError, match="comes after the round has ended") as refused:
        check_record(parse_record(late))
    assert len(str(refused.value)) < 200
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_forced_pass_edition_matters(players: int) -> None:
    record = parse_record(FIRST_OF[players])
    if players > 2:
        with pytest.raises(RecordError, match="a forced pass is for two players"):
            check_record(dataclasses.replace(record, forced_pass=True))
        return
    passed = [
        game
        for game in map(parse_record, LINES)
        if len(game.players) == 2
        and not game.forced_pass
        and all("pass" in each.moves for each in game.rounds)
    ]
    refused = 0
    for game in passed:
        try:
            check_record(dataclasses.replace(game, forced_pass=True))
        except RecordError as error:
            refused += error.move is not None and "'pass'" in error.reason
    assert refused


def test_a_single_round_may_start_anywhere() -> None:
    value = json.loads(FIRST_OF[3])
    for number, each in enumerate(value["rounds"], 1):
        single = GameRecord(
            ("a", "b", "c"),
            parse_record(FIRST_OF[3]).rounds[number - 1 : number],
            tuple(each["points"]),
        )
        assert not single.is_whole
        check_record(single)


def test_shapes_that_only_a_caller_can_build() -> None:
    record = parse_record(FIRST_OF[3])
    first = record.rounds[0]
    for change, message in (
        ({"players": ("a",)}, "3 rounds of 1 players are no game of 2 to 5 players"),
        ({"rounds": ()}, "0 rounds of 3 players are no game"),
        (
            {"rounds": (dataclasses.replace(first, deal=first.deal[:2]),)},
            "round 1: 2 hands were dealt to 3 players",
        ),
        (
            {"rounds": (dataclasses.replace(first, flips=(True,)),)},
            "round 1: there are 1 flips of 3 players",
        ),
        (
            {"rounds": (dataclasses.replace(first, end="forfeit", moves=first.moves[:3]),)},
            "round 1: it is forfeited, but by no seat of the table",
        ),
    ):
        with pytest.raises(RecordError, match=message):
            check_record(dataclasses.replace(record, **change))


# Records made from play ---------------------------------------------------------------------


def random_game(
    players: int, rounds: int, forced_pass: bool, seed: int
) -> tuple[GameRecord, list[Position]]:
    """A game of random moves as its record, and the last position of each round."""
    rng = Rng(seed)
    choose = random.Random(seed)
    cards: bytes | None = None
    start = 0
    scores = [0] * players
    told = []
    ends = []
    for number in range(rounds):
        dealt = deal(players, rng, cards)
        hands = [dealt.hand(seat) for seat in range(players)]
        start = (start + 1) % players if number else dealt.start
        if players == 2:
            used = set(map(low_first, b"".join(hands)))
            cards = bytes(card for card in deck(2) if card not in used)
        position = Position.from_deal(hands, start, forced_pass=forced_pass)
        for _ in range(players):
            position = position.play(choose.choice(["keep", "flip"]))
        while not position.is_over:
            position = position.play_code(position.round.random_move(rng))
        told.append(RoundRecord.from_position(position))
        ends.append(position)
        scores = [a + b for a, b in zip(scores, position.points(), strict=True)]
    names = tuple(f"seat {seat}" for seat in range(players))
    record = GameRecord(names, tuple(told), tuple(scores), seed=seed, forced_pass=forced_pass)
    return record, ends


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.booleans(),
    st.integers(0, 2**64 - 1),
)
def test_played_games_replay(table: tuple[int, int], forced: bool, seed: int) -> None:
    players, rounds = table
    record, ends = random_game(players, rounds, forced and players == 2, seed)
    check_record(record)
    again = parse_record(format_record(record))
    assert again == record
    stops = [step for step in replay(again) if step.code is None]
    assert [step.position() for step in stops] == ends
    assert [step.position().history for step in stops] == [end.history for end in ends]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_damaged_moves_are_noticed(seed: int, data: st.DataObject) -> None:
    """The error comes at or after the damage, unless the moves still lead to the same end."""
    record, _ = random_game(data.draw(st.integers(2, 4)), 1, False, seed)
    moves = list(record.rounds[0].moves)
    at = data.draw(st.integers(0, len(moves) - 1))
    what = data.draw(st.sampled_from(["drop", "double", "other"]))
    if what == "drop":
        del moves[at]
    elif what == "double":
        moves.insert(at, moves[at])
    else:
        moves[at] = data.draw(st.sampled_from(["S1", "L1", "R1~", "L1+S1", "pass", "S12"]))
    damaged = dataclasses.replace(record.rounds[0], moves=tuple(moves))
    error = None
    try:
        check_record(dataclasses.replace(record, rounds=(damaged,)))
    except RecordError as refused:
        error = refused
    if error is not None:
        assert error.round == 1
        assert error.move is None or error.move > at
        return
    position = Position.from_deal([parse_row(row) for row in damaged.deal], damaged.start)
    for token in ["flip" if flipped else "keep" for flipped in damaged.flips] + moves:
        position = position.play(token)
    assert (position.end, position.points()) == (damaged.end, damaged.points)


def test_a_cut_round() -> None:
    dealt = deal(3, Rng(5))
    hands = [dealt.hand(seat) for seat in range(3)]
    position = Position.from_deal(hands, 1)
    for token in ("keep", "keep", "flip"):
        position = position.play(token)
    for number in range(MOVE_LIMIT):
        position = position.play("L1" if number % 2 else "S1")
    told = RoundRecord.from_position(position)
    assert told.end == "cut"
    record = GameRecord(("a", "b", "c"), (told,), told.points)
    check_record(record)
    assert sum(told.points) == sum(position.round.captured) + sum(position.round.chips) - sum(
        len(position.round.hand(seat)) for seat in range(3)
    )
    with pytest.raises(RecordError, match=r"move 1001: 'S1' comes after the round has ended"):
        check_record(
            dataclasses.replace(
                record, rounds=(dataclasses.replace(told, moves=(*told.moves, "S1")),)
            )
        )
    short = dataclasses.replace(told, moves=told.moves[:-1])
    with pytest.raises(RecordError, match="is not over after its 999 moves, the record says cut"):
        check_record(dataclasses.replace(record, rounds=(short,)))


def test_a_forfeited_round() -> None:
    record, ends = random_game(4, 1, False, 3)
    moves = ends[0].moves
    position = ends[0].first
    stopped = Position.from_round(position)
    for token in moves[:9]:
        stopped = stopped.play(token)
    told = RoundRecord.from_position(stopped, Forfeit(2, "it sang"))
    assert told.end == "forfeit"
    assert told.moves == moves[4:9]
    forfeited = GameRecord(record.players, (told,), told.points)
    check_record(forfeited)
    line = format_record(forfeited)
    assert parse_record(line) == forfeited
    assert '"end": "forfeit", "forfeit": {"seat": 2, "why": "it sang"}, "points": [' in line
    with pytest.raises(RecordError, match="round 1: its points are"):
        check_record(
            dataclasses.replace(forfeited, rounds=(dataclasses.replace(told, points=(0,) * 4),))
        )


def test_a_round_forfeited_while_choosing() -> None:
    record, ends = random_game(3, 1, False, 3)
    stopped = Position.from_round(ends[0].first).play("flip")
    told = RoundRecord.from_position(stopped, Forfeit(1, "asleep"))
    assert told.flips == (True,)
    assert told.moves == ()
    assert told.points == (-12, -12, -12)
    forfeited = GameRecord(record.players, (told,), told.points)
    check_record(forfeited)
    assert parse_record(format_record(forfeited)) == forfeited


def test_a_record_needs_the_whole_round() -> None:
    _, ends = random_game(3, 1, False, 3)
    over = ends[0]
    with pytest.raises(ValueError, match="the round is over: "):
        RoundRecord.from_position(over, Forfeit(0, ""))
    start = Position.from_round(over.first)
    with pytest.raises(ValueError, match="the round is not over: "):
        RoundRecord.from_position(start)
    with pytest.raises(ValueError, match="a record needs a full position with its moves since"):
        RoundRecord.from_position(over.view(0))
    late = Position.from_round(start.play("keep").round)
    with pytest.raises(ValueError, match="a record needs a full position with its moves since"):
        RoundRecord.from_position(late, Forfeit(0, ""))


def test_the_deal_is_written_as_it_was_dealt() -> None:
    record, ends = random_game(5, 1, False, 8)
    rows = [format_row(ends[0].first.hand(seat)) for seat in range(5)]
    assert list(record.rounds[0].deal) == rows
    assert all(len(parse_row(row)) == 9 for row in rows)
