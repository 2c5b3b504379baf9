"""The engines: legal answers everywhere, the same answer for the same seed in every way of asking,
right answers where they are known, and the specs that name them."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from helpers import CHECKED, TABLE_NAMES, TABLES, played, random_row, sized, vectors

from bigtop.core import ISA
from bigtop.core.chain import PRIOR, Story
from bigtop.core.evaluate import rated_moves
from bigtop.core.flat import Flat
from bigtop.core.policy import choose, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import PASS, SCOUT, SCOUT_SHOW, SHOW, Round, deal, move_parts
from bigtop.engines import (
    DEFAULT_SIMS,
    ENGINES,
    MODELS,
    Answer,
    EngineSpecError,
    Memory,
    make_engine,
)
from bigtop.notation import Game, Position
from bigtop.weights import shipped

SEARCHES = [name for name in ENGINES if any(o.name == "sims" for o in ENGINES[name].options)]
AT_ONCE = [name for name in ENGINES if name not in SEARCHES]
SIDE_BY_SIDE = ["flat", "bigtop"]  # several playouts in each sampled world
BY_THE_PLANNER = ["flat", "ismcts"]  # moves in the planner's order
SEEDLESS = ["planner", "learned"]
PLANNERS = ["planner", "like a planner"]


def spec_of(name: str, sims: int) -> str:
    return f"{name}:sims={sims}" if name in SEARCHES else name


def ask(spec: str, position: Position, seed: int = 1, threads: int = 1, memory: int = 8) -> Answer:
    """The answer, without the time that it took."""
    said = make_engine(spec).answer(position, seed, threads, memory)
    return dataclasses.replace(said, seconds=0.0)


def positions(table: tuple[int, bool], seed: int, step: int) -> list[Position]:
    """Views of the seats that act along a round, some with a game around, some full."""
    players = table[0]
    found = []
    for number, round_ in enumerate(played(players, seed, table[1])):
        if number % step or round_.end:
            continue
        game = Game(1 + number % players, tuple(range(-2, players - 2))) if number % 2 else None
        full = Position.from_round(round_, game)
        found.append(full if number % 5 == 4 else full.view(full.turn))
    return found


# Answers --------------------------------------------------------------------------------------


def is_open_ending(position: Position) -> bool:
    """Whether the tree searches it by max^n."""
    round_ = position.round
    left = len(round_.active) + sum(len(round_.hand(seat)) for seat in range(round_.players))
    return position.is_open and not position.flipping and left <= 14


def assert_sound(said: Answer, position: Position, sims: int) -> None:
    """What every answer has to be."""
    assert said.seat == position.turn
    assert said.seconds == 0.0
    assert said.move == said.lines[0].move
    assert sorted(line.move for line in said.lines) == sorted(position.legal_moves())
    assert said.sims == sum(line.visits for line in said.lines)
    name = said.engine.partition(":")[0]
    ending = name in ("ismcts", "bigtop") and is_open_ending(position)
    if name in AT_ONCE:
        assert (said.sims, said.worlds) == (0, 0)
    elif ending:  # it stops when it knows all
        assert 0 < said.sims <= (10 * sims if name == "bigtop" else sims)
        assert said.worlds == 1
    elif name in SIDE_BY_SIDE and not (name == "bigtop" and position.is_open):
        assert said.sims > 0
        assert 0 < said.worlds <= said.sims
    else:
        assert said.sims == said.worlds == sims
    for line in said.lines:
        assert line.pv[0] == line.move
        numbers = (line.points, line.margin, line.win)
        errors = (line.points_se, line.margin_se)
        if line.visits == 0:
            assert {*numbers, *errors} == {None}
            assert line.pv == (line.move,)
            continue
        points, margin, win = numbers
        assert points is not None
        assert margin is not None
        assert win is not None
        assert -45 <= points <= 999
        assert math.isfinite(margin)
        assert 0 <= win <= 1
        if line.visits == 1 or ending:
            assert errors == (None, None)
        else:
            assert all(error is not None and 0 <= error < 50 for error in errors)
        if not position.flipping:
            after = position
            for token in line.pv:
                after = after.play(token)


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
@pytest.mark.parametrize("name", ENGINES)
def test_answers_are_sound_all_along_a_round(name: str, table: tuple[int, bool]) -> None:
    """Flip phase, views, full positions, with a game and without."""
    asked = positions(table, 3, sized(3, 9))
    assert {position.flipping for position in asked} == {True, False}
    assert {position.game is None for position in asked} == {True, False}
    for number, position in enumerate(asked):
        sims = sized(60, 12)
        assert_sound(ask(spec_of(name, sims), position, number), position, sims)


@pytest.mark.parametrize("name", ENGINES)
def test_answers_to_the_good_positions_of_the_vectors(name: str) -> None:
    answered = 0
    for line in vectors("good_positions.jsonl"):
        position = Position.parse(line["position"])
        if position.is_over or position.round.hidden(position.turn):
            continue
        assert_sound(ask(spec_of(name, 50), position), position, 50)
        answered += 1
    assert answered > 5


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("sims", [1, 2, 3, 5, 17])
def test_the_smallest_budgets(name: str, sims: int) -> None:
    for table in TABLES:
        position = positions(table, 4, 7)[-1]
        assert_sound(ask(spec_of(name, sims), position), position, sims)


@pytest.mark.parametrize("name", ENGINES)
def test_the_only_move(name: str) -> None:
    position = Position.parse("57.46/12.13.91 34.35@1 0 f 8+0/7+2 -")
    said = ask(spec_of(name, 20), position)
    assert said.move == "pass"
    assert len(said.lines) == 1


@pytest.mark.parametrize("name", SEARCHES)
def test_errors_shrink_with_the_budget(name: str) -> None:
    """Standard errors are positive where outcomes differ, and go down by the root of the visits."""
    position = positions((4, False), 5, 1)[5]
    assert not position.flipping
    budgets = (sized(500, 100), sized(8_000, 800))
    few, many = (ask(spec_of(name, sims), position).lines[0] for sims in budgets)
    assert few.margin_se is not None
    assert many.margin_se is not None
    assert few.points_se is not None
    assert many.points_se is not None
    assert 0 < many.margin_se < few.margin_se
    assert 0 < many.points_se < few.points_se
    spread = few.margin_se * math.sqrt(few.visits), many.margin_se * math.sqrt(many.visits)
    assert 0.5 < spread[0] / spread[1] < 2


@pytest.mark.parametrize("name", SEARCHES)
def test_means_agree_with_their_errors(name: str) -> None:
    """Two seeds, the move that both visited most: the means differ by less than five of their
    errors (false alarm: about one in a million)."""
    position = positions((3, False), 6, 1)[8]
    one, two = (ask(f"{name}:sims={sized(3000, 300)}", position, seed) for seed in (1, 2))
    seen = {line.move: line for line in two.lines}
    line, other = one.lines[0], seen[one.lines[0].move]
    assert line.points is not None
    assert line.points_se is not None
    assert other.points is not None
    assert other.points_se is not None
    error = math.hypot(line.points_se, other.points_se)
    assert abs(line.points - other.points) < 5 * error


# The same seed, the same answer ---------------------------------------------------------------

ASKED = [positions(table, 7, 1)[table[0] + 3] for table in TABLES] + [
    Position.parse("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"),
    positions((5, False), 8, 1)[0],
    positions((3, False), 9, 5)[-1],
]
"""Of every table, early and late, with and without a game, in the flip phase and full."""
SIMS = sized(700, 30)


@pytest.mark.parametrize("name", ENGINES)
def test_the_same_seed_twice_and_after_other_searches(name: str) -> None:
    spec = spec_of(name, SIMS)
    for position in ASKED:
        said = ask(spec, position, 5)
        assert ask(spec, position, 5) == said
        for other in ASKED[:3]:
            ask(spec_of("bigtop", 50), other, 6)
            ask(spec_of("flat", 50), other, 7)
        engine = make_engine(spec)
        engine.answer(ASKED[0], 8)
        assert dataclasses.replace(engine.answer(position, 5, memory=8), seconds=0.0) == said


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("threads", [2, 3, 4, 16])
def test_the_same_answer_on_any_number_of_threads(name: str, threads: int) -> None:
    for position in ASKED:
        said = ask(spec_of(name, SIMS), position, 5)
        assert ask(spec_of(name, SIMS), position, 5, threads) == said


@pytest.mark.parametrize("name", [name for name in ENGINES if name not in SEEDLESS])
def test_other_seeds_differ_somewhere(name: str) -> None:
    scouting = Position.parse("34.52/72.14.61/53.31.85 97.98@2 0 - 25+0/1+0/0+0 -")
    said = {
        repr([ask(spec_of(name, SIMS), position, seed) for position in [*ASKED, scouting]])
        for seed in (*range(7), 2**64 - 1)
    }
    assert len(said) == 8 if name in SEARCHES else len(said) > 2


@pytest.mark.parametrize("name", SEEDLESS)
def test_some_players_need_no_seed(name: str) -> None:
    for position in ASKED:
        assert ask(name, position, 1) == ask(name, position, 2)


DIGEST = """
import dataclasses, json, sys
from bigtop.core import ISA
from bigtop.core.belief import Belief
from bigtop.core.policy import planner_h, play_rounds
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import make_engine
from bigtop.notation import Position

def digest(asked):
    said = []
    for spec, text, seed in asked["answers"]:
        answer = make_engine(spec).answer(Position.parse(text), seed, memory=8)
        said.append(repr(dataclasses.replace(answer, seconds=0.0)))
    for policy in ("random", "greedy", "planner"):
        for players in (2, 3, 4, 5):
            played = play_rounds([policy] * players, Rng(players), asked["rounds"])
            said.append(f"{policy} {sorted(played.items())}")
    for text in asked["full"]:
        round_ = Position.parse(text).round
        rng = Rng(1)
        said.append(f"{round_.moves()} {[round_.random_move(rng) for _ in range(50)]}")
        said.append(f"{round_.perft(2)} {Belief(round_.view(round_.turn)).sample(rng)}")
    said.append(str([planner_h(bytes.fromhex(row)) for row in asked["rows"]]))
    said.append(repr([deal(n, Rng(n)) for n in (2, 3, 4, 5)]))
    return said

if __name__ == "__main__":
    print(json.dumps([ISA, digest(json.load(sys.stdin))]))
"""


def questions() -> dict[str, Any]:
    """Something of everything that a build or a machine could do otherwise."""
    pick = random.Random(1)
    return {
        "answers": [
            [spec_of(name, sized(300, 20)), position.history, 5]
            for name in ENGINES
            for position in ASKED
        ],
        "rounds": sized(300, 5),
        "full": [case["position"] for case in vectors("moves.jsonl")[::12]],
        "rows": [random_row(size, pick, 0.8).hex() for size in range(1, 46) for _ in range(4)],
    }


def elsewhere(**variables: str) -> list[Any]:
    """The digest as another process with these variables has it; ImportErrors as text."""
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        input=json.dumps(questions()),
        capture_output=True,
        encoding="utf-8",
        env=os.environ | variables,
        timeout=300,
        check=False,
    )
    if done.returncode:
        return ["", done.stderr]
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def here() -> list[str]:
    """The digest as this process has it."""
    scope: dict[str, Any] = {"__name__": "digest"}
    exec(DIGEST, scope)
    found = scope["digest"](questions())
    assert isinstance(found, list)
    return found


def test_the_same_in_another_process() -> None:
    """With other hashes of strings, too."""
    for seed in ("1", "2"):
        assert elsewhere(PYTHONHASHSEED=seed) == [ISA, here()]


@pytest.mark.parametrize("isa", ["v1", "v3", "v4"])
def test_the_same_on_every_build_that_this_machine_can_load(isa: str) -> None:
    found = elsewhere(BIGTOP_ISA=isa)
    if not found[0]:
        assert f"BIGTOP_ISA: expected {'v' if ISA[0] == 'v' else ''}" in found[1]
        pytest.skip(f"no {isa} build here, or no such machine")
    assert found == [isa, here()]


def test_an_unknown_build_is_refused() -> None:
    _, error = elsewhere(BIGTOP_ISA="v2")
    assert "BIGTOP_ISA: expected " in error
    assert error.strip().endswith(": 'v2'")


# Right answers --------------------------------------------------------------------------------

LAST_CARDS = {
    "a pair": "x9/45.46/x8/x6 37@0 1 - 4+1/10+1/2+1/2+1 -",
    "the last card, two players": "x7/91 82@0 1 - 8+1/5+3 -",
    "a run of four": "x7/x8/34.45.56.67/x5/x9 58@1 2 01234 5+1/3+0/2+1/1+0/0+0 -",
    "by Scout & Show": "57/x8/x9 45.56@2 0 01 9+1/5+0/2+1 -",
    "all cards known": "12.14/45.46/18.27.29/13.36.39 37@0 1 - 14+0/13+0/4+0/2+0 -",
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("case", LAST_CARDS)
def test_the_last_cards_are_shown(name: str, case: str) -> None:
    """The hand can be emptied at once, while the others hold many cards."""
    position = Position.parse(LAST_CARDS[case])
    ending = {token for token in position.legal_moves() if position.play(token).end == "i"}
    assert 0 < len(ending) < len(position.legal_moves())
    for seed in range(sized(5, 1)):
        assert ask(spec_of(name, 400), position, seed).move in ending


ENDGAMES = [
    "25.34.2T.23/1T.18 47@1 0 - 7+1/8+0 -",
    "68.38/43.39.35.24 13.15@1 0 - 7+1/7+0 -",
    "49.31.45/19.12 27.17@1 0 - 7+1/8+0 -",
    "25.3T.36.48/47.31.49 54@1 0 - 7+0/7+1 -",
    "86.74.83.T4/34.35.63.72 46@1 0 - 6+0/7+0 -",
    "61.73.79.84/2T.21 32@1 0 - 7+2/8+0 -",
    "25.54/58.57.46.53 5T.67@1 0 - 7+1/7+0 -",
    "79.74.83/81.7T.63.72 82.96@1 0 - 6+1/7+0 -",
    "65.79.63/72.76.83 86.92@1 0 - 7+1/7+0 -",
    "23.17/28.48 4T.46@1 0 - 8+1/8+0 -",
]
"""Two players with open hands: small enough to be solved, and the planner is wrong in each."""


def solved(round_: Round, known: dict[str, int]) -> int:
    """The points of seat 0 less those of seat 1 when both play as well as they can."""
    if round_.end:
        mine, theirs = round_.points()
        return mine - theirs
    key = repr(round_)
    if key not in known:
        values = [solved(after(round_, move), known) for move in round_.moves()]
        known[key] = max(values) if round_.turn == 0 else min(values)
    return known[key]


def after(round_: Round, move: int) -> Round:
    copy = round_.copy()
    copy.play(move)
    return copy


@pytest.mark.parametrize("text", ENDGAMES, ids=range(len(ENDGAMES)))
def test_open_endgames_are_solved(text: str) -> None:
    """Searches choose a move that is best by exhaustive play, where the planner does not."""
    position = Position.parse(text)
    known: dict[str, int] = {}
    values = {
        position.token(move): solved(after(position.round, move), known)
        for move in position.round.moves()
    }
    best = {token for token, value in values.items() if value == max(values.values())}
    assert ask("planner", position).move not in best
    for name in SEARCHES:
        for seed in (1, 2):
            said = ask(f"{name}:sims=3000", position, seed)
            assert said.move in best, (name, seed, values)


@pytest.mark.parametrize("name", SEARCHES)
def test_win_is_of_the_game_when_there_is_one(name: str) -> None:
    """In the last round 200 points decide; before it, and without a game, the round counts."""
    text = "x9/45.46.81.72/x8/x6 37@0 1 - 4+1/8+1/2+1/2+1 -"
    for scores, win in (("0/200/0/0", 1.0), ("200/0/0/0", 0.0)):
        for number in (4, 1):
            said = ask(f"{name}:sims=200", Position.parse(f"{text} {number}:{scores}"))
            assert {line.win for line in said.lines if line.visits} == {win}
    alone = ask(f"{name}:sims=200", Position.parse(text)).lines[0]
    first = ask(f"{name}:sims=200", Position.parse(f"{text} 1:0/0/0/0")).lines[0]
    assert alone.win is not None
    assert first.win is not None
    assert 0 < first.win < alone.win <= 1, "three more rounds blur the lead of one"


@pytest.mark.parametrize("name", SEARCHES)
def test_a_shared_win_is_shared(name: str) -> None:
    """The round ends at once, level: each of the first has its part."""
    text = "x2/45.46/x2 37@0 1 - 9+3/9+0/9+0 -"
    position = Position.parse(text.replace("9+3/9+0/9+0", "21+1/7+12/1+1"))
    said = ask(f"{name}:sims=50", position)
    line = next(line for line in said.lines if line.move == "S1-2")
    # 21 + 1 - 2 = 7 + 1 + 12 = 20
    assert line.points == 20
    assert line.points_se == 0.0
    assert line.win == 0.5


def test_points_and_margin_of_a_move_that_ends_the_round() -> None:
    position = Position.parse("x9/45.46/x8/x6 37@0 1 - 4+1/10+1/2+1/2+1 -")
    for name in SEARCHES:
        line = ask(f"{name}:sims=60", position).lines[0]
        assert line.move == "S1-2"
        assert line.points == 10 + 1 + 1
        assert line.margin == pytest.approx(12 - ((5 - 9) + (3 - 8) + (3 - 6)) / 3)
        assert (line.points_se, line.margin_se, line.win) == (0.0, 0.0, 1.0)
        assert line.pv == ("S1-2",)


# Ties -----------------------------------------------------------------------------------------


def by_the_planner(position: Position) -> list[str]:
    """The moves in the planner's order: by value, then Scout, Show, Scout & Show, as listed."""
    rank = {SCOUT: 0, SHOW: 1, SCOUT_SHOW: 2, PASS: 3}
    values = planner_values(position.round)
    ordered = sorted(values, key=lambda pair: (-pair[1], rank[move_parts(pair[0]).kind], pair[0]))
    return [position.token(move) for move, _ in ordered]


@pytest.mark.parametrize("name", BY_THE_PLANNER)
def test_ties_go_to_the_planners_better_move(name: str) -> None:
    """Lines with equal visits and margins, not looked at ones included, in the planner's order."""
    ties = 0
    for table in TABLES:
        for position in positions(table, 11, sized(5, 20)):
            if position.flipping:
                continue
            order = by_the_planner(position)
            lines = ask(f"{name}:sims={sized(150, 40)}", position).lines
            keys = [
                (
                    -line.visits,
                    -line.margin if line.margin is not None else 0.0,
                    order.index(line.move),
                )
                for line in lines
            ]
            assert keys == sorted(keys), str(position)
            ties += len(keys) - len({key[:2] for key in keys})
    assert ties > 200


@pytest.mark.parametrize("name", BY_THE_PLANNER)
def test_when_nothing_matters_the_planner_decides(name: str) -> None:
    """Every Scout ends the round by case (ii) with the same points."""
    position = Position.parse("x5/31.52.71/x6 97.98@2 1 - 13+1/5+1/2+1 -")
    assert {token[0] for token in position.legal_moves()} == {"L", "R"}
    assert all(position.play(token).end == "ii" for token in position.legal_moves())
    said = ask(f"{name}:sims=400", position)
    assert said.move == by_the_planner(position)[0] == ask("planner", position).move
    assert len({line.margin for line in said.lines if line.visits}) == 1


@pytest.mark.parametrize("name", AT_ONCE)
def test_players_that_decide_at_once_decide_as_the_core(name: str) -> None:
    for table in TABLES:
        for number, position in enumerate(positions(table, 12, 4)):
            said = ask(name, position, number)
            policy = shipped(position.players) if name == "learned" else name
            assert said.move == position.token(choose(position.round, policy, Rng(number)))
            rest = [line.move for line in said.lines[1:]]
            if name == "learned":
                rated = {
                    position.token(move): value
                    for move, value in rated_moves(position.round, shipped(position.players))
                }
                assert {line.move: line.value for line in said.lines if line.value is not None} == (
                    rated
                )
                assert said.lines[0].value == max(rated.values())
            elif name == "planner" and not position.flipping:
                values = {line.move: line.value for line in said.lines}
                for move, value in planner_values(position.round):
                    assert values[position.token(move)] == value
            else:
                assert rest == [token for token in position.legal_moves() if token != said.move]


# Limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
def test_a_megabyte_is_enough(name: str) -> None:
    """The trees are full long before the budget is spent: they go on with what they have."""
    position = ASKED[5]
    sims = 14_000 if name != "bigtop" else 2_000
    said = ask(spec_of(name, sims), position, 3, memory=1)
    assert_sound(said, position, sims)
    if CHECKED:
        return
    assert ask(spec_of(name, sims), position, 3, threads=3, memory=1) == said
    if name == "ismcts":
        assert ask(spec_of(name, sims), position, 3, memory=64) != said


def test_the_memory_of_a_tree_grows_with_its_use() -> None:
    """A short search is the same with little and with much, and touches no more of it."""
    position = ASKED[1]
    said = ask("ismcts:sims=400", position, 3, memory=1)
    code = (
        "import resource; from bigtop.engines import make_engine; "
        "from bigtop.notation import Position; "
        f"ask = lambda memory: make_engine('ismcts:sims=400').answer("
        f"Position.parse({position.history!r}), 3, memory=memory); ask(1); "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; ask(1024); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(grown.stdout) < 8 * (1 << 20 if sys.platform == "darwin" else 1 << 10)
    assert ask("ismcts:sims=400", position, 3, memory=1024) == said


LEARNED_TREE = "ismcts:learned=1,trees=2"


def test_a_tree_by_the_evaluation() -> None:
    """It repeats itself on any number of threads, and looks first at the evaluation's best."""
    for position in ASKED:
        spec = f"{LEARNED_TREE},sims={sized(120, 12)}"
        said = ask(spec, position, 5)
        assert_sound(said, position, sized(120, 12))
        assert ask(spec, position, 5, threads=3) == said
        if position.flipping or is_open_ending(position):
            continue
        network = shipped(position.players)
        rated = sorted(rated_moves(position.round, network), key=lambda item: (-item[1], item[0]))
        visited = {line.move for line in said.lines if line.visits}
        first = [position.token(code) for code, _ in rated[: len(visited)]]
        assert visited == set(first) or len(visited) > len(rated)


def test_a_tree_by_the_evaluation_draws_hands_of_learned_players_too() -> None:
    position = ASKED[0]
    spec = f"{LEARNED_TREE},hands=20,sims=40"
    assert ask(spec, position, 5) != ask(spec.replace("learned=1,", ""), position, 5)
    assert ask(spec, position, 5, threads=2) == ask(spec, position, 5)


def test_more_trees_need_more_memory() -> None:
    engine = make_engine("ismcts:sims=40,trees=200")
    with pytest.raises(EngineSpecError, match="expected at least 1 MB for 4 trees, there are 200"):
        engine.answer(ASKED[0], 1, memory=49)
    assert engine.answer(ASKED[0], 1, memory=50).sims == 40


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_time_budget_gives_an_answer(name: str, threads: int) -> None:
    position = ASKED[3]
    engine = make_engine(f"{name}:time=0.02")
    said = engine.answer(position, 1, threads)
    assert said.engine == f"{name}:time=0.02"
    assert said.seconds > 0
    assert said.sims > 0
    assert_sound(dataclasses.replace(said, seconds=0.0), position, said.sims)


@pytest.mark.parametrize("name", ENGINES)
def test_what_cannot_be_asked(name: str) -> None:
    engine = make_engine(spec_of(name, 10))
    over = Position.parse("x3/-/x8/x9 45.56@1 2 0 3+1/7+0/4+2/8+0 -")
    with pytest.raises(ValueError, match="the round is over: there is no move to choose"):
        engine.answer(over, 1)
    hidden = Position.parse("x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 0 0123 "
                            "0+0/0+0/0+0/0+0 -")  # fmt: skip
    with pytest.raises(ValueError, match="expected a known hand of seat 0, which is to act: 11"):
        engine.answer(hidden, 1)


# Specs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("random", "random"),
        ("greedy", "greedy"),
        ("planner", "planner"),
        ("planner:scout=1", "planner"),
        ("planner:scout=1.0", "planner"),
        ("planner:scout=1.50", "planner:scout=1.5"),
        ("planner:scout=-2.5", "planner:scout=-2.5"),
        ("planner:scout=0", "planner:scout=0"),
        ("flat", f"flat:sims={DEFAULT_SIMS}"),
        ("flat:sims=20", "flat:sims=20"),
        ("flat:moves=8,sims=20", "flat:sims=20,moves=8"),
        ("flat:moves=24", f"flat:sims={DEFAULT_SIMS}"),
        ("flat:time=1.50", "flat:time=1.5"),
        ("ismcts", f"ismcts:sims={DEFAULT_SIMS}"),
        ("ismcts:scout=2,trees=8,sims=7", "ismcts:sims=7,trees=8,scout=2"),
        ("ismcts:widen=0.5,explore=1,trees=4,scout=1", f"ismcts:sims={DEFAULT_SIMS}"),
        ("ismcts:explore=0.25,widen=2", f"ismcts:sims={DEFAULT_SIMS},explore=0.25,widen=2"),
        ("ismcts:time=0.1", "ismcts:time=0.1"),
        ("bigtop:sims=999999999999", "bigtop:sims=999999999999"),
        ("bigtop:time=2", "bigtop:time=2"),
    ],
)
def test_specs_have_a_canonical_form(spec: str, canonical: str) -> None:
    engine = make_engine(spec)
    assert engine.spec == canonical
    again = make_engine(engine.spec)
    assert again.spec == canonical
    assert again.options == engine.options
    assert repr(engine) == f"make_engine({canonical!r})"


def test_the_budget_of_the_call_replaces_that_of_the_spec() -> None:
    for spec in ("ismcts", "ismcts:sims=5", "ismcts:time=5"):
        assert make_engine(spec, sims=70).spec == "ismcts:sims=70"
        assert make_engine(spec, time=0.5).spec == "ismcts:time=0.5"
    assert make_engine("flat:moves=3,sims=9", time=2).spec == "flat:time=2,moves=3"


LIST = "random, greedy, planner, learned, flat, ismcts, bigtop"
TREES = "sims=…, time=…, trees=…, explore=…, widen=…, hands=…, learned=…, scout=…"
WHOLE = "expected a whole number from 1 for"
ABOVE = "expected a decimal number above 0, as in 1.5 for"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", f"expected an engine ({LIST}): ''"),
        ("Planner", f"expected an engine ({LIST}): 'Planner'"),
        ("planner ", f"expected an engine ({LIST}): 'planner '"),
        ("a\nb", f"expected an engine ({LIST}): 'a\\nb'"),
        ("x" * 70, f"expected an engine ({LIST}): '{'x' * 57}...'"),
        ("random:", "expected options of random (it has none): ''"),
        ("random:sims=3", "expected options of random (it has none): 'sims=3'"),
        ("planner:", "expected options of planner (scout=…): ''"),
        ("planner:scout", "expected options of planner (scout=…): 'scout'"),
        ("planner:sims=4", "expected options of planner (scout=…): 'sims=4'"),
        ("planner:scout=2,", "expected options of planner (scout=…): ''"),
        ("planner:scout=", "expected a decimal number, as in 1.5 for scout: ''"),
        ("planner:scout=one", "expected a decimal number, as in 1.5 for scout: 'one'"),
        ("planner:scout=+1", "expected a decimal number, as in 1.5 for scout: '+1'"),
        ("planner:scout=1e3", "expected a decimal number, as in 1.5 for scout: '1e3'"),
        ("planner:scout=nan", "expected a decimal number, as in 1.5 for scout: 'nan'"),
        ("planner:scout=1=2", "expected a decimal number, as in 1.5 for scout: '1=2'"),
        ("planner:scout=1000", "expected a decimal number, as in 1.5 for scout: '1000'"),
        ("planner:scout=2,scout=3", "expected scout once: 'planner:scout=2,scout=3'"),
        ("flat:depth=3", "expected options of flat (sims=…, time=…, moves=…, scout=…): 'depth=3'"),
        ("flat:moves=0", f"{WHOLE} moves: '0'"),
        ("ismcts:Sims=4", f"expected options of ismcts ({TREES}): 'Sims=4'"),
        ("ismcts:sims = 4", f"expected options of ismcts ({TREES}): 'sims = 4'"),
        ("ismcts:sims=0", f"{WHOLE} sims: '0'"),
        ("ismcts:sims=-1", f"{WHOLE} sims: '-1'"),
        ("ismcts:sims=1.5", f"{WHOLE} sims: '1.5'"),
        ("ismcts:sims=1e4", f"{WHOLE} sims: '1e4'"),
        ("ismcts:sims=\u0663", f"{WHOLE} sims: '\u0663'"),
        ("ismcts:sims=" + "9" * 99, f"{WHOLE} sims: '{'9' * 57}...'"),
        ("ismcts:time=0", f"{ABOVE} time: '0'"),
        ("ismcts:time=0.0", f"{ABOVE} time: '0.0'"),
        ("ismcts:time=inf", f"{ABOVE} time: 'inf'"),
        ("ismcts:time=none", f"{ABOVE} time: 'none'"),
        ("ismcts:trees=0", "expected a whole number from 1 to 256 for trees: '0'"),
        ("ismcts:trees=257", "expected a whole number from 1 to 256 for trees: '257'"),
        ("ismcts:explore=0", f"{ABOVE} explore: '0'"),
        ("ismcts:sims=4,time=1", "expected one budget, sims or time, not both"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(EngineSpecError) as refused:
        make_engine(spec)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("spec", "budget", "message"),
    [
        ("ismcts", {"sims": 5, "time": 1.0}, "expected one budget, sims or time, not both"),
        ("planner", {"sims": 5}, "planner decides at once: it has no sims budget"),
        ("random", {"time": 1.0}, "random decides at once: it has no time budget"),
        ("ismcts", {"sims": 0}, f"{WHOLE} sims: 0"),
        ("ismcts", {"sims": -3}, f"{WHOLE} sims: -3"),
        ("flat", {"time": 0.0}, f"{ABOVE} time: 0.0"),
        ("flat", {"time": -1.0}, f"{ABOVE} time: -1.0"),
        ("flat", {"time": 1e-12}, f"{ABOVE} time: 1e-12"),
        ("flat", {"time": math.inf}, f"{ABOVE} time: inf"),
        ("flat", {"time": math.nan}, f"{ABOVE} time: nan"),
    ],
)
def test_bad_budgets(spec: str, budget: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineSpecError) as refused:
        make_engine(spec, **budget)
    assert str(refused.value) == message


def texts(lines: Sequence[str]) -> bool:
    return all(line and line.isprintable() for line in lines)


def test_engines_describe_themselves() -> None:
    assert list(ENGINES) == [
        "random",
        "greedy",
        "planner",
        "learned",
        "flat",
        "ismcts",
        "bigtop",
    ]
    for name, info in ENGINES.items():
        assert info.name == name
        assert texts([info.plays, *(option.help for option in info.options)])
        for option in info.options:
            if option.name != "time":
                made = make_engine(f"{name}:{option.name}={option.default}")
                assert made.spec == make_engine(name).spec
                assert made.options == make_engine(name).options


# What bigtop finds out about the others -------------------------------------------------------


def between(players: int, seed: int, policy: str, plies: int) -> Position:
    """A position of a round between players of one kind, as the acting seat sees it, after so
    many moves or before the last one."""
    position = Position.from_round(deal(players, Rng(seed)))
    for ply in range(players + plies):
        code = choose(position.round, policy, Rng(seed).split(ply))
        after = position.play(position.token(code))
        if after.is_over:
            break
        position = after
    return position.view(position.turn)


def test_the_kind_of_the_others_is_found_out() -> None:
    """After some moves planners are taken for planners, and greedy players less for them."""
    planners = []
    for policy in ("planner", "greedy"):
        found = []
        for seed in range(sized(8, 3)):
            position = between(4, seed, policy, 10)
            said = ask("bigtop:sims=100", position, seed)
            assert said.seats is not None
            for seat, models in enumerate(said.seats):
                assert sum(models) == pytest.approx(1)
                if seat != position.turn:
                    found.append(sum(models[MODELS.index(kind)] for kind in PLANNERS))
        planners.append(statistics.fmean(found))
    assert planners[0] > 0.75
    assert planners[1] < planners[0] - 0.2


def test_what_is_known_of_the_others_counts() -> None:
    """Beforehand and afterwards: what was sure stays, whatever they do."""
    position = between(3, 5, "planner", 6)
    sure = tuple((0.0, 0.0, 1.0, 0.0, 0.0) for _ in range(3))
    said = make_engine("bigtop:sims=100").answer(position, 1, seats=sure)
    assert said.seats is not None
    for seat in range(3):
        if seat != position.turn:
            assert said.seats[seat] == pytest.approx((0, 0, 1, 0, 0))
    assert ask("planner", position).seats is None


def told_of(*models: float) -> Answer:
    said = ask("planner", between(3, 5, "planner", 6))
    return dataclasses.replace(said, seats=((0.2,) * 5, models, models))


def test_a_memory_lasts_for_a_game() -> None:
    """It is asked with the rounds of a game in their order, and starts anew with strangers."""
    views = [between(3, seed, "planner", 6) for seed in range(30)]
    seat = views[0].turn
    first, second, third = [view for view in views if view.turn == seat][:3]
    other = next(view for view in views if view.turn != seat)

    def of(view: Position, number: int, *scores: int) -> Position:
        return Position.parse(f"{view!s} {number}:{'/'.join(map(str, scores))}")

    memory = Memory()
    assert memory.recall(of(first, 1, 0, 0, 0)) is None
    memory.learn(told_of(1, 0, 0, 0, 0))
    assert memory.recall(of(first, 1, 0, 0, 0)) is None, "within a round its own moves tell"
    known = memory.recall(of(second, 2, 3, -4, 5))
    assert known is not None
    assert known[1] == pytest.approx([0.9 + 0.1 * PRIOR[0], *(0.1 * p for p in PRIOR[1:])])
    memory.learn(told_of(0, 0, 1, 0, 0))
    assert memory.recall(of(third, 2, 3, -4, 5)) == known, "the same round again"
    later = memory.recall(of(third, 3, 8, -4, 5))
    assert later is not None
    assert later[1][2] == pytest.approx(0.9 + 0.1 * PRIOR[2])
    assert memory.recall(of(first, 1, 0, 0, 0)) is None, "another game"
    memory.learn(told_of(1, 0, 0, 0, 0))
    assert memory.recall(of(other, 2, 3, -4, 5)) is None, "another seat"
    memory.learn(told_of(1, 0, 0, 0, 0))
    assert memory.recall(second) is None, "no game at all"


def test_a_game_that_cannot_be_won_by_ending_the_round() -> None:
    """The last cards end the last round far ahead of the others in it. That is wanted as long as
    it wins the game; where it leaves seat 0 ahead by a point, the game must go on."""
    text = "x9/45.46/x8/x6 37@0 1 - 4+1/10+1/2+1/2+1 - 4:{}/0/0/0"
    for before, win in ((15, 1.0), (16, 0.5), (17, 0.0)):
        position = Position.parse(text.format(before))
        by_margin = ask("bigtop:sims=600,win=0", position)
        assert position.play(by_margin.move).end == "i"
        assert by_margin.lines[0].win == win
        said = ask("bigtop:sims=600", position)
        assert (said.move == by_margin.move) == (win > 0)
        assert (said.lines[0].win or 0) > 0


def test_without_belief_the_others_moves_do_not_matter() -> None:
    """Nor does it ask who they are."""
    position = between(4, 3, "planner", 9)
    forgotten = Position.parse(str(position))
    assert forgotten.plies != position.plies
    plain = ask("bigtop:sims=100,belief=0", position)
    assert [line.visits for line in plain.lines] == [
        line.visits for line in ask("bigtop:sims=100,belief=0", forgotten).lines
    ]
    assert plain.lines != ask("bigtop:sims=100", position).lines


def test_hands_drawn_together_widen_the_errors() -> None:
    """Standard errors from the spread between groups of worlds, all moves taken together."""
    position = between(5, 7, "planner", 12)
    network = shipped(5)
    story = Story(position.first, position.plies, position.round, network)
    arms, sizes = [0, 1, 2], [30, 30, 12, 30]
    whole = Flat(position.round, Rng(1), 1.0, None, network)
    parts = []
    first = 0
    for size in sizes:
        worlds = story.draw(Rng(first), size, 1, (1.0,), 0)
        part = Flat(position.round, Rng(1), 1.0, None, network)
        for root in (whole, part):
            root.run(arms, first, first + size, worlds)
        parts.append(part.lines())
        first += size

    def number(lines: list[Any], arm: int, column: int) -> float:
        assert lines[arm][column] is not None
        return float(lines[arm][column])

    effective = first**2 / sum(size * size for size in sizes)
    for value, error in ((2, 3), (4, 5)):
        alone = grouped = 0.0
        growths = []
        for arm in arms:
            means = [number(part, arm, value) for part in parts]
            mean = sum(s * m for s, m in zip(sizes, means, strict=True)) / first
            assert mean == pytest.approx(number(whole.lines(), arm, value))
            inside = sum(
                (s - 1) * s * number(part, arm, error) ** 2 + s * (m - mean) ** 2
                for s, m, part in zip(sizes, means, parts, strict=True)
            )
            alone += inside * first / (first - 1)
            between_groups = sum((s * (m - mean)) ** 2 for s, m in zip(sizes, means, strict=True))
            grouped += between_groups * effective / (effective - 1)
            own = math.sqrt(inside / (first - 1) / first)
            growths.append(number(whole.lines(), arm, error) / own)
        # Student's quantile of 97.5% for `effective` - 1 degrees of freedom, over the normal one
        growth = 3.4270 / 1.9600 * math.sqrt(max(1.0, grouped / alone))
        assert growths == pytest.approx([growth] * len(arms), rel=0.02)
        assert growths[0] > 1.5, "worlds that were drawn together are alike"


# Who sees all cards ---------------------------------------------------------------------------


def test_the_clairvoyant_is_never_seated_by_accident() -> None:
    with pytest.raises(EngineSpecError, match="it plays in studies only"):
        make_engine("clairvoyant")
    assert "clairvoyant" not in ENGINES
    seer = make_engine("clairvoyant", cheats=True)
    full = Position.from_round(deal(4, Rng(1)))
    for ply in range(9):
        full = full.play(full.token(choose(full.round, "planner", Rng(ply))))
    said = seer.answer(full, 1)
    assert said.move in full.legal_moves()
    with pytest.raises(EngineSpecError, match="without hidden cards"):
        seer.answer(full.view(full.turn), 1)


def test_the_clairvoyant_foresees_the_round() -> None:
    """Against planners the margin that it expects is what comes of it when it plays on by its
    evaluation."""
    full = Position.from_round(deal(4, Rng(2)))
    for ply in range(10):
        full = full.play(full.token(choose(full.round, "planner", Rng(ply))))
    seat = full.turn
    said = make_engine("clairvoyant", cheats=True).answer(full, 1)
    round_ = full.round.copy()
    round_.play(full.code(said.move))
    while not round_.end:
        policy = shipped(4) if round_.turn == seat else "planner"
        round_.play(choose(round_, policy, Rng(0)))
    points = round_.points()
    assert said.lines[0].margin == pytest.approx(points[seat] - (sum(points) - points[seat]) / 3)
