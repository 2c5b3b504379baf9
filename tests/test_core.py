"""The compiled core against the plain Python twin, and its random numbers against chance.

Where a test could fail for a right sampler, `helpers.FALSE_ALARM` is the chance of it; seeds are
fixed, so it fails always or never.
"""

from __future__ import annotations

import functools
import itertools
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
import twin
from helpers import (
    FALSE_ALARM,
    TABLE_NAMES,
    TABLES,
    at,
    cards,
    chi_square_tail,
    code,
    differences,
    low,
    natural_move,
    opening,
    plain,
    played,
    random_row,
    row,
    show,
    sized,
    tokens,
    turned,
    uniformity,
    vectors,
)
from numpy.typing import NDArray

from bigtop.core.policy import choose, planner_h, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import (
    FLIP,
    KEEP,
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    MoveParts,
    Round,
    cards_in_play,
    deal,
    deck,
    hand_size,
    move_code,
    move_parts,
    strength,
)
from bigtop.notation import format_move

# Random rounds, move by move, on both ---------------------------------------------------------

ROUNDS = {2: 16, 3: 12, 4: 8, 5: 7}
"""Rounds by players; the twin tries every move of every position on the way."""
SCOUT_COSTS = (1.0, 1.5, 0.0, -2.5, 0.25)
"""Of the planner. Multiples of an eighth, as its values are: ties are exact on both sides."""

ASPECTS = (
    "moves",
    "legal tokens",
    "canonical order",
    "outcomes",
    "canonical tokens",
    "views",
    "planner's values",
    "planner's choice",
    "greedy's choice",
    "worth of hands",
)


@dataclass
class Walk:
    """What a walk through random rounds found."""

    positions: int = 0
    outcomes: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def expect(self, aspect: str, round_: Round, found: object, wanted: object) -> None:
        """Note a difference, at most three of an aspect."""
        if found != wanted and len(self.wrong.setdefault(aspect, [])) < 3:
            self.wrong[aspect].append(f"{show(round_)}: {found!r}, the twin has {wanted!r}")


@functools.cache
def walk(players: int, forced_pass: bool) -> Walk:
    """Play rounds of all kinds of moves on the core and the twin, and compare all they say."""
    found = Walk()
    with pytest.MonkeyPatch.context() as patch:
        # The twin asks for the same outcomes again and again.
        patch.setattr(twin.Round, "outcomes", functools.lru_cache(2)(twin.Round.outcomes))
        for seed in range(ROUNDS[players]):
            pick = random.Random(seed)
            round_ = opening(players, seed, forced_pass)
            other = plain(round_)
            while not round_.end:
                compare(found, round_, other, SCOUT_COSTS[found.positions % len(SCOUT_COSTS)])
                if pick.random() < 0.5 and round_.start < 0:
                    move = choose(round_, "planner", Rng(0))
                else:
                    move = natural_move(round_, pick)
                round_.play(move)
                other = other.play(format_move(move))
            found.expect("moves", round_, round_.moves(), [])
            found.expect("outcomes", round_, differences(round_, other), [])
    return found


def compare(found: Walk, round_: Round, other: twin.Round, cost: float) -> None:
    """All that the core says of a position, and what the twin says."""
    found.positions += 1
    moves, every = round_.moves(), round_.all_moves()
    outcomes = other.outcomes()
    found.expect("moves", round_, tokens(moves), [token for token, _ in outcomes])
    found.expect("moves", round_, round_.count(), len(outcomes))
    found.expect("canonical order", round_, every, sorted(set(every)))
    found.expect("canonical order", round_, moves, sorted(set(moves)))
    legal = other.legal_tokens()
    found.expect("legal tokens", round_, tokens(every), legal)
    first = {after: token for token, after in outcomes}
    listed = set(moves)
    for move, token in zip(every, legal, strict=False):
        found.expect("legal tokens", round_, round_.refusal(move), "")
        wanted = token if move in listed else first[other.play(token)]
        found.expect("canonical tokens", round_, format_move(round_.canonical(move)), wanted)
    for token, after in outcomes:
        played_ = round_.copy()
        played_.play(code(token))
        found.outcomes += 1
        found.expect("outcomes", round_, (token, differences(played_, after)), (token, []))
    for seat in range(round_.players):
        found.expect("views", round_, differences(round_.view(seat), other.view(seat)), [])
        hand = other.hands[seat]
        wanted_h = twin.hand_worth(twin.numbers(hand))
        found.expect("worth of hands", round_, planner_h(row(hand)), wanted_h)
    token = format_move(choose(round_, "planner", Rng(0), cost))
    found.expect("planner's choice", round_, (cost, token), (cost, twin.planner_move(other, cost)))
    if round_.start < 0:
        values = [(format_move(move), value) for move, value in planner_values(round_, cost)]
        found.expect("planner's values", round_, values, twin.planner_values(other, cost))
    chosen = choose(round_, "greedy", Rng(found.positions))
    wanted = twin.greedy(other, random.Random(0))
    if twin.kind(twin.read_move(wanted)) == twin.SCOUT:  # any of them, by chance
        found.expect("greedy's choice", round_, move_parts(chosen).kind, SCOUT)
        found.expect("greedy's choice", round_, chosen in listed, True)
    else:
        found.expect("greedy's choice", round_, format_move(chosen), wanted)


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_random_rounds_as_the_twin_has_them(table: tuple[int, bool], aspect: str) -> None:
    found = walk(*table)
    assert found.wrong.get(aspect, []) == []
    assert found.positions > 100
    assert found.outcomes > 4_000


# Long hands -----------------------------------------------------------------------------------

EDGES = (15, 16, 17, 30, 31, 32, 33, 34, 43, 44, 45)
"""Sizes at which rows are handled differently: by 16 and 32 bytes at a time, and the longest."""


@pytest.mark.parametrize("size", range(46))
def test_worth_of_a_row_of_any_length(size: int) -> None:
    choose_ = random.Random(size)
    for close in (0.2, 0.7, 0.95):
        for _ in range(8):
            hand = random_row(size, choose_, close) if size else b""
            wanted = twin.hand_worth(twin.numbers(cards(hand)))
            assert planner_h(hand) == wanted, hand.hex(" ")


def test_worth_of_equal_cards_at_every_place() -> None:
    """A pair, then a run of three, moved through a row of other numbers."""
    for size in EDGES:
        for block in ([5, 5], [4, 5, 6], [6, 5, 4]):
            for place in range(size - len(block) + 1):
                numbers = [1 if i % 2 else 9 for i in range(size)]
                numbers[place : place + len(block)] = block
                hand = bytes(n << 4 | (2 if n != 2 else 3) for n in numbers)
                assert planner_h(hand) == twin.hand_worth(numbers), (size, block, place)


def test_worth_of_more_than_45_cards_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 45 cards: 46"):
        planner_h(b"\x12" * 46)


def long_round(
    size: int, players: int, choose_: random.Random, close: float = 0.6, steady: bool = False
) -> Round:
    """A seat with so many cards, the others with one each, against a set of one to three cards.

    With no card left for a set the table is empty.
    """
    found = random_row(min(45, size + players + 2), choose_, close, steady)
    rest = found[size:]
    lone = [bytes([card]) for card in rest[: players - 1]]
    active = rest[players - 1 :][: choose_.randint(1, 3)]
    while active and not strength(active):
        active = active[:-1]
    return Round(
        [found[:size], *lone],
        active=active,
        owner=players - 1 if active else -1,
        tokens=(1 << players) - 1 if players > 2 else 0,
        chips=[3 if players == 2 else 0] * players,
    )


@pytest.mark.parametrize(
    ("size", "players"),
    [
        (size, players)
        for size in (15, 16, 17, 31, 32, 33, 38, 40, 41, 42, 43, 44)
        for players in (2, 3, 5)
        if size + players - 1 <= 45
    ],
)
def test_moves_of_a_long_hand(size: int, players: int) -> None:
    """Every move is listed; a sample of them is played: cards are put in and taken out at all
    places of the hand."""
    choose_ = random.Random(100 * size + players)
    round_ = long_round(size, players, choose_)
    other = plain(round_)
    assert tokens(round_.all_moves()) == other.legal_tokens()
    moves = round_.moves()
    assert round_.count() == len(moves)
    scouts = [move for move in moves if move_parts(move).kind == SCOUT]
    assert len(scouts) in ((0,) if not round_.active else (2 * (size + 1), 4 * (size + 1)))
    values = dict(planner_values(round_))
    for move in [*scouts, *choose_.sample(moves, min(100, len(moves)))]:
        after = round_.copy()
        after.play(move)
        wanted = other.play(format_move(move))
        assert differences(after, wanted) == [], format_move(move)
        if move_parts(move).kind != PASS:
            hand = wanted.hands[0]
            value = 0.25 * twin.hand_worth(twin.numbers(hand)) - len(hand)
            value += len(other.active) if move_parts(move).kind != SCOUT else 0
            value -= move_parts(move).kind != SHOW
            assert values[move] == value, format_move(move)
    assert choose(round_, "planner", Rng(0)) == best_by_values(round_, 1.0)


TIE_RANK = {SCOUT: 0, SHOW: 1, SCOUT_SHOW: 2, PASS: 3}
"""Among moves of equal value the planner prefers a Scout, then a Show, then a Scout & Show."""


def best_by_values(round_: Round, cost: float) -> int:
    """The planner's move by its values of all moves."""
    values = planner_values(round_, cost)
    return min(values, key=lambda pair: (-pair[1], TIE_RANK[move_parts(pair[0]).kind], pair[0]))[0]


@pytest.mark.parametrize("players", [2, 3, 5])
def test_the_planner_chooses_by_its_values(players: int) -> None:
    """The planner finds its move without valuing all; here on hands of every length, loose and
    close, that few rounds get to. The values are compared with the twin's above."""
    choose_ = random.Random(players)
    for number in range(sized(1_500, 500)):
        size = choose_.randint(1, 20 if number % 20 else 45 - players)
        round_ = long_round(size, players, choose_, choose_.choice([0.3, 0.6, 0.9]), number % 2 > 0)
        cost = choose_.choice(SCOUT_COSTS)
        move = choose(round_, "planner", Rng(0), cost)
        assert move == best_by_values(round_, cost), (show(round_), cost)


@pytest.mark.parametrize("players", [3, 5])
def test_moves_of_a_hand_of_long_blocks(players: int) -> None:
    """Hands that are nearly one block: blocks of all lengths, cards that lengthen or part them."""
    choose_ = random.Random(players)
    longest = 0
    for number in range(36):
        round_ = long_round(4 + number % 9, players, choose_, 0.97, steady=True)
        other = plain(round_)
        assert tokens(round_.all_moves()) == other.legal_tokens(), show(round_)
        moves = round_.moves()
        assert tokens(moves) == other.moves(), show(round_)
        assert round_.count() == len(moves)
        longest = max(longest, *(p.last - p.first + 1 for p in map(move_parts, moves)))
    assert longest > 6


@pytest.mark.parametrize("size", EDGES[:-1])
def test_blocks_leave_a_long_hand_from_every_place(size: int) -> None:
    """Two equal cards are shown from each place of a row; somebody else holds a card, too."""
    for place in range(size - 1):
        pair = [card for card in twin.deck(5) if 5 in card][:2]
        rest = [card for card in twin.deck(5) if card not in pair][: size - 2]
        hand = [*rest[:place], *((5, sum(card) - 5) for card in pair), *rest[place:]]
        last = [
            card for card in twin.deck(5) if card not in hand and twin.flipped(card) not in hand
        ]
        round_ = Round([row(tuple(hand)), row(tuple(last[:1]))])
        other = plain(round_)
        move = move_code(SHOW, first=place, last=place + 1)
        round_.play(move)
        assert differences(round_, other.play(format_move(move))) == []


@pytest.mark.parametrize("size", EDGES)
def test_a_long_hand_is_flipped(size: int) -> None:
    hand = random_row(size, random.Random(size))
    round_ = Round([hand, b""], start=1)
    round_.play(move_code(FLIP))
    assert round_.hand(0) == bytes(map(turned, hand))


# Counting paths -------------------------------------------------------------------------------

MOST_PATHS = 6_000
"""Paths that the twin counts in a position."""


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_perft_as_the_twin_counts(table: tuple[int, bool]) -> None:
    counted = Counter[int]()
    for seed in range(11, 17):
        for round_ in list(played(table[0], seed, table[1]))[-14::3]:
            if round_.start >= 0:
                continue
            other = plain(round_)
            for depth in (1, 2, 3, 4):
                paths = round_.perft(depth)
                if paths > MOST_PATHS:
                    break
                assert paths == twin.perft(other, depth), show(round_)
                counted[depth] += 1
                if depth > 1 and not round_.end:
                    divided = round_.divide(depth)
                    assert sum(count for _, count in divided) == paths
                    assert tokens(move for move, _ in divided) == other.moves()
    assert counted[1] > 5
    assert counted[2] > 5


def test_perft_refuses_what_it_cannot_count() -> None:
    round_ = opening(3, 1)
    with pytest.raises(ValueError, match="expected a position after the flip phase"):
        round_.perft(1)
    running = next(other for other in played(3, 1) if other.start < 0)
    for depth in (-1, 1001):
        with pytest.raises(ValueError, match=f"expected a depth from 0 to 1000: {depth}"):
            running.perft(depth)
    with pytest.raises(ValueError, match="expected a depth from 1 to 1000: 0"):
        running.divide(0)
    with pytest.raises(ValueError, match=r"expected known hands: \d+ cards of seat \d are hidden"):
        running.view(running.turn).perft(2)


# Hidden cards ---------------------------------------------------------------------------------


def test_hidden_cards_are_no_block() -> None:
    """0 is one below 1, and 0 equals 0: neither makes a block."""
    round_ = Round([b"\x00\x00\x12\x00\x24", b"\x34", b"\x56"], tokens=7)
    for first, last in itertools.combinations_with_replacement(range(5), 2):
        refusal = round_.refusal(move_code(SHOW, first=first, last=last))
        named = [place for place in range(first, last + 1) if round_.hand(0)[place] == 0]
        assert ("hidden" in refusal) == bool(named)
        assert (refusal == "") == (first == last and not named)
    for ask in (round_.moves, round_.all_moves, round_.count):
        with pytest.raises(ValueError, match="expected a known hand of seat 0, which is to act: 3"):
            ask()
    with pytest.raises(ValueError, match="3 of its cards are hidden"):
        round_.random_move(Rng(1))
    with pytest.raises(ValueError, match="3 of its cards are hidden"):
        choose(round_, "planner", Rng(1))


def test_hidden_cards_force_no_pass() -> None:
    """With hidden cards a seat may pass, in the forced edition, as far as its known cards go."""
    seen = Counter[bool]()
    for seed in range(400):
        pick = random.Random(seed)
        found = random_row(18, pick, 0.8)
        hand = bytes(card if pick.random() < 0.6 else 0 for card in found[:8])
        active = found[16:] if strength(found[16:]) else found[17:]
        round_ = Round([hand, found[8:15]], active=active, owner=1, chips=(0, 2), forced_pass=True)
        allowed = round_.refusal(move_code(PASS)) == ""
        assert allowed == plain(round_).may_pass(), show(round_)
        seen[allowed] += 1
    assert min(seen[True], seen[False]) > 30


def test_reveal_puts_cards_on_hidden_places() -> None:
    round_ = Round([b"\x00\x00\x12\x00", b"\x34", b"\x56"])
    round_.reveal(0, 1, b"\x78\x12")
    assert round_.hand(0) == b"\x00\x78\x12\x00"
    assert round_.hidden(0) == 2
    round_.reveal(0, 0, b"")
    before = round_.copy()
    for seat, first, row_, reason in (
        (0, 2, b"\x13", "another card is known to lie at place 3 of seat 0"),
        (0, 0, b"\x99", "expected cards with two different numbers"),
        (0, 3, b"\x13\x14", r"no card at place 5 \(seat 0 has 4 cards\)"),
        (0, -1, b"\x13", r"no card at place 0 \(seat 0 has 4 cards\)"),
        (0, 0, b"\x13\x79", "another card is known to lie at place 2 of seat 0"),
        (3, 0, b"\x13", "expected a seat from 0 to 2: 3"),
    ):
        with pytest.raises(ValueError, match=reason):
            round_.reveal(seat, first, row_)
        assert round_ == before, "refused as a whole"


def test_a_view_hides_all_that_was_not_scouted() -> None:
    for round_ in played(4, 5):
        for seat in range(4):
            view = round_.view(seat)
            assert view.hidden(seat) == 0
            for other in range(4):
                if other != seat:
                    scouted = bin(round_.scouted(other)).count("1")
                    assert view.hidden(other) == len(round_.hand(other)) - scouted
            assert view.view(seat) == view
    with pytest.raises(ValueError, match="expected a seat from 0 to 3: 4"):
        round_.view(4)
    view = next(other for other in played(4, 5) if other.start < 0).view(0)
    with pytest.raises(ValueError, match="expected a known hand of seat 1"):
        view.view(1)


# Round as an object ---------------------------------------------------------------------------

GOOD = {
    "hands": [b"\x12\x34", b"\x56", b"\x78"],
    "active": b"\x45\x57",
    "owner": 1,
    "turn": 0,
    "tokens": 5,
    "captured": (1, 2, 3),
    "chips": (3, 2, 1),
    "out": b"\x21\x13",
}


def build(**changes: object) -> Round:
    arguments = GOOD | changes
    return Round(arguments.pop("hands"), **arguments)  # type: ignore[arg-type]


def test_a_round_says_what_it_was_made_of() -> None:
    round_ = build()
    assert [round_.hand(seat) for seat in range(3)] == GOOD["hands"]
    for name in ("active", "owner", "turn", "tokens", "captured", "chips"):
        assert getattr(round_, name) == GOOD[name]
    assert round_.out == b"\x12\x13"
    assert (round_.players, round_.start, round_.made, round_.end) == (3, -1, 0, "")
    assert not round_.forced_pass
    assert round_.points() == (1 + 3 - 2, 2 + 2 - 1, 3 + 1 - 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hands": [b"\x12"]}, "expected 2 to 5 players: 1"),
        ({"hands": [b"\x12"] * 6}, "expected 2 to 5 players: 6"),
        ({"hands": [b"\x12\x33", b"\x56", b"\x78"]}, "hand of seat 0: 0x33"),
        ({"hands": [b"\x12", b"\x0b", b"\x78"]}, "hand of seat 1: 0x0b"),
        ({"hands": [b"\x12", b"\x50", b"\x78"]}, "hand of seat 1: 0x50"),
        ({"hands": [b"\x12", b"\x56", b"\xb1"]}, "hand of seat 2: 0xb1"),
        ({"hands": [b"\x00" * 46, b"\x56", b"\x78"]}, "at most 45 cards in the hand of seat 0: 46"),
        ({"hands": [b"\x00" * 42, b"\x56", b"\x78"]}, "at most 45 cards in hands and active set"),
        ({"active": b"\x45\x47\x68"}, "expected a set of known cards as the active set: 45 47 68"),
        ({"active": b"\x00"}, "expected a set of known cards as the active set: 00"),
        ({"active": b"\x12" * 11}, "expected at most 10 cards in the active set: 11"),
        ({"active": b""}, "expected an owner of the active set who is not to move"),
        ({"owner": -1}, "expected an owner of the active set who is not to move"),
        ({"owner": 0}, "expected an owner of the active set who is not to move"),
        ({"owner": 3}, "expected owner, turn, start and tokens of 3 seats"),
        ({"owner": -2}, "expected owner, turn, start and tokens of 3 seats"),
        ({"turn": 3}, "expected owner, turn, start and tokens of 3 seats"),
        ({"turn": -1}, "expected owner, turn, start and tokens of 3 seats"),
        ({"start": 3}, "expected owner, turn, start and tokens of 3 seats"),
        ({"start": -2}, "expected owner, turn, start and tokens of 3 seats"),
        ({"tokens": 8}, "expected owner, turn, start and tokens of 3 seats"),
        ({"tokens": -1}, "expected owner, turn, start and tokens of 3 seats"),
        ({"captured": (1, 2)}, "expected 3 numbers 0 to 999 of captured"),
        ({"captured": (1, 2, -1)}, "expected 3 numbers 0 to 999 of captured"),
        ({"chips": (1, 2, 1000)}, "expected 3 numbers 0 to 999 of chips"),
        ({"chips": (1, 2, 3, 4)}, "expected 3 numbers 0 to 999 of chips"),
        ({"out": b"\x12" * 46}, "expected at most 45 cards in the captured cards: 46"),
        ({"out": b"\x12\x44"}, "captured cards: 0x44"),
    ],
)
def test_a_round_refuses_what_would_be_unsafe(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        build(**changes)
    assert "\n" not in str(refused.value)


def test_a_hand_that_is_empty_ends_the_round() -> None:
    round_ = build(hands=[b"\x12", b"", b"\x78"])
    assert round_.end == "i"
    assert round_.moves() == []
    assert round_.refusal(move_code(SHOW)) == "the round is over"
    with pytest.raises(ValueError, match="the round is over"):
        round_.random_move(Rng(1))
    with pytest.raises(ValueError, match="the round is over"):
        choose(round_, "random", Rng(1))


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_copies_and_pickles_are_equal_and_apart(table: tuple[int, bool]) -> None:
    for round_ in played(table[0], 21, table[1]):
        for twin_ in (round_.copy(), pickle.loads(pickle.dumps(round_))):
            assert twin_ == round_
            assert twin_.made == round_.made
            assert repr(twin_) == repr(round_)
            for seat in range(round_.players):
                assert twin_.view(seat) == round_.view(seat)
                assert twin_.scouted(seat) == round_.scouted(seat)
            if not round_.end:
                twin_.play(twin_.moves()[-1])
                assert twin_ != round_


def test_rounds_differ_by_whatever_matters() -> None:
    base = build()
    assert base == build()
    for changes in (
        {"hands": [b"\x12\x34", b"\x56", b"\x87"]},
        {"hands": [b"\x34\x12", b"\x56", b"\x78"]},
        {"hands": [b"\x12\x34", b"\x56", b"\x00"]},
        {"active": b"\x57\x45"},
        {"owner": 2},
        {"turn": 2},
        {"tokens": 4},
        {"captured": (1, 2, 4)},
        {"chips": (3, 2, 0)},
        {"forced_pass": True},
        {"out": b"\x12"},
        {"start": 1},
    ):
        assert build(**changes) != base, changes
    assert base != "a round"
    after, other = base.copy(), build(hands=[b"\x45\x12\x34", b"\x56", b"\x78"])
    after.play(move_code(SCOUT))
    assert after.hand(0) == other.hand(0)
    assert after.scouted(0) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(base)


# Move codes -----------------------------------------------------------------------------------


def test_codes_hold_their_parts() -> None:
    for kind, end, side in itertools.product(range(6), (0, 1), (0, 1)):
        for place, first, last in ((0, 0, 0), (63, 0, 63), (5, 6, 7), (44, 44, 44)):
            move = move_code(kind, end, place, side, first, last)
            assert move == (kind << 20 | end << 19 | place << 13 | side << 12 | first << 6 | last)
            assert move_parts(move) == MoveParts(kind, end, place, side, first, last)


@pytest.mark.parametrize(
    "parts",
    [(6,), (-1,), (0, 2), (0, -1), (1, 0, 64), (1, 0, -1), (1, 0, 0, 2), (0, 0, 0, 0, 64),
     (0, 0, 0, 0, 0, 64), (0, 0, 0, 0, -1, 0)],
)  # fmt: skip
def test_codes_of_nothing_are_refused(parts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected kind 0 to 5, end and turned 0 or 1"):
        move_code(*parts)


def test_no_code_breaks_a_round() -> None:
    """Any 32-bit number is a legal move or is refused in words, and never played."""
    pick = random.Random(1)
    for round_ in (*list(played(3, 7))[::4], *list(played(2, 8, True))[::4]):
        legal = set(round_.all_moves())
        for _ in range(400):
            move = pick.getrandbits(pick.choice([12, 19, 23, 24, 32]))
            refusal = round_.refusal(move)
            if refusal:
                with pytest.raises(ValueError, match=r".") as refused:
                    round_.copy().play(move)
                assert str(refused.value) == refusal
                assert refusal.isprintable()
            else:
                round_.copy().play(move)
                assert_meant(round_, move, legal)


def assert_meant(round_: Round, move: int, legal: set[int]) -> None:
    """A code that is played is a legal token, or one with fields that its kind does not have."""
    kind, end, place, side, first, last = move_parts(move)
    if kind == SHOW:
        assert move_code(SHOW, first=first, last=last) in legal
    elif kind in (SCOUT, SCOUT_SHOW):
        end = 0 if len(round_.active) == 1 else end
        blocks = (first, last) if kind == SCOUT_SHOW else (0, 0)
        assert move_code(kind, end, place, side, *blocks) in legal
    else:
        assert move_code(kind) in legal


@pytest.mark.parametrize("players", [0, 1, 6])
def test_there_are_two_to_five_players(players: int) -> None:
    calls: list[Callable[[int], object]] = [
        deck, hand_size, cards_in_play, lambda n: deal(n, Rng(1))
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match=f"expected 2 to 5 players: {players}"):
            call(players)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_decks_as_the_twin_has_them(players: int) -> None:
    assert cards(deck(players)) == tuple(twin.deck(players))
    assert hand_size(players) == twin.HAND_SIZES[players]
    assert cards_in_play(players) == twin.cards_in_play(players)


# Statistics, before they are trusted ----------------------------------------------------------


@pytest.mark.parametrize(
    ("statistic", "freedom", "tail"),
    [
        (3.841458820694124, 1, 0.05),
        (10.827566170662733, 1, 0.001),
        (5.991464547107979, 2, 0.05),
        (18.307038053275146, 10, 0.05),
        (124.3421134287216, 100, 0.05),
        (149.4492527956755, 100, 0.001),
        (1074.6794494175, 1000, 0.05),
        (0.0, 5, 1.0),
        (4.351460191094947, 5, 0.5),
        (999.3334123388, 1000, 0.5),
    ],
)
def test_chi_square_quantiles(statistic: float, freedom: int, tail: float) -> None:
    assert math.isclose(chi_square_tail(statistic, freedom), tail, rel_tol=1e-4)


def test_chi_square_of_two_degrees_is_exponential() -> None:
    for x in (0.1, 1.0, 3.0, 10.0, 50.0, 200.0):
        assert math.isclose(chi_square_tail(x, 2), math.exp(-x / 2), rel_tol=1e-9)


def test_uniformity_tells_even_from_uneven() -> None:
    """By Python's own generator: even counts pass with a usual chance; a cell twice as likely, or
    half of the cells a fifth more likely, does not."""
    pick = random.Random(4)
    cells = 200
    even = Counter(pick.randrange(cells) for _ in range(100 * cells))
    assert uniformity(even, cells) > 0.01
    double = Counter(max(0, pick.randrange(-1, cells)) for _ in range(100 * cells))
    assert uniformity(double, cells) < FALSE_ALARM
    half = Counter(pick.choices(range(cells), [1.2] * 100 + [1.0] * 100, k=100 * cells))
    assert uniformity(half, cells) < FALSE_ALARM
    assert uniformity({1: 5, 2: 5, 3: 5}, 2) == 0.0
    assert uniformity({1: 100}, 1) == 1.0
    assert uniformity({1: 100}, 2) < FALSE_ALARM, "a cell that never comes"


# A uniform random move ------------------------------------------------------------------------

DRAWS = 200
"""Draws for each move of a position."""


def drawn(round_: Round, seed: int, draws: int = DRAWS) -> Counter[int]:
    rng = Rng(seed)
    return Counter(round_.random_move(rng) for _ in range(draws * max(20, len(round_.moves()))))


def kinds(round_: Round) -> Counter[int]:
    return Counter(move_parts(move).kind for move in round_.moves())


LISTS: dict[str, Callable[[Round], bool]] = {
    "many Scout & Shows, two ends": lambda r: kinds(r)[SCOUT_SHOW] > 300 and len(r.active) > 1,
    "many Scout & Shows, one end": lambda r: kinds(r)[SCOUT_SHOW] > 200 and len(r.active) == 1,
    "some Scout & Shows": lambda r: 20 < kinds(r)[SCOUT_SHOW] < 100 and len(r.active) > 1,
    "few Scout & Shows": lambda r: 0 < kinds(r)[SCOUT_SHOW] < 20,
    "only Shows that scout": lambda r: kinds(r)[SHOW] == 0 and kinds(r)[SCOUT_SHOW] > 0,
    "against three cards": lambda r: len(r.active) > 2 and kinds(r)[SCOUT_SHOW] > 0,
    "with pass": lambda r: kinds(r)[PASS] == 1 and kinds(r)[SCOUT] > 0,
    "two players without pass": lambda r: r.players == 2 and not kinds(r)[PASS] and r.active != b"",
    "Shows alone": lambda r: kinds(r)[SHOW] == len(r.moves()) > 1,
    "a single move": lambda r: len(r.moves()) == 1,
}
"""Kinds of positions, by what their lists hold."""


@pytest.mark.parametrize("kind", LISTS)
def test_a_random_move_is_uniform(kind: str) -> None:
    """In the first two positions of that kind in the vectors."""
    fitting = (
        r for r in (at(case["position"]) for case in vectors("moves.jsonl")) if LISTS[kind](r)
    )
    tried = 0
    for round_ in itertools.islice(fitting, 2):
        counts = drawn(round_, tried)
        moves = round_.moves()
        assert set(counts) <= set(moves)
        assert uniformity(counts, len(moves)) > FALSE_ALARM, show(round_)
        tried += 1
    assert tried


@pytest.mark.parametrize("size", [31, 32, 33, 38])
def test_a_random_move_of_a_long_hand_is_uniform(size: int) -> None:
    """Some 3,000 moves, most of them Scout & Shows."""
    round_ = long_round(size, 5, random.Random(size))
    moves = round_.moves()
    assert len(moves) > 1_000
    counts = drawn(round_, size, 60)
    assert set(counts) <= set(moves)
    assert uniformity(counts, len(moves)) > FALSE_ALARM


def test_a_random_choice_of_the_flip_phase_is_uniform() -> None:
    counts = drawn(opening(4, 1), 5)
    assert set(counts) == {move_code(KEEP), move_code(FLIP)}
    assert uniformity(counts, 2) > FALSE_ALARM


CONTROL = vectors("moves.jsonl")[156]["position"]
"""400 moves of four players, 463 legal tokens."""

BIASES: dict[str, Callable[[list[int], list[int], random.Random], int]] = {
    # moves that several tokens lead to come too often
    "by legal tokens": lambda moves, every, pick: pick.choice(every),
    "a fifth of the Scout & Shows thrown away": lambda moves, every, pick: next(
        move
        for move in (pick.choice(moves) for _ in itertools.count())
        if move_parts(move).kind != SCOUT_SHOW or pick.random() < 0.8
    ),
    "one move half as often again": lambda moves, every, pick: pick.choice(
        moves if pick.random() < len(moves) / (len(moves) + 0.5) else moves[-1:]
    ),
    "one move never": lambda moves, every, pick: pick.choice(moves[:-1]),
}


@pytest.mark.parametrize("bias", BIASES)
def test_a_biased_sampler_would_be_noticed(bias: str) -> None:
    """The control of the tests above: as many draws of a sampler that is a little wrong."""
    round_ = at(CONTROL)
    moves = round_.moves()
    every = [round_.canonical(move) for move in round_.all_moves()]
    assert (len(moves), len(every)) == (400, 463)
    pick = random.Random(9)
    draws = DRAWS * len(moves)
    counts = Counter(BIASES[bias](moves, every, pick) for _ in range(draws))
    assert uniformity(counts, len(moves)) < FALSE_ALARM
    fair = Counter(pick.choice(moves) for _ in range(draws))
    assert uniformity(fair, len(moves)) > 0.001


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_random_moves_are_listed_all_along_a_round(table: tuple[int, bool]) -> None:
    rng = Rng(3)
    for seed in range(6):
        for round_ in played(table[0], seed, table[1]):
            if round_.end:
                continue
            listed = set(round_.moves())
            assert {round_.random_move(rng) for _ in range(40)} <= listed, show(round_)


# Random numbers -------------------------------------------------------------------------------


def stream(rng: Rng, count: int = 50) -> list[int]:
    return [rng.next64() for _ in range(count)]


def test_a_generator_repeats_with_its_seed() -> None:
    assert stream(Rng(7)) == stream(Rng(7))
    assert Rng(7) == Rng(7)
    assert all(0 <= number < 2**64 for number in stream(Rng(7)))
    for seed in (0, 1, 2**63, 2**64 - 1):
        assert len(set(stream(Rng(seed), 1000))) == 1000
    for seed in (-1, 2**64):
        with pytest.raises(OverflowError):
            Rng(seed)


def test_a_pickled_generator_goes_on() -> None:
    rng = Rng(5).split(3)
    stream(rng)
    again = pickle.loads(pickle.dumps(rng))
    assert again == rng
    assert stream(again) == stream(rng)
    rng.next64()
    assert again != rng
    with pytest.raises(TypeError, match="unhashable"):
        hash(rng)


def test_split_is_a_pure_function() -> None:
    rng = Rng(11)
    first = rng.split(1, 2)
    assert rng == Rng(11), "it does not advance"
    assert stream(rng.split(1, 2)) == stream(first)
    assert stream(Rng(11).split(1).split(2)) == stream(Rng(11).split(1, 2))
    assert rng.split() == rng
    rng.next64()
    assert stream(rng.split(1, 2)) != stream(Rng(11).split(1, 2)), "of where it stands"


def test_streams_differ() -> None:
    """Of seeds, of keys, of the order of keys; also shifted against one another."""
    keys: list[tuple[int, ...]] = [(key,) for key in range(200)]
    keys += [(1, 2), (2, 1), (1, 1), (2**64 - 1,), (2**32,), (0, 0), (0, 0, 0)]
    rngs = [Rng(seed) for seed in range(200)] + [Rng(1).split(*key) for key in keys]
    heads = [stream(rng, 20) for rng in rngs]
    numbers = Counter(itertools.chain.from_iterable(heads))
    assert len(numbers) == 20 * len(rngs), "64-bit numbers hardly ever come twice"


def test_bits_are_fair_and_neighbouring_streams_independent() -> None:
    """Each bit of the first numbers of 20,000 streams of neighbouring keys and seeds, and each
    bit's agreement with the stream before: 20,000 fair coins, 256 times."""
    count = 20_000
    for rngs in ([Rng(seed) for seed in range(count)], [Rng(3).split(key) for key in range(count)]):
        heads = [rng.next64() for rng in rngs]
        agree = [a ^ b for a, b in itertools.pairwise(heads)]
        for numbers in (heads, agree):
            for bit in range(64):
                ones = sum(number >> bit & 1 for number in numbers)
                chance = uniformity([ones, len(numbers) - ones], 2)
                assert chance > FALSE_ALARM / 256, bit


@pytest.mark.parametrize("bound", [2, 3, 5, 7, 10, 45, 64, 100, 679])
def test_below_is_uniform(bound: int) -> None:
    rng = Rng(bound)
    counts = Counter(rng.below(bound) for _ in range(max(20_000, 60 * bound)))
    assert set(counts) <= set(range(bound))
    assert uniformity(counts, bound) > FALSE_ALARM


def test_below_is_uniform_where_a_remainder_would_not_be() -> None:
    """Three quarters of 2^32: a plain remainder of 32 bits would draw the lower third twice."""
    bound = 3 << 30
    rng = Rng(1)
    counts = Counter(rng.below(bound) * 3 // bound for _ in range(30_000))
    assert uniformity(counts, 3) > FALSE_ALARM
    pick = random.Random(1)
    biased = Counter(pick.getrandbits(32) % bound * 3 // bound for _ in range(30_000))
    assert uniformity(biased, 3) < FALSE_ALARM


def test_below_has_bounds() -> None:
    rng = Rng(1)
    assert {rng.below(1) for _ in range(10)} == {0}
    assert 0 <= rng.below(2**32 - 1) < 2**32 - 1
    for bound in (0, 2**32):
        with pytest.raises(ValueError, match=f"expected a bound from 1 to 4294967295: {bound}"):
            rng.below(bound)


# The deal -------------------------------------------------------------------------------------

DEALS = 12_000


@functools.cache
def dealt(players: int) -> NDArray[np.uint8]:
    """Many deals, one a line: the cards in the order of seats and places."""
    rng = Rng(players)
    found = []
    for _ in range(DEALS):
        round_ = deal(players, rng)
        found.append(b"".join(round_.hand(seat) for seat in range(players)))
    return np.frombuffer(b"".join(found), np.uint8).reshape(DEALS, cards_in_play(players))


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_card_lies_at_every_place_either_side_up(players: int) -> None:
    """At each place of the table any card of the deck is as likely as any other, either way."""
    rows = dealt(players)
    for place in range(cards_in_play(players)):
        _, counts = np.unique(rows[:, place], return_counts=True)
        assert uniformity(counts.tolist(), 2 * len(deck(players))) > FALSE_ALARM / 45, place


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_places_of_a_deal_do_not_know_one_another(players: int) -> None:
    """For two places: which of their cards is the lower, and how both lie: eight cells."""
    rows = dealt(players)
    names = np.minimum(rows, rows << 4 | rows >> 4)
    sides = rows != names
    size = cards_in_play(players)
    pairs = list(itertools.combinations(range(size), 2))
    for one, two in pairs:
        cells = (names[:, one] < names[:, two]) * 4 + sides[:, one] * 2 + sides[:, two]
        counts = np.bincount(cells, minlength=8).tolist()
        assert uniformity(counts, 8) > FALSE_ALARM / len(pairs), (one, two)


def test_an_uneven_deal_would_be_noticed() -> None:
    """The control: the usual slip of a shuffle, which never leaves a card where it was, and a
    deck with four cards that are never turned."""
    pick = random.Random(2)
    first, lying = Counter[int](), Counter[int]()
    for _ in range(DEALS):
        row_ = list(deck(3))
        for place in range(35, 0, -1):
            other = pick.randrange(place)
            row_[place], row_[other] = row_[other], row_[place]
        first[row_[0]] += 1
        card = pick.choice(deck(3))
        lying[card if card < 0x16 or pick.random() < 0.5 else turned(card)] += 1
    assert uniformity(first, 36) < FALSE_ALARM / 45
    assert uniformity(lying, 72) < FALSE_ALARM / 45


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_deal_holds_each_card_once(players: int) -> None:
    for row_ in dealt(players)[:500].tolist():
        assert len(set(map(low, row_))) == cards_in_play(players)
        assert set(map(low, row_)) <= set(deck(players))


def test_a_deal_starts_in_the_flip_phase() -> None:
    for players in (2, 3, 4, 5):
        round_ = deal(players, Rng(1))
        assert differences(round_, twin.first_position(
            [cards(round_.hand(seat)) for seat in range(players)], round_.start
        )) == []  # fmt: skip
        assert round_.start == twin.first_start([cards(round_.hand(s)) for s in range(players)])
        assert deal(players, Rng(1)) == round_


def test_deals_from_given_cards() -> None:
    aside = deck(2)[10:32]
    seen = set()
    for seed in range(50):
        round_ = deal(2, Rng(seed), aside)
        seen.add(round_.hand(0))
        assert sorted(map(low, round_.hand(0) + round_.hand(1))) == list(aside)
    assert len(seen) == 50
    rng = Rng(4)
    deal(2, rng, aside)
    assert rng != Rng(4), "it is advanced"
    for wrong, reason in (
        (aside[:21], "expected at least 22 different cards to deal: 21"),
        (aside[:21] + aside[:1], "expected at least 22 different cards to deal: 22"),
        (aside[:21] + b"\x00", "expected at least 22 different cards to deal: 22"),
        (aside[:21] + b"\x44", "cards to deal: 0x44"),
        (aside * 3, "expected at most 45 cards in the cards to deal: 66"),
    ):
        with pytest.raises(ValueError, match=reason):
            deal(2, Rng(1), wrong)
    assert deal(2, Rng(1), bytes(map(turned, aside))).players == 2


# Players that decide at once ------------------------------------------------------------------


def test_greedy_scouts_uniformly() -> None:
    """Where it has no Show: any Scout."""
    round_ = at("34.52/72.14.61/53.31.85 97.98@2 0 - 25+0/1+0/0+0 -")
    rng = Rng(8)
    moves = [move for move in round_.moves() if move_parts(move).kind == SCOUT]
    assert moves == round_.moves()
    counts = Counter(choose(round_, "greedy", rng) for _ in range(6_000))
    assert set(counts) == set(moves)
    assert uniformity(counts, len(moves)) > FALSE_ALARM


def test_unknown_players_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"expected a policy \(random, greedy, planner\) or a network: 'best'"
    ):
        choose(opening(3, 1), "best", Rng(1))


def test_planner_has_no_values_in_the_flip_phase() -> None:
    with pytest.raises(ValueError, match="expected a position after the flip phase"):
        planner_values(opening(3, 1))


def moves_of(players: int, seed: int) -> Iterator[int]:
    round_ = opening(players, seed)
    while not round_.end:
        move = choose(round_, "planner", Rng(0))
        yield move
        round_.play(move)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_planner_uses_no_chance(players: int) -> None:
    for seed in range(5):
        assert list(moves_of(players, seed)) == list(moves_of(players, seed))
        round_ = opening(players, seed)
        rng = Rng(seed)
        for move in moves_of(players, seed):
            assert choose(round_, "planner", rng) == move
            round_.play(move)
        assert rng == Rng(seed)
