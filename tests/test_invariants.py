"""What must hold of every round, whatever is played: Hypothesis plays, and shrinks what fails.

On a checked build the core asserts its own state after each of these moves, too.
"""

from __future__ import annotations

import pickle
import random
import re
from collections import Counter

import pytest
import twin
from helpers import cards, differences, low, natural_move, opening, plain, row, show, tokens, turned
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import (
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    Round,
    cards_in_play,
    deck,
    hand_size,
    move_parts,
    strength,
)
from bigtop.notation import format_move


def every_card(round_: Round) -> list[int]:
    """The cards in hands, on the table and captured, lower number first, in order."""
    hands = [round_.hand(seat) for seat in range(round_.players)]
    return sorted(map(low, b"".join([*hands, round_.active, round_.out])))


def assert_holds(round_: Round) -> None:
    """What must be true of a round at any moment after the flip phase or in it."""
    seats = range(round_.players)
    held = [len(round_.hand(seat)) for seat in seats]
    cards_ = every_card(round_)
    assert len(set(cards_)) == len(cards_) == cards_in_play(round_.players)
    assert set(cards_) <= set(deck(round_.players))
    assert len(round_.out) == sum(round_.captured)
    assert sum(held) + len(round_.active) + sum(round_.captured) == cards_in_play(round_.players)
    assert 0 <= round_.turn < round_.players
    if round_.active:
        assert strength(round_.active) > 0
        assert round_.owner >= 0
    if not round_.end:
        assert all(held)
        assert (round_.owner < 0) == (not round_.active)
        assert round_.owner != round_.turn
        assert round_.moves() != []
        assert round_.count() == len(round_.moves())
    if round_.players == 2:
        assert round_.tokens == 0
        assert all(0 <= chips <= 3 for chips in round_.chips)
    paid = [0 if round_.end == "ii" and seat == round_.owner else held[seat] for seat in seats]
    assert round_.points() == tuple(
        round_.captured[seat] + round_.chips[seat] - paid[seat] for seat in seats
    )
    for seat in seats:
        assert round_.scouted(seat) < 1 << held[seat]


def assert_follows(before: Round, move: int, after: Round) -> None:
    """What one move may change."""
    kind, end, place, side, first, last = move_parts(move)
    seat, count = before.turn, last - first + 1
    assert after.made == before.made + 1
    assert every_card(after) == every_card(before)
    shown, scouted = kind in (SHOW, SCOUT_SHOW), kind in (SCOUT, SCOUT_SHOW)
    for other in range(before.players):
        if other != seat:
            assert after.hand(other) == before.hand(other)
            assert after.captured[other] == before.captured[other]
    grown = len(after.hand(seat)) - len(before.hand(seat))
    assert grown == scouted - (count if shown else 0)
    lying = len(before.active) - scouted
    assert after.captured[seat] == before.captured[seat] + (lying if shown else 0)
    assert sum(after.chips) - sum(before.chips) == scouted * (1 if before.players > 2 else -1)
    assert before.tokens & ~after.tokens == (1 << seat if kind == SCOUT_SHOW else 0)
    assert not after.tokens & ~before.tokens
    if shown:
        hand = before.hand(seat)
        rest = before.active
        if scouted:
            card = rest[-1] if end else rest[0]
            hand = hand[:place] + bytes([turned(card) if side else card]) + hand[place:]
            rest = rest[:-1] if end else rest[1:]
        assert after.active == hand[first : last + 1]
        assert after.hand(seat) == hand[:first] + hand[last + 1 :]
        assert strength(after.active) > strength(rest)
        assert after.owner == seat
        assert (after.end == "i") == (not after.hand(seat))
    elif scouted:
        assert len(after.active) == lying
    else:
        assert kind == PASS
        assert (after.end, after.owner) == ("ii", before.owner)
    if not after.end:
        stays = before.players == 2 and kind == SCOUT
        assert after.turn == (seat if stays else (seat + 1) % before.players)


class Play(RuleBasedStateMachine):
    """A round on the core and on the twin; any legal move, and everything that must not matter."""

    @initialize(players=st.integers(2, 5), forced=st.booleans(), seed=st.integers(0, 2**64 - 1))
    def deal(self, players: int, forced: bool, seed: int) -> None:
        self.round = opening(players, seed, forced and players == 2)
        self.twin = plain(self.round)
        self.rng = Rng(seed)
        self.pick = random.Random(seed)

    def step(self, move: int) -> None:
        before = self.round.copy()
        self.round.play(move)
        if before.start < 0:
            assert_follows(before, move, self.round)
        else:
            assert self.round.made == 0
        self.twin = self.twin.play(format_move(move))
        assert differences(self.round, self.twin) == []

    @precondition(lambda self: not self.round.end)
    @rule(number=st.integers(0, 10_000))
    def play_any(self, number: int) -> None:
        moves = self.round.moves()
        self.step(moves[number % len(moves)])

    @precondition(lambda self: not self.round.end)
    @rule()
    def play_of_any_kind(self) -> None:
        self.step(natural_move(self.round, self.pick))

    @precondition(lambda self: not self.round.end)
    @rule()
    def play_at_random(self) -> None:
        move = self.round.random_move(self.rng)
        assert move in self.round.moves()
        self.step(move)

    @precondition(lambda self: not self.round.end)
    @rule(number=st.integers(0, 10_000))
    def play_another_token_with_the_same_outcome(self, number: int) -> None:
        every = self.round.all_moves()
        move = every[number % len(every)]
        other = self.round.copy()
        other.play(self.round.canonical(move))
        self.step(move)
        assert other == self.round

    @rule(move=st.integers(0, (6 << 20) - 1))
    def try_what_may_be_illegal(self, move: int) -> None:
        before = self.round.copy()
        refusal = self.round.refusal(move)
        if refusal:
            with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
                self.round.play(move)
        assert self.round == before

    @rule()
    def go_on_with_a_copy(self) -> None:
        copy = pickle.loads(pickle.dumps(self.round))
        assert copy == self.round.copy() == self.round
        self.round = copy

    @rule(number=st.integers(0, 4))
    def ask_what_a_seat_knows(self, number: int) -> None:
        seat = number % self.round.players
        view = self.round.view(seat)
        sample = Belief(view).sample(self.rng)
        assert_holds(sample)
        assert sample.hand(seat) == self.round.hand(seat)
        if sample.turn == seat:
            assert sample.moves() == self.round.moves()

    @precondition(lambda self: not self.round.end)
    @rule()
    def go_on_in_a_world_that_the_seat_imagines(self) -> None:
        self.round = Belief(self.round.view(self.round.turn)).sample(self.rng)
        self.twin = plain(self.round)

    @invariant()
    def all_holds(self) -> None:
        assert_holds(self.round)
        if self.round.end:
            assert self.round.moves() == self.round.all_moves() == []


def test_rounds_keep_what_must_hold() -> None:
    run_state_machine_as_test(
        Play, settings=settings(max_examples=80, stateful_step_count=60, deadline=None)
    )


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 5), st.booleans(), st.integers(0, 2**64 - 1))
def test_random_play_ends_and_adds_up(players: int, forced: bool, seed: int) -> None:
    """Whole rounds of uniformly random moves: the sum of all points is what the rules leave."""
    round_ = opening(players, seed, forced and players == 2)
    rng = Rng(seed)
    scouts = Counter[int]()
    while not round_.end:
        before = round_.copy()
        move = round_.random_move(rng)
        round_.play(move)
        if before.start < 0:
            assert_follows(before, move, round_)
        scouts[players] += move_parts(move).kind in (SCOUT, SCOUT_SHOW)
        assert_holds(round_)
    chips = scouts[players] if players > 2 else 6 - scouts[players]
    assert sum(round_.chips) == chips
    held = [len(round_.hand(seat)) for seat in range(players)]
    owners = held[round_.owner] if round_.end == "ii" else 0
    assert sum(round_.points()) == sum(round_.captured) + chips - sum(held) + owners
    assert round_.made <= 1000


# Rounds that no play may lead to --------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> Round:
    """A round of any players with small hands and any set on the table, any chips and tokens."""
    players = draw(st.integers(2, 5))
    left = [
        twin.flipped(card) if side else card
        for card, side in zip(
            draw(st.permutations(twin.deck(players))),
            draw(st.lists(st.booleans(), min_size=45, max_size=45)),
            strict=False,
        )
    ]
    sizes = draw(st.lists(st.integers(1, 7), min_size=players, max_size=players))
    active = draw(st.sampled_from(["", "one", "equal", "run"]))
    lying: list[twin.Card] = []
    if active:
        lying = [left[0]]
        for _ in range(draw(st.integers(0, 4)) if active != "one" else 0):
            step = 0 if active == "equal" else 1
            wanted = lying[-1][0] + step
            fitting = [
                side
                for card in left
                for side in (card, twin.flipped(card))
                if side[0] == wanted and twin.plain(card) not in map(twin.plain, lying)
            ]
            if not fitting:
                break
            lying.append(fitting[0])
        if draw(st.booleans()):
            lying.reverse()
    names = set(map(twin.plain, lying))
    left = [card for card in left if twin.plain(card) not in names]
    hands = []
    for size in sizes:
        hands.append(row(tuple(left[:size])))
        left = left[size:]
    turn = draw(st.integers(0, players - 1))
    owner = draw(st.integers(1, players - 1))
    small = st.lists(st.integers(0, 3), min_size=players, max_size=players)
    return Round(
        hands,
        active=row(tuple(lying)),
        owner=(turn + owner) % players if lying else -1,
        turn=turn,
        tokens=draw(st.integers(0, (1 << players) - 1)) if players > 2 else 0,
        captured=draw(small),
        chips=draw(small),
        forced_pass=players == 2 and draw(st.booleans()),
        out=row(tuple(left[: draw(st.integers(0, 3))])),
    )


@settings(max_examples=150, deadline=None)
@given(tables())
def test_any_table_as_the_twin_has_it(round_: Round) -> None:
    """Lists, counts, every outcome and the views, of rounds out of nowhere."""
    other = plain(round_)
    assert differences(round_, other) == []
    outcomes = other.outcomes()
    assert tokens(round_.moves()) == [token for token, _ in outcomes]
    assert tokens(round_.all_moves()) == other.legal_tokens()
    assert round_.count() == len(outcomes)
    assert round_.perft(1) == len(outcomes)
    for move, (_, wanted) in zip(round_.moves(), outcomes, strict=True):
        after = round_.copy()
        after.play(move)
        assert differences(after, wanted) == [], format_move(move)
    for seat in range(round_.players):
        assert differences(round_.view(seat), other.view(seat)) == []


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(0, 2**64 - 1))
def test_any_table_is_sampled_and_drawn_from(round_: Round, seed: int) -> None:
    """Samples of any view hold each card once; random moves are in the list."""
    rng = Rng(seed)
    moves = set(round_.moves())
    assert {round_.random_move(rng) for _ in range(30)} <= moves, show(round_)
    view = round_.view(round_.turn)
    assume(Belief(view).hidden)
    belief = Belief(view)
    for _ in range(5):
        sample = belief.sample(rng)
        lying = [low(card) for seat in range(sample.players) for card in sample.hand(seat)]
        lying += [low(card) for card in sample.active + sample.out]
        assert len(set(lying)) == len(lying)
        assert sample.moves() == round_.moves()
        for seat in range(sample.players):
            known, full = view.hand(seat), sample.hand(seat)
            assert all(a in (0, b) for a, b in zip(known, full, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**64 - 1))
def test_flips_turn_cards_and_nothing_else(players: int, seed: int) -> None:
    round_ = opening(players, seed)
    pick = random.Random(seed)
    before = [round_.hand(seat) for seat in range(players)]
    start = round_.start
    flips = []
    for seat in range(players):
        assert (round_.turn, round_.start) == (seat, start)
        moves = round_.moves()
        assert tokens(moves) == ["keep", "flip"]
        flips.append(pick.random() < 0.5)
        round_.play(moves[flips[-1]])
    assert (round_.turn, round_.start, round_.made) == (start, -1, 0)
    for seat in range(players):
        wanted = [twin.flipped(c) if flips[seat] else c for c in cards(before[seat])]
        assert cards(round_.hand(seat)) == tuple(wanted)
        assert len(round_.hand(seat)) == hand_size(players)
