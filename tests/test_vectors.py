"""The conformance vectors against the compiled core and the library.

`test_notation.py` reads and writes every position of the vectors and `test_record.py` every record;
here is what the core makes of them, move by move.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from helpers import VECTORS, at, code, hands, low, tokens, vectors

from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import (
    FLIP,
    KEEP,
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    Round,
    cards_in_play,
    deck,
    move_code,
    move_parts,
    strength,
)
from bigtop.notation import Position, format_move
from bigtop.record import read_records, replay

# Strength -------------------------------------------------------------------------------------


def set_of(numbers: list[int]) -> bytes:
    """Cards with these active numbers; the other numbers do not matter."""
    return bytes(number << 4 | (1 if number > 1 else 2) for number in numbers)


RANKED: list[list[int]] = json.loads((VECTORS / "strength.json").read_text(encoding="utf-8"))


def test_strengths_rise_along_the_list() -> None:
    strengths = [strength(set_of(numbers)) for numbers in RANKED]
    assert len(strengths) == 135
    assert strengths[0] > 0
    assert all(weak < strong for weak, strong in itertools.pairwise(strengths))


def test_a_set_is_as_strong_from_right_to_left() -> None:
    for numbers in RANKED:
        assert strength(set_of(numbers[::-1])) == strength(set_of(numbers))


def test_the_other_numbers_do_not_matter() -> None:
    for numbers in RANKED:
        found = set()
        for other in range(1, 11):
            if other not in numbers:
                found.add(strength(bytes(number << 4 | other for number in numbers)))
        assert found <= {strength(set_of(numbers))}


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_what_is_not_in_the_list_is_no_set(size: int) -> None:
    sets = {tuple(numbers) for numbers in RANKED} | {tuple(numbers[::-1]) for numbers in RANKED}
    for numbers in itertools.product(range(11), repeat=size):
        cards = bytes(0 if n == 0 else set_of([n])[0] for n in numbers)
        assert (strength(cards) > 0) == (numbers in sets), numbers


def test_no_card_is_no_set_and_eleven_are_too_many() -> None:
    assert strength(b"") == 0
    assert strength(set_of([*range(1, 11)])) > strength(set_of([9] * 9))
    assert strength(b"\x12" * 10) > 0  # ten equal cards do not exist, but they are a block
    with pytest.raises(ValueError, match="expected at most 10 cards in the set: 11"):
        strength(b"\x12" * 11)


# Moves ----------------------------------------------------------------------------------------

MOVES = vectors("moves.jsonl")


def test_moves_are_listed_in_canonical_order() -> None:
    assert len(MOVES) == 240
    for case in MOVES:
        round_ = at(case["position"])
        moves = round_.moves()
        assert tokens(moves) == case["moves"], case["position"]
        assert moves == sorted(set(moves))
        assert moves == [code(token) for token in case["moves"]]
        assert round_.count() == len(moves)


def test_legal_tokens_are_as_many_as_there_are() -> None:
    for case in MOVES:
        round_ = at(case["position"])
        every = round_.all_moves()
        assert len(every) == case["legal"], case["position"]
        assert every == sorted(set(every))
        assert set(round_.moves()) <= set(every)


def test_canonical_is_the_first_token_with_the_same_outcome() -> None:
    """All legal tokens are played: those with equal rounds share the first as canonical."""
    for case in MOVES:
        round_ = at(case["position"])
        outcomes: list[tuple[int, Round]] = []
        for move in round_.all_moves():
            after = round_.copy()
            after.play(move)
            first = next((first for first, other in outcomes if other == after), move)
            if first == move:
                outcomes.append((move, after))
            assert round_.canonical(move) == first, (case["position"], format_move(move))
        assert [first for first, _ in outcomes] == round_.moves()


def every_code(places: int) -> Iterator[int]:
    """Every move code with places up to this, whether it makes sense or not."""
    blocks = [(first, last) for first in range(places) for last in range(places)]
    scouts = list(itertools.product(range(2), range(places), range(2)))
    for kind in (PASS, KEEP, FLIP):
        yield move_code(kind)
    for first, last in blocks:
        yield move_code(SHOW, first=first, last=last)
    for end, place, side in scouts:
        yield move_code(SCOUT, end, place, side)
        for first, last in blocks:
            yield move_code(SCOUT_SHOW, end, place, side, first, last)


@pytest.mark.parametrize("part", range(4))
def test_refusal_is_empty_exactly_for_legal_tokens(part: int) -> None:
    """Every code that could be meant, two places beyond the hand included."""
    refused = 0
    for case in MOVES[part::4]:
        round_ = at(case["position"])
        size = len(round_.hand(round_.turn))
        if size > 13:
            continue
        legal = set(round_.all_moves())
        if len(round_.active) == 1:  # R is accepted there, but not counted
            rights = {move | move_code(SHOW, end=1) for move in legal if is_scout(move)}
            assert {round_.canonical(move) for move in rights} <= set(round_.moves())
            legal |= rights
        allowed = set()
        for move in every_code(size + 2):
            if round_.refusal(move):
                refused += 1
            else:
                allowed.add(move)
        assert allowed == legal, case["position"]
    assert refused > 10_000


def is_scout(move: int) -> bool:
    return move_parts(move).kind in (SCOUT, SCOUT_SHOW)


def test_what_is_refused_is_not_played() -> None:
    for case in MOVES[::12]:
        round_ = at(case["position"])
        before = round_.copy()
        size = len(round_.hand(round_.turn))
        for move in (
            move_code(SHOW, first=size, last=size),
            move_code(SCOUT, place=size + 1),
            move_code(SCOUT, place=63),
            move_code(SHOW, first=1, last=0),
            move_code(KEEP),
        ):
            refusal = round_.refusal(move)
            assert refusal
            with pytest.raises(ValueError, match=r".") as refused:
                round_.play(move)
            assert str(refused.value) == refusal
        assert round_ == before


# Counts ---------------------------------------------------------------------------------------

PERFT = vectors("perft.jsonl")


@pytest.mark.parametrize("line", range(24))
def test_perft(line: int) -> None:
    round_ = at(PERFT[line]["position"])
    counts = PERFT[line]["perft"]
    assert len(counts) >= 2
    assert [round_.perft(depth) for depth in range(len(counts) + 1)] == [1, *counts]


@pytest.mark.parametrize("line", range(24))
def test_divide_adds_up(line: int) -> None:
    round_ = at(PERFT[line]["position"])
    for depth, count in enumerate(PERFT[line]["perft"], 1):
        divided = round_.divide(depth)
        assert [move for move, _ in divided] == round_.moves()
        assert sum(paths for _, paths in divided) == count
        for move, paths in divided[::5]:
            after = round_.copy()
            after.play(move)
            assert after.perft(depth - 1) == paths


# Games ----------------------------------------------------------------------------------------


def test_games_hold_listed_moves_and_lead_to_their_ends() -> None:
    """On the core alone: no position, no record between the moves and the points."""
    ends: Counter[str] = Counter()
    for game in vectors("games.jsonl"):
        for dealt in game["rounds"]:
            players = len(game["players"])
            round_ = Round(
                hands("/".join(dealt["deal"])),
                start=dealt["start"],
                tokens=(1 << players) - 1 if players > 2 else 0,
                chips=[0 if players > 2 else 3] * players,
                forced_pass=game.get("forced_pass", False),
            )
            for flip in dealt["flips"]:
                round_.play(move_code(FLIP if flip else KEEP))
            for number, token in enumerate(dealt["moves"]):
                assert round_.end == ""
                assert round_.made == number
                move = code(token)
                assert round_.canonical(move) in round_.moves()
                round_.play(move)
            assert round_.end == dealt["end"]
            assert list(round_.points()) == dealt["points"]
            assert round_.made == len(dealt["moves"])
            assert round_.moves() == round_.all_moves() == []
            assert round_.count() == 0
            ends[round_.end] += 1
    assert min(ends.values()) > 100


def test_replayed_games_keep_every_card() -> None:
    """Through `bigtop.record`: at every step each card of the deal is somewhere, once."""
    steps = 0
    with (VECTORS / "games.jsonl").open("rb") as stream:
        for record in read_records(stream):
            dealt: list[int] = []
            for step in replay(record):
                round_ = step.round
                rows = [round_.hand(seat) for seat in range(round_.players)]
                cards = sorted(map(low, b"".join([*rows, round_.active, round_.out])))
                if step.ply == 0 and round_.start >= 0 and round_.turn == 0:
                    dealt = cards
                    assert len(dealt) == cards_in_play(round_.players)
                assert cards == dealt
                assert len(round_.out) == sum(round_.captured)
                steps += 1
    assert steps > 26_498


# Views ----------------------------------------------------------------------------------------


def test_views_hold_what_the_true_round_allows() -> None:
    """What a view says is true, and the hidden cards are among those that the belief expects."""
    for line in vectors("views.jsonl"):
        view, full = at(line["position"]), at(line["full"])
        belief = Belief(view)
        secret = []
        for seat in range(full.players):
            for seen, true in zip(view.hand(seat), full.hand(seat), strict=True):
                if seen:
                    assert seen == true
                else:
                    secret.append(low(true))
        assert belief.hidden == len(secret)
        assert set(secret) <= set(belief.unseen)
        aside = len(deck(full.players)) - cards_in_play(full.players)
        unlisted = sum(full.captured) - len(full.out)
        assert len(belief.unseen) == len(secret) + aside + unlisted
        assert view.moves() == full.moves()
        assert view.points() == full.points()


def seats_of(position: Position) -> Iterator[tuple[int, bytes]]:
    for seat in range(position.players):
        yield seat, position.round.hand(seat)


def test_sequences_step_by_step() -> None:
    """Along the public moves the viewer's own hand stays open, nobody else's opens by itself,
    and counts of cards add up."""
    for line in vectors("sequences.jsonl"):
        first, _, moves = line["position"].partition(" moves ")
        position = Position.parse(first)
        for token in moves.split(" "):
            position = position.play(token)
            held = sum(len(hand) for _, hand in seats_of(position))
            round_ = position.round
            total = held + len(round_.active) + sum(round_.captured)
            assert total == cards_in_play(position.players)
            for seat, hand in seats_of(position):
                opened = [card for place, card in enumerate(hand) if card]
                if seat == line["viewer"] or line["viewer"] is None:
                    assert len(opened) == len(hand)
                else:
                    scouted = [
                        card for place, card in enumerate(hand) if round_.scouted(seat) >> place & 1
                    ]
                    assert opened == scouted
        assert str(position) == line["then"]


# Refusals -------------------------------------------------------------------------------------


def refusals() -> list[dict[str, Any]]:
    return [line for line in vectors("bad_positions.jsonl") if line["refused_by"] == "hint"]


@pytest.mark.parametrize("line", refusals(), ids=lambda line: line["why"])
def test_the_core_does_not_list_the_moves_of_a_hidden_hand(line: dict[str, Any]) -> None:
    round_ = at(line["position"])
    assert round_.hidden(round_.turn)
    for ask in (round_.moves, round_.all_moves, round_.count):
        with pytest.raises(ValueError, match=f"expected a known hand of seat {round_.turn}"):
            ask()


@pytest.mark.parametrize("name", ["good_positions.jsonl", "lenient_positions.jsonl"])
def test_readable_positions_can_be_believed(name: str) -> None:
    """A belief of each exists, and what it samples is again a position, of the same points."""
    for line in vectors(name):
        position = Position.parse(line["position"])
        full = Belief(position.round).sample(Rng(1))
        again = Position.from_round(full, position.game)
        assert again.is_open
        assert again.points() == position.points()
        assert Position.parse(str(again)) == again
