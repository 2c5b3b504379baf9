"""The exact solver of endings: against its definition, written plainly over the twin; its tie rule,
its refusals; and the searchers against its answers (``vectors/endings.jsonl``, whose rule of
selection is in ``make_endings.py``)."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, cast

import pytest
import twin
from helpers import (
    TABLE_NAMES,
    TABLES,
    hands,
    opening,
    plain,
    random_row,
    sized,
    tokens,
    vectors,
)

from bigtop.core.endings import EndingTooBigError, solve, solve_all
from bigtop.core.maxn import Maxn
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import MOVE_LIMIT, Round, strength
from bigtop.engines import make_engine
from bigtop.notation import Position, format_move, parse_row

Points = tuple[int, ...]

ENDINGS = vectors("endings.jsonl")


# max^n by its definition ----------------------------------------------------------------------


def taste(points: Points, seat: int, kind: bool = False) -> tuple[int, ...]:
    """What a seat prefers is greater: the tie rule, as a key to sort by."""
    margins = [len(points) * mine - sum(points) for mine in points]
    order = [(seat + i) % len(points) for i in range(len(points))]
    others = [margins[other] if kind else -margins[other] for other in order[1:]]
    return (margins[seat], *others, -sum(points))


def held(state: twin.Round) -> Points:
    """What each seat has, whatever happens."""
    return tuple(a + b for a, b in zip(state.captured, state.chips, strict=True))


def bare(state: twin.Round) -> twin.Round:
    """The same future without its past."""
    nothing = (0,) * state.players
    return replace(
        state,
        captured=nothing,
        chips=state.chips if state.players == 2 else nothing,
        out=(),
        seen=frozenset(),
        made=0,
        game=None,
    )


@lru_cache(maxsize=100_000)
def steps(state: twin.Round) -> tuple[tuple[str, Points, twin.Round | None], ...]:
    """The moves of a bare position: what each pays, to the end if it ends the round."""
    found = []
    for token, after in state.outcomes():
        reached = after.points() if after.end else held(after)
        pays = tuple(a - b for a, b in zip(reached, held(state), strict=True))
        found.append((token, pays, None if after.end else bare(after)))
    return tuple(found)


@lru_cache(maxsize=400_000)
def choices(state: twin.Round, left: int, kind: bool) -> tuple[tuple[str, Points], ...]:
    """What every move of a bare position leads to, in points to come, when the round is cut
    after so many more moves and every seat does its best in its own turn."""
    found = []
    for token, pays, after in steps(state):
        to_come: Points = (0,) * state.players
        if after is not None and left == 1:
            to_come = tuple(-len(hand) for hand in after.hands)
        elif after is not None:
            seat = after.turn
            to_come = max(
                (points for _, points in choices(after, left - 1, kind)),
                key=lambda points: taste(points, seat, kind),
            )
        found.append((token, tuple(a + b for a, b in zip(pays, to_come, strict=True))))
    return tuple(found)


def by_definition(round_: Round, left: int, kind: bool = False) -> list[tuple[str, Points]]:
    """What solve_all has to say of a round that is cut after so many moves."""
    state = plain(round_)
    for nearer in range(1, left):  # from near to far: no deep recursion
        choices(bare(state), nearer, kind)
    return [
        (token, tuple(a + b for a, b in zip(held(state), points, strict=True)))
        for token, points in choices(bare(state), left, kind)
    ]


def named(moves: list[tuple[int, Points]]) -> list[tuple[str, Points]]:
    return [(format_move(move), points) for move, points in moves]


def cut_after(round_: Round, left: int) -> Round:
    """The round with so many moves left before it is cut: what nothing but as many moves does,
    done in the memory of a pickled one."""
    restore, (memory, *rest) = cast(Any, round_.__reduce__())
    at_byte = 16 + 2 * 5 + 2 * 5  # the active set, captured cards, chips
    made = (MOVE_LIMIT - left).to_bytes(2, sys.byteorder)
    changed: Round = restore(memory[:at_byte] + made + memory[at_byte + 2 :], *rest)
    assert changed.made == MOVE_LIMIT - left
    assert repr(changed) == repr(round_)
    return changed


def drawn(players: int, forced_pass: bool, draw: random.Random) -> Round:
    """A position of few cards that no play need ever have led to."""
    cards = random_row(players + draw.randrange(2, 7), draw, close=0.7)
    first = draw.randrange(min(4, len(cards) - players + 1))
    active, cards = cards[:first], cards[first:]
    while not strength(active):  # the rest goes to the hands
        active, cards = active[:-1], active[-1:] + cards
        if not active:
            break
    cuts = sorted(draw.sample(range(1, len(cards)), players - 1))
    turn = draw.randrange(players)
    return Round(
        [cards[i:j] for i, j in zip([0, *cuts], [*cuts, len(cards)], strict=True)],
        active=active,
        owner=(turn + draw.randrange(1, players)) % players if active else -1,
        turn=turn,
        tokens=draw.randrange(1 << players) & draw.randrange(1 << players) if players > 2 else 0,
        captured=[draw.randrange(9) for _ in range(players)],
        chips=[draw.randrange(3) for _ in range(players)],
        forced_pass=forced_pass,
    )


def small(table: tuple[int, bool], most: int) -> Iterator[Round]:
    """Drawn positions from which at least eight and at most so many others can be reached, no two
    taken for one."""
    draw = random.Random(f"{table} {most}")
    while True:
        round_ = drawn(*table, draw)
        try:
            solve_all(round_, most, folded=False)
        except EndingTooBigError:
            continue
        if solve(round_).nodes >= 8:
            yield round_


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_every_value_is_what_the_definition_says(table: tuple[int, bool]) -> None:
    """As far from the cut as it matters, and a few moves before it; under either tie rule."""
    for round_ in islice(small(table, 150), sized(12, 2)):
        for kind in (False, True):
            found = solve(round_, kind=kind)
            assert found.settled
            for left in (1, 2, 3, 6, found.depth, found.depth + 3):
                expected = by_definition(round_, left, kind)
                assert named(solve_all(cut_after(round_, left), kind=kind)) == expected
            assert named(solve_all(round_, kind=kind)) == expected


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_positions_that_are_taken_for_one_are_worth_the_same(table: tuple[int, bool]) -> None:
    for round_ in islice(small(table, 4_000), sized(30, 3)):
        for kind in (False, True):
            assert solve_all(round_, kind=kind) == solve_all(round_, kind=kind, folded=False)


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_play_by_the_solver_ends_in_the_points_that_it_foretold(table: tuple[int, bool]) -> None:
    """The solution is the best of all moves, it changes nothing, and the next seats agree."""
    for round_ in islice(small(table, 2_000), sized(30, 3)):
        found = solve(round_)
        after = round_.copy()
        while not after.end:
            before, moves, best = after.copy(), solve_all(after), solve(after)
            assert after == before
            assert [move for move, _ in moves] == after.moves()
            assert best.points == found.points
            assert (best.move, best.points) == max(
                moves, key=lambda line: (taste(line[1], before.turn), -line[0])
            )
            after.play(best.move)
        assert after.points() == found.points


# Rounds that go in circles --------------------------------------------------------------------

# Single cards are shown and scouted in turn, and no line of play need ever end.
CIRCLES = [("34.28/79/13.27", 0), ("96/76.95/92.83", 2)]


def circle(number: int) -> Round:
    text, turn = CIRCLES[number]
    return Round(hands(text), turn=turn)


@pytest.mark.parametrize("number", [0, 1])
def test_rounds_in_circles_near_their_cut(number: int) -> None:
    round_ = circle(number)
    for kind in (False, True):
        for left in range(1, sized(5, 4)):
            expected = by_definition(round_, left, kind)
            assert named(solve_all(cut_after(round_, left), kind=kind)) == expected
    for left in sized(1, 0) * [12, 13, 40, 999]:
        near = cut_after(round_, left)
        assert solve_all(near) == solve_all(near, folded=False)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_rounds_in_circles_far_from_their_cut(number: int) -> None:
    """As `..._near_their_cut`, until the first of them is settled: some minutes."""
    round_ = circle(number)
    for left in (8, 21):
        assert named(solve_all(cut_after(round_, left))) == by_definition(round_, left)


def test_a_circle_that_nobody_wants_to_go_on_in_is_settled() -> None:
    round_ = circle(0)
    found = solve(round_)
    assert (found.settled, found.depth) == (True, 20)
    near = [solve_all(cut_after(round_, left)) for left in range(1, 31)]
    assert near[0] != near[-1]
    assert near[19:] == [solve_all(round_)] * 11


def test_a_circle_that_goes_on_to_the_cut_depends_on_it() -> None:
    """Then the value is that of the round as the rules cut it, and the solution says so: two moves
    later in the round, all three go on to the end for the chips."""
    round_ = circle(1)
    found, later = solve(round_), solve(cut_after(round_, MOVE_LIMIT - 2))
    assert (found.settled, found.depth) == (False, MOVE_LIMIT)
    assert (later.settled, later.depth) == (False, MOVE_LIMIT - 2)
    assert max(found.points) < 10
    assert min(later.points) > 100


# The tie rule ---------------------------------------------------------------------------------


def answers(round_: Round, kind: bool = False) -> dict[str, Points]:
    return dict(named(solve_all(round_, kind=kind)))


def test_ties_first_go_against_the_next_seat() -> None:
    """Seat 1 loses two and a half points either way; seat 2 comes next."""
    round_ = Round(
        hands("19/27.18/21"), active=parse_row("16"), owner=2, turn=1,
        captured=(6, 2, 5), chips=(1, 0, 1),
    )  # fmt: skip
    found = answers(round_)
    assert (found["S1"], found["S1-2"]) == ((7, 3, 4), (6, 3, 5))
    assert (format_move(solve(round_).move), solve(round_).points) == ("S1", (7, 3, 4))
    assert (format_move(solve(round_, kind=True).move)) == "S1-2"


def test_ties_then_go_to_the_fewest_points_in_all() -> None:
    round_ = Round(
        hands("72.7T.62/79.84.39"), active=parse_row("76"), owner=0, turn=1, captured=(5, 1)
    )
    for kind in (False, True):
        found = answers(round_, kind)
        assert (found["S1-2"], found["S2"]) == ((7, 1), (6, 0))
        assert (format_move(solve(round_, kind=kind).move)) == "S2"


def test_ties_at_last_go_to_the_first_move_in_canonical_order() -> None:
    """The last Scout before the turn would come back to the owner: where the card goes and which
    it is makes no difference any more."""
    round_ = Round(hands("12.34/56/13"), active=parse_row("89.9T"), owner=1, turn=0)
    assert set(answers(round_).values()) == {(-3, 1, -1)}
    assert format_move(solve(round_).move) == "L1"


# The endings in store, and the searchers ------------------------------------------------------


def test_there_are_endings_of_every_kind() -> None:
    """At least 200 of as many rounds, with a planner that is often wrong."""
    texts = {line["position"] for line in ENDINGS}
    kinds = Counter((text.split()[0].count("/") + 1, text.split()[3] == "f") for text in texts)
    assert kinds.keys() == set(TABLES)
    assert min(kinds.values()) >= 40
    assert len(texts) == len(ENDINGS) >= 200
    assert sum(line["move"] != line["planner"] for line in ENDINGS) >= 100


def test_the_endings_are_what_the_solver_says() -> None:
    """And the rule of `make_endings.py` holds of them."""
    for line in ENDINGS[:: sized(1, 12)]:
        position = Position.parse(line["position"])
        assert str(position) == line["position"]
        round_ = position.round
        best = solve(round_, line["nodes"])
        assert best.settled
        assert (format_move(best.move), list(best.points)) == (line["move"], line["points"])
        assert best.nodes == line["nodes"]
        for kind in (False, True):
            margins = {
                format_move(move): points[round_.turn]
                - (sum(points) - points[round_.turn]) / (round_.players - 1)
                for move, points in solve_all(round_, kind=kind)
            }
            mine = margins.pop(line["move"])
            assert mine - max(margins.values()) >= 1 - 1e-9
            if not kind:
                assert round(mine - max(margins.values()), 2) == line["gap"]
        assert tokens([choose(round_, "planner", Rng(0))]) == [line["planner"]]


def found_by(spec: str, lines: list[dict[str, Any]]) -> list[bool]:
    """Whether an engine, given the open position, plays the solver's move."""
    engine = make_engine(spec)
    return [
        engine.answer(Position.parse(line["position"]), seed=1, memory=8).move == line["move"]
        for line in lines
    ]


@pytest.mark.parametrize("spec", ["ismcts", "bigtop"])
def test_the_tree_finds_every_move_with_its_default_budget(spec: str) -> None:
    asked = ENDINGS[:: sized(1, 12)]
    assert all(found_by(spec, asked))


def test_the_tree_finds_nearly_every_move_with_little() -> None:
    """Before anything is proven: what the seats make of the moves tried so far tells most."""
    asked = ENDINGS[:: sized(1, 12)]
    assert sum(found_by("ismcts:sims=1000", asked)) >= 0.98 * len(asked)


def test_what_the_tree_proves_is_what_the_solver_says() -> None:
    """The points of every move, and of the line expected after it; a seat that has several moves
    of the same worth to all may take any."""
    proven = 0
    for line in ENDINGS[:: sized(3, 30)]:
        position = Position.parse(line["position"])
        round_ = position.round
        root = Maxn(round_, Rng(1))
        if root.run(3_000):
            continue
        assert root.proven
        proven += 1
        best = [move for move, points in solve_all(round_) if list(points) == line["points"]]
        assert root.best() in best
        worth = {move: points[round_.turn] for move, points in solve_all(round_)}
        assert {move: points for move, _, points, *_ in root.lines()} == worth
        after = round_.copy()
        for code in [root.best(), *root.variation(root.best(), 100)]:
            after.play(code)
        assert after.end
        assert list(after.points()) == line["points"]
    assert proven >= sized(70, 5)


def test_the_tree_wants_an_open_round_and_memory() -> None:
    ending = Position.parse(ENDINGS[0]["position"]).round
    with pytest.raises(ValueError, match="expected open hands"):
        Maxn(ending.view(ending.turn), Rng(1))
    with pytest.raises(ValueError, match="expected open hands"):
        Maxn(opening(3, 1), Rng(1))
    with pytest.raises(ValueError, match="bytes of memory"):
        Maxn(ending, Rng(1), memory=1000)
    hard = Position.parse(max(ENDINGS, key=lambda line: int(line["nodes"]))["position"]).round
    full = Maxn(hard, Rng(1), memory=1 << 16)
    assert not full.run(100_000)
    assert not full.proven
    assert 10 < full.nodes < 1000
    assert full.best() in hard.moves()


def test_flat_finds_most_of_the_moves_whatever_its_budget() -> None:
    """It plays out by planners, who do not roll dice: with all hands open the second playout of a
    move is the first one again, and what the first tells wrongly no budget puts right."""
    asked = ENDINGS[:: sized(1, 12)]
    found = found_by("flat:sims=500", asked)
    assert sum(found) >= 0.85 * len(asked)
    assert found == found_by("flat:sims=1500", asked)
    for line in asked[::10]:
        said = make_engine("flat:sims=500").answer(Position.parse(line["position"]), seed=1)
        assert {move.margin_se for move in said.lines if move.visits > 1} == {0.0}


# Refusals -------------------------------------------------------------------------------------


def test_the_budget_counts_positions_and_no_answer_is_given_beyond_it() -> None:
    line = max(ENDINGS, key=lambda line: int(line["nodes"]))
    round_ = Position.parse(line["position"]).round
    assert solve(round_, line["nodes"]).nodes == line["nodes"]
    for ask in (solve, solve_all):
        with pytest.raises(EndingTooBigError, match=f"at most {line['nodes'] - 1} positions"):
            ask(round_, line["nodes"] - 1)


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_a_whole_round_is_too_big(table: tuple[int, bool]) -> None:
    round_ = opening(table[0], 1, table[1])
    while round_.start >= 0:
        round_.play(round_.moves()[0])
    with pytest.raises(EndingTooBigError, match=r"positions \(\d\d cards are left\)"):
        solve(round_, sized(20_000, 500))


@pytest.mark.parametrize("ask", [solve, solve_all])
def test_what_cannot_be_asked(ask: Callable[..., object]) -> None:
    ending = Position.parse(ENDINGS[0]["position"])
    with pytest.raises(ValueError, match="the round is over"):
        ask(Round(hands("-/12"), captured=(1, 1)))
    with pytest.raises(ValueError, match="expected known hands"):
        ask(Round(hands("12.34/x.56")))
    with pytest.raises(ValueError, match="after the flip phase"):
        ask(opening(3, 1))
    for nodes in (0, -1, 1 << 30):
        with pytest.raises(ValueError, match="nodes"):
            ask(ending.round, nodes)
    with pytest.raises(TypeError):
        ask(None)
