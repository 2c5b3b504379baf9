"""The long tests: a hundred thousand damaged positions, a million moves on the core and the twin.

Run with ``pytest -m slow``.  All seeds are written here; a failure names what it was about.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
import twin
from damage import CHANGES, TEXTS
from helpers import (
    TABLE_NAMES,
    TABLES,
    cards,
    differences,
    natural_move,
    opening,
    plain,
    random_row,
    show,
    tokens,
)
from oracles import assert_answered

from bigtop.core.policy import choose, planner_h, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import PASS, SCOUT, SCOUT_SHOW, SHOW, Round, move_parts
from bigtop.engines import make_engine
from bigtop.notation import format_move

pytestmark = pytest.mark.slow

# Damaged positions ----------------------------------------------------------------------------

MUTATIONS = 30_000
"""Damaged positions of each seed."""
SEEDS = (1, 2, 3, 4)


def damaged(seed: int) -> Iterator[str]:
    """Positions with one to three changes."""
    pick = random.Random(seed)
    for _ in range(MUTATIONS):
        text = pick.choice(TEXTS)
        for _ in range(pick.choice([1, 1, 2, 3])):
            text = pick.choice(CHANGES)(text, pick)
        yield text


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_positions_are_answered_or_refused(seed: int) -> None:
    """Refused in one line, with one of the library's errors; else a hint is given: a legal move."""
    engine = make_engine("bigtop", sims=8)
    found = Counter[str]()
    for count, text in enumerate(damaged(seed)):
        found[assert_answered(text, engine, count)] += 1
    assert found.total() == MUTATIONS
    assert found["answered"] > MUTATIONS / 5
    for kind in (
        "NotationError",
        "InconsistentPositionError",
        "IllegalMoveError",
        "over",
        "hidden",
    ):
        assert found[kind] > MUTATIONS / 500, found


# The core and the twin ------------------------------------------------------------------------

MOVES = 200_000
"""Moves for each kind of table: a million in all."""
LIST_EVERY = 400
"""At every so many moves the lists are compared, too, with all that they lead to."""


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_a_million_moves(table: tuple[int, bool]) -> None:
    """Rounds of random moves (by turns uniform, by kind, the planner's) on the core and the twin.

    After every move: hands, active set, owner, turn, tokens, chips, captured, what was scouted,
    moves made, end and points. At some: the lists, their order, the outcome of each move.
    """
    players, forced = table
    done, seed = 0, 0
    while done < MOVES:
        seed += 1
        round_ = opening(players, seed, forced)
        other = plain(round_)
        rng, pick = Rng(seed), random.Random(seed)
        while not round_.end:
            if done % LIST_EVERY == 0:
                outcomes = other.outcomes()
                assert tokens(round_.moves()) == [token for token, _ in outcomes], show(round_)
                assert tokens(round_.all_moves()) == other.legal_tokens(), show(round_)
                for move, (_, wanted) in zip(round_.moves(), outcomes, strict=True):
                    after = round_.copy()
                    after.play(move)
                    assert differences(after, wanted) == [], (show(round_), format_move(move))
            match (seed + done // 40) % 3:
                case 0:
                    move = round_.random_move(rng)
                case 1:
                    move = natural_move(round_, pick)
                case _:
                    move = choose(round_, "planner", rng)
            before = show(round_)
            round_.play(move)
            other = other.play(format_move(move))
            assert differences(round_, other) == [], (before, format_move(move))
            done += 1


CHOICES = 10_000
"""Positions for each number of players."""


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_planner_and_greedy_choose_by_their_lists(players: int) -> None:
    """On hands of every length, loose and close: the planner's move has the best of all its values,
    greedy's is the longest Show; both are in the list, and the count is that of the list."""
    pick = random.Random(players)
    rank = {SCOUT: 0, SHOW: 1, SCOUT_SHOW: 2, PASS: 3}
    for number_ in range(CHOICES):
        size = pick.randint(1, 24 if number_ % 10 else 45 - players)
        found = random_row(
            min(45, size + players + 4), pick, pick.choice([0.2, 0.5, 0.7, 0.9]), number_ % 2 > 0
        )
        active = found[size : len(found) + 1 - players][: pick.randint(0, 5)]
        active = next((active[:n] for n in range(len(active), 0, -1) if is_set(active[:n])), b"")
        rest = found[size + len(active) :][: players - 1]
        round_ = Round(
            [found[:size], *(bytes([card]) for card in rest)],
            active=active,
            owner=players - 1 if active else -1,
            tokens=(1 << players) - 1 if players > 2 and number_ % 4 else 0,
            chips=[pick.randint(0, 3) if players == 2 else 0] * players,
            forced_pass=players == 2 and number_ % 2 == 0,
        )
        cost = pick.choice([1.0, 1.5, 0.0, -2.5, 0.25])
        values = planner_values(round_, cost)
        assert [move for move, _ in values] == round_.moves()
        assert round_.count() == len(values)
        best, _ = min(values, key=lambda p: (-p[1], rank[move_parts(p[0]).kind], p[0]))
        move = choose(round_, "planner", Rng(0), cost)
        assert move == best, (show(round_), cost, format_move(move), format_move(best))
        assert choose(round_, "greedy", Rng(number_)) in greedy_moves(round_.moves()), show(round_)
        if number_ % 50 == 0:
            wanted = twin.hand_worth(twin.numbers(cards(round_.hand(0))))
            assert planner_h(round_.hand(0)) == wanted


def is_set(row: bytes) -> bool:
    return twin.is_block(twin.numbers(cards(row)))


def greedy_moves(moves: list[int]) -> set[int]:
    """What the greedy player may do with this list."""
    parts = {move: move_parts(move) for move in moves}

    def first_longest(kind: int) -> tuple[int, int]:
        sizes = [(p.last - p.first + 1, -move) for move, p in parts.items() if p.kind == kind]
        size, move = max(sizes, default=(0, 0))
        return size, -move

    shown, plain_show = first_longest(SHOW)
    both, scout_show = first_longest(SCOUT_SHOW)
    if both and shown < both + 2:
        return {scout_show}
    if shown:
        return {plain_show}
    return {move for move, p in parts.items() if p.kind == SCOUT} or set(moves)
