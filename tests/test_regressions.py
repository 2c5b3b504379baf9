"""Faults that were found once, each a test."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
from helpers import TABLE_NAMES, TABLES, at, played

import bigtop.core
from bigtop.core.belief import Belief
from bigtop.core.bench import (
    compare_repeatedly,
    list_repeatedly,
    random_moves_repeatedly,
    sample_repeatedly,
)
from bigtop.core.chain import Story
from bigtop.core.evaluate import rated_moves
from bigtop.core.flat import Flat
from bigtop.core.ismcts import Ismcts
from bigtop.core.policy import choose, play_logged, play_rounds
from bigtop.core.rng import Rng
from bigtop.core.search import Root
from bigtop.core.state import FLIP, KEEP, PASS, SHOW, Round, deal, move_code
from bigtop.core.train import Learner, Samples
from bigtop.engines import Memory, make_engine
from bigtop.notation import Game, Position
from bigtop.weights import shipped


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_repr_names_every_field(table: tuple[int, bool]) -> None:
    """Evaluated, it makes a round that plays alike: only what was scouted is not in it."""
    for round_ in played(table[0], 22, table[1]):
        if round_.end in ("ii", "cut"):  # such a round is written as the one before its last move
            continue
        again = eval(repr(round_), {"Round": Round})
        assert repr(again) == repr(round_)
        assert again.moves() == round_.moves()
        assert again.points() == round_.points()


def test_codes_with_fields_that_a_kind_lacks_are_refused() -> None:
    """Unused fields are 0: other codes are no legal tokens, and have no canonical move."""
    flips = next(played(3, 7))
    for kind in (KEEP, FLIP):
        assert flips.refusal(move_code(kind, last=5)) != ""
    round_ = at("57.46/12.13.91 34.45@1 0 - 8+3/7+2 -")
    assert round_.refusal(move_code(PASS, place=3)) != ""
    assert round_.refusal(move_code(SHOW, end=1)) != ""


@pytest.mark.parametrize("spec", ["flat:time=0.00001", "planner:scout=1.2345678"])
def test_a_canonical_spec_names_the_same_engine(spec: str) -> None:
    engine = make_engine(spec)
    assert make_engine(engine.spec).options == engine.options


def test_flat_keeps_to_the_smallest_budget() -> None:
    position = Position.parse("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14")
    assert make_engine("flat:sims=1").answer(position, 1).sims == 1


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_a_sample_looks_to_the_seat_as_the_round_did(table: tuple[int, bool]) -> None:
    """The cards scouted in this round stay known in a sample: its own view is the view."""
    for round_ in played(table[0], 31, table[1]):
        for seat in range(round_.players):
            view = round_.view(seat)
            assert Belief(view).sample(Rng(1)).view(seat) == view


def test_no_card_lies_beyond_the_numbers_of_the_machine() -> None:
    """The sum of both was below 0, and memory far outside was written."""
    round_ = at("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14")
    with pytest.raises(ValueError, match="no card at place 2147483648"):
        round_.reveal(0, 2**31 - 1, b"\x12")
    with pytest.raises(ValueError, match="no card at place 10 "):
        round_.reveal(0, 8, b"\x12\x13")
    assert round_ == at("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14")


def test_lists_that_are_too_short_are_not_read_beyond_their_end() -> None:
    """What lay there in memory was taken for an object."""
    round_ = at("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14")
    for game in ((1, []), (1, [3]), (1,), ()):
        with pytest.raises(IndexError):
            Root(round_, Rng(1), game=game)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        play_rounds(["random", "random"], Rng(1), 1, [1.0])
    with pytest.raises(IndexError):
        play_logged(deal(2, Rng(1)), ["random", "random"], [1, 2], [1.0])


# None where an object of the core belongs ------------------------------------------------------

CORE = Path(bigtop.core.__file__).parent


def stubs() -> list[tuple[str, str, ast.FunctionDef]]:
    """Every function and method that the stubs of the core tell of: module, class or "", itself."""
    found = []
    for stub in sorted(CORE.glob("*.pyi")):
        for node in ast.parse(stub.read_text("utf-8")).body:
            inner = node.body if isinstance(node, ast.ClassDef) else [node]
            owner = node.name if isinstance(node, ast.ClassDef) else ""
            found += [(stub.stem, owner, f) for f in inner if isinstance(f, ast.FunctionDef)]
    return found


def objects() -> dict[str, Any]:
    """One object of each class of the core, and a value of each plain type."""
    position = Position.parse("x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14")
    round_, rng = position.round, Rng(1)
    network = shipped(2)
    story = Story(round_, [], round_, network)
    return {
        "Round": round_, "Rng": rng, "Network": network, "Belief": Belief(round_),
        "Story": story, "Worlds": story.draw(rng, 2, 4, [1.0], 1), "Samples": Samples(),
        "Learner": Learner(2, rng), "Root": Root(round_, rng), "Flat": Flat(round_, rng),
        "Ismcts": Ismcts(round_, rng), "int": 2, "float": 1.0, "bool": False, "bytes": b"",
    }  # fmt: skip


def takes_an_object() -> list[tuple[str, str, str, str]]:
    """Module, class, function and argument, for each that must be an object of the core."""
    classes = {owner for _, owner, _ in stubs() if owner}
    return [
        (module, owner, function.name, argument.arg)
        for module, owner, function in stubs()
        for argument in function.args.args + function.args.kwonlyargs
        if argument.annotation is not None and ast.unparse(argument.annotation) in classes
    ]


@pytest.mark.parametrize(("module", "owner", "name", "argument"), takes_an_object())
def test_none_is_no_object_of_the_core(module: str, owner: str, name: str, argument: str) -> None:
    """It was taken for one, and the process died of it."""
    (function,) = (f for m, o, f in stubs() if (m, o, f.name) == (module, owner, name))
    have = objects()
    given = {
        a.arg: have.get(ast.unparse(a.annotation), [])
        for a in function.args.args + function.args.kwonlyargs
        if a.annotation is not None and "None" not in ast.unparse(a.annotation)
    }
    core = importlib.import_module(f"bigtop.core.{module}")
    if name == "__init__":
        call = getattr(core, owner)
    else:
        call = getattr(have[owner] if owner else core, name)
    with pytest.raises(TypeError, match=rf"^Argument '{argument}' .*\bNone"):
        call(**given | {argument: None})


def test_every_object_of_the_core_is_asked_for() -> None:
    assert len(takes_an_object()) > 25


def test_lists_of_the_bench_hold_no_none() -> None:
    """A cast to a class of the core lets None through."""
    for function in (compare_repeatedly, list_repeatedly):
        with pytest.raises(TypeError, match="expected a Round, got NoneType"):
            function([None], 1)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a Round, got NoneType"):
        random_moves_repeatedly([None], Rng(1), 1)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a Belief, got NoneType"):
        sample_repeatedly([None], Rng(1), 1)  # type: ignore[list-item]


def test_a_learner_loads_nothing_but_bytes() -> None:
    """The memory of any object of the right length was copied."""
    learner = Learner(2, Rng(1))
    steps, *memories = learner.dump()
    wrong = ["x" * len(memory) for memory in memories if isinstance(memory, bytes)]
    with pytest.raises(TypeError, match="bytes"):
        learner.load([steps, *wrong])  # type: ignore[list-item]


# What was found by reading ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "71/8T.x2 41.48.42@1 0 - 6+1/9+0 13.16.18.1T.23.29.2T.47.56.57.5T.68.6T.78.89",
        "x.45.x/x5/61.4T.48/x4 94.92@1 2 1 7+1/6+1/6+1/8+1 "
        "12.13.15.17.23.24.25.26.27.2T.34.35.36.37.39.3T.46.47.58.59.5T.67.69.78.7T.89.8T",
    ],
)
def test_bigtop_chooses_among_moves_that_the_evaluation_has_looked_at(text: str) -> None:
    """It counted the planner's value of another move as if that were a margin of about 0."""
    position = Position.parse(text)
    rated = {code for code, _ in rated_moves(position.round, shipped(position.players))}
    assert len(rated) < len(position.legal_moves())
    said = make_engine("bigtop:moves=50,sims=300").answer(position, 1)
    assert {position.code(line.move) for line in said.lines if line.visits} <= rated
    assert position.code(said.move) in rated


@pytest.mark.parametrize("sims", [1, 2, 3, 5, 7, 10, 30])
def test_bigtop_keeps_a_small_budget(sims: int) -> None:
    position = Position.parse(
        "x6/37.x5/12.T9.45.67.82/x7/x9 58.65@0 2 024 2+1/0+0/4+2/1+0/3+0 "
        "13.14.16.17.18.19.1T.23.24.25"
    )
    assert 0 < make_engine(f"bigtop:sims={sims}").answer(position, 1).sims <= sims


def test_a_model_without_weight_is_never_drawn() -> None:
    """However well it explains what was done: `ismcts` has no learned player to play it out."""
    for seed in (30, 32):
        position = Position.from_round(deal(3, Rng(9).split(seed)))
        network = shipped(3)
        for _ in range(33):
            after = position.play(position.token(choose(position.round, network, Rng(0))))
            if after.is_over:
                break
            position = after
            if position.flipping:
                continue
            view = position.view(position.turn)
            story = Story(view.first, view.plies, view.round, network)
            worlds = story.draw(Rng(1), 100, 2, (1.0,), 20, [(0.4, 0.2, 0.1, 0.0, 0.3)] * 3)
            assert not worlds.learned


def test_another_number_of_players_is_another_game() -> None:
    """What was learned of three players does not fit five."""
    memory = Memory()
    three = Position.from_round(deal(3, Rng(1)), Game(1, (0,) * 3)).view(0)
    assert memory.recall(three) is None
    memory.learn(make_engine("bigtop:sims=20").answer(three, 1))
    five = Position.from_round(deal(5, Rng(1)), Game(2, (0,) * 5)).view(0)
    assert memory.recall(five) is None


def test_a_budget_of_time_that_is_over_at_once() -> None:
    """Each move that is looked at is played out all the same."""
    position = Position.parse("x9/45.46.81.72/x8/x6 37@0 1 - 4+1/8+1/2+1/2+1 -")
    said = make_engine("bigtop:time=0.000001").answer(position, 1)
    assert said.lines[0].visits > 0
