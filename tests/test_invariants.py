"""What must hold of every round, whatever is played: Hypothesis plays, and shrinks what fails.

On a checked build the core asserts its own state after each of these moves, too.
"""

from __future__ import annotations

import random
from collections import Counter

import twin
from helpers import cards, differences, low, natural_move, opening, plain, row, show, tokens
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
from oracles import Table, assert_follows, assert_holds

from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import (
    SCOUT,
    SCOUT_SHOW,
    Round,
    hand_size,
    move_parts,
)
from bigtop.notation import format_move


class Play(RuleBasedStateMachine):
    """A round on the core and on the twin; any legal move, and everything that must not matter."""

    @initialize(players=st.integers(2, 5), forced=st.booleans(), seed=st.integers(0, 2**64 - 1))
    def deal(self, players: int, forced: bool, seed: int) -> None:
        self.table = Table(opening(players, seed, forced and players == 2), seed)
        self.pick = random.Random(seed)

    @precondition(lambda self: not self.table.round.end)
    @rule(number=st.integers(0, 10_000))
    def play_any(self, number: int) -> None:
        moves = self.table.round.moves()
        self.table.play(moves[number % len(moves)])

    @precondition(lambda self: not self.table.round.end)
    @rule()
    def play_of_any_kind(self) -> None:
        self.table.play(natural_move(self.table.round, self.pick))

    @precondition(lambda self: not self.table.round.end)
    @rule()
    def play_at_random(self) -> None:
        self.table.play_at_random()

    @precondition(lambda self: not self.table.round.end)
    @rule(number=st.integers(0, 10_000))
    def play_another_token_with_the_same_outcome(self, number: int) -> None:
        self.table.play_another_with_the_same_outcome(number)

    @rule(move=st.integers(0, (6 << 20) - 1))
    def try_what_may_be_illegal(self, move: int) -> None:
        self.table.try_code(move)

    @rule()
    def go_on_with_a_copy(self) -> None:
        self.table.go_on_with_a_copy()

    @rule(number=st.integers(0, 4))
    def ask_what_a_seat_knows(self, number: int) -> None:
        self.table.look(number % self.table.round.players)

    @precondition(lambda self: not self.table.round.end)
    @rule()
    def go_on_in_a_world_that_the_seat_imagines(self) -> None:
        self.table.imagine()

    @invariant()
    def all_holds(self) -> None:
        self.table.assert_holds()


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
