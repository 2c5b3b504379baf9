"""Faults that were found once, each a test."""

from __future__ import annotations

import pytest
from helpers import TABLE_NAMES, TABLES, at, played

from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import FLIP, KEEP, PASS, SHOW, Round, move_code
from bigtop.engines import make_engine
from bigtop.notation import Position


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
