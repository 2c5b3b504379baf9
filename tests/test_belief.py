"""What a seat knows: samples of the hidden hands agree with it, are uniform, and tell no secret.

For the leak tests two full rounds are made that look alike to a seat: the same deal, flips and
moves, but for the cards that the seat has not seen, which change places, sides, and (two players)
with the cards set aside.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import random
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import (
    FALSE_ALARM,
    TABLE_NAMES,
    TABLES,
    hands,
    low,
    played,
    sized,
    turned,
    uniformity,
    vectors,
)

from bigtop.cli.main import bigtop as command
from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import Round, cards_in_play, deal, deck
from bigtop.engines import ENGINES, Answer, make_engine
from bigtop.notation import Position, format_row

SEARCHES = [name for name in ENGINES if any(o.name == "sims" for o in ENGINES[name].options)]


def rows(round_: Round) -> list[bytes]:
    return [round_.hand(seat) for seat in range(round_.players)]


def masked(full: Round, view: Round) -> list[bytes]:
    """The hands of a full round with the cards hidden that a view hides."""
    return [
        bytes(card if seen else 0 for card, seen in zip(mine, theirs, strict=True))
        for mine, theirs in zip(rows(full), rows(view), strict=True)
    ]


def secret_places(view: Round) -> list[tuple[int, int]]:
    return [
        (seat, place)
        for seat, row in enumerate(rows(view))
        for place in range(len(row))
        if not row[place]
    ]


# Samples agree with what is known -------------------------------------------------------------


def assert_agrees(full: Position, view: Position) -> None:
    """A full position holds all that a view says, and each card once."""
    assert full.is_open
    texts = [
        " ".join(["/".join(map(format_row, masked(full.round, view.round))), *fields])
        for fields in [str(full).split(" ")[1:]]
    ]
    assert texts == [str(view)]
    round_ = full.round
    every = [low(card) for card in b"".join([*rows(round_), round_.active, round_.out])]
    assert len(set(every)) == len(every)
    assert set(every) <= set(deck(round_.players))
    assert full.points() == view.points()


def test_samples_of_the_vectors_reproduce_their_text() -> None:
    """Every view of the vectors: the sample, hidden again, has its text, character by character."""
    for number, line in enumerate(vectors("views.jsonl")):
        view = Position.parse(line["position"])
        belief = Belief(view.round)
        for seed in range(3):
            full = Position.from_round(belief.sample(Rng(number).split(seed)), view.game)
            assert_agrees(full, view)


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_samples_all_along_a_round_reproduce_the_view(table: tuple[int, bool]) -> None:
    """From the core's own views, in the flip phase, too, and of every seat."""
    rng = Rng(5)
    for round_ in played(table[0], 31, table[1]):
        if round_.end not in ("", "i"):
            continue
        for seat in range(round_.players):
            view = round_.view(seat)
            sample = Belief(view).sample(rng)
            assert_agrees(Position.from_round(sample), Position.from_round(view))
            if seat == round_.turn:
                assert sample.moves() == round_.moves()


def test_what_is_unseen() -> None:
    view = Position.parse("x2/37.25/x.12 58@0 1 - 17+1/12+0/0+0 13.14.67").round
    belief = Belief(view)
    assert belief.hidden == 3
    seen = {0x37, 0x25, 0x12, 0x58, 0x13, 0x14, 0x67}
    assert belief.unseen == bytes(card for card in deck(3) if card not in seen)


def test_a_full_position_leaves_nothing_to_sample() -> None:
    for round_ in played(4, 3):
        belief = Belief(round_)
        assert belief.hidden == 0
        sample = belief.sample(Rng(1))
        assert rows(sample) == rows(round_)
        assert (sample.active, sample.out, sample.made) == (round_.active, round_.out, round_.made)


def test_two_players_may_hold_any_card_set_aside() -> None:
    view = Position.from_round(next(played(2, 4)).view(0)).round
    belief = Belief(view)
    assert belief.hidden == 11
    assert len(belief.unseen) == 44 - 11
    seen = set()
    rng = Rng(1)
    for _ in range(200):
        seen |= set(map(low, belief.sample(rng).hand(1)))
    assert seen == set(belief.unseen)


def test_cards_of_the_first_round_are_not_dealt_again() -> None:
    """Two players, second round: OUT lists what lay in the first."""
    first = next(played(2, 4))
    used = bytes(sorted(map(low, first.hand(0) + first.hand(1))))
    aside = [card for card in deck(2) if card not in used]
    own = ".".join(format_row(bytes([card])) for card in aside[::2])
    view = Position.parse(f"{own}/x11 - 0f1 - 0+3/0+3 {format_row(used)}")
    sample = Belief(view.round).sample(Rng(1))
    assert sorted(map(low, sample.hand(1))) == aside[1::2]


def test_unknown_captured_cards_may_lie_in_no_hand() -> None:
    """Two of four unseen cards were captured by somebody who did not say which."""
    view = late("37.25/x/x", "58@0", 1, "13.14.15.16")
    belief = Belief(view.round)
    assert (belief.hidden, belief.unseen) == (2, b"\x13\x14\x15\x16")
    assert sum(view.round.captured) - len(view.round.out) == 2


def test_more_hidden_cards_than_unseen_ones_are_refused() -> None:
    out = bytes(deck(3)[3:])
    round_ = Round([b"\x12", b"\x00\x00", b"\x00"], out=out)
    with pytest.raises(ValueError, match="expected an unseen card for each of 3 hidden ones: 2"):
        Belief(round_)


def test_a_belief_is_made_once() -> None:
    """What happens to the round afterwards does not matter."""
    view = next(played(3, 1)).view(0)
    belief = Belief(view)
    before = belief.sample(Rng(1))
    view.play(view.moves()[1])
    view.reveal(1, 0, b"\x12" if 0x12 in belief.unseen else b"\x13")
    assert belief.sample(Rng(1)) == before


# Samples are uniform --------------------------------------------------------------------------


def late(seats: str, active: str, turn: int, unseen: str) -> Position:
    """A position in which few cards are unseen: OUT lists all others that are nowhere.

    With two players OUT lists cards of the first round, too.
    """
    players = seats.count("/") + 1
    open_cards = {low(card) for card in b"".join(hands(f"{seats}/{active.split('@')[0]}")) if card}
    open_cards |= {low(card) for card in hands(unseen)[0]}
    out = bytes(card for card in deck(players) if card not in open_cards)
    lying = sum(map(len, hands(f"{seats}/{active.split('@')[0]}")))
    captured = [cards_in_play(players) - lying] + [0] * (players - 1)
    points = "/".join(f"{count}+0" for count in captured)
    return Position.parse(f"{seats} {active} {turn} - {points} {format_row(out)}")


SMALL = {
    "one card, two to choose from": ("37.25/x.46/12", "58@0", 1, "13.14"),
    "one card that is known but for its side": ("37.25/x.46/12", "58@0", 2, "13"),
    "two cards in two hands": ("37.25/x/x.12", "58@1", 0, "13.14"),
    "two cards in two hands, two captured unseen": ("37.25/x/x.12", "58@1", 0, "13.14.15.16"),
    "three cards around a known one": ("x.19.x2/37.25/12", "58@0", 1, "13.14.15"),
    "three cards, one captured unseen": ("x2/37/x", "58@0", 1, "13.14.15.16"),
    "four players": ("x/x.28/37.25/x", "58@0", 2, "13.14.15.1T"),
    "five players": ("x/x/37.25/x/9T", "58.68@0", 2, "13.14.15"),
    "two players, five cards set aside": ("37.25/x2.19", "58@1", 0, "13.14.15.16.17.18.1T"),
    "two players, all others known": ("x2/37", "58@0", 1, "13.14"),
}


@pytest.mark.parametrize("name", SMALL)
def test_all_worlds_are_equally_likely(name: str) -> None:
    """All that could be is listed here by trying; each must come as often as any other."""
    view = late(*SMALL[name]).round
    unseen = hands(SMALL[name][3])[0]
    places = secret_places(view)
    worlds = set()
    for chosen in itertools.permutations(unseen, len(places)):
        for sides in itertools.product((False, True), repeat=len(places)):
            full = [bytearray(row) for row in rows(view)]
            for (seat, place), card, side in zip(places, chosen, sides, strict=True):
                full[seat][place] = turned(card) if side else card
            worlds.add(tuple(map(bytes, full)))
    assert len(worlds) == math.perm(len(unseen), len(places)) * 2 ** len(places)
    belief, rng = Belief(view), Rng(len(name))
    counts = Counter(tuple(rows(belief.sample(rng))) for _ in range(200 * len(worlds)))
    assert set(counts) <= worlds
    assert uniformity(counts, len(worlds)) > FALSE_ALARM


def test_a_sampler_that_prefers_a_world_would_be_noticed() -> None:
    """The control: a tenth of the samples is thrown away in which one card lies as in the deck."""
    view = late(*SMALL["three cards, one captured unseen"]).round
    belief, rng, pick = Belief(view), Rng(1), random.Random(1)
    counts = Counter[tuple[bytes, ...]]()
    while sum(counts.values()) < 200 * 192:
        world = tuple(rows(belief.sample(rng)))
        if world[2][0] != low(world[2][0]) or pick.random() < 0.9:
            counts[world] += 1
    assert uniformity(counts, 192) < FALSE_ALARM


VIEWS = 6_000


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_unseen_card_is_as_likely_at_every_hidden_place(players: int) -> None:
    """Early in a round, for each hidden place; and any two hidden places do not know of
    each other which has the lower card and which side is up."""
    rounds = [round_ for round_ in played(players, 41) if round_.start < 0]
    view = rounds[len(rounds) // 4].view(0)
    belief, rng = Belief(view), Rng(players)
    places = secret_places(view)
    assert len(places) > 5
    drawn = []
    for _ in range(VIEWS):
        sample = rows(belief.sample(rng))
        drawn.append(bytes(sample[seat][place] for seat, place in places))
    found = np.frombuffer(b"".join(drawn), np.uint8).reshape(VIEWS, len(places))
    names = np.minimum(found, found << 4 | found >> 4)
    sides = found != names
    for column in range(len(places)):
        _, counts = np.unique(found[:, column], return_counts=True)
        assert uniformity(counts.tolist(), 2 * len(belief.unseen)) > FALSE_ALARM / len(places)
    pairs = list(itertools.combinations(range(len(places)), 2))
    for one, two in pairs:
        cells = (names[:, one] < names[:, two]) * 4 + sides[:, one] * 2 + sides[:, two]
        counts = np.bincount(cells, minlength=8)
        assert uniformity(counts.tolist(), 8) > FALSE_ALARM / len(pairs)


def test_samples_repeat_with_their_seed() -> None:
    view = next(played(5, 2)).view(3)
    belief = Belief(view)
    rng, again = Rng(9), Rng(9)
    samples = [belief.sample(rng) for _ in range(20)]
    assert [Belief(view).sample(again) for _ in range(20)] == samples
    assert len({tuple(rows(sample)) for sample in samples}) == 20


# Nothing leaks --------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two full positions that look alike to a seat."""

    seat: int
    one: Position
    other: Position


def another(position: Position, seat: int, pick: random.Random) -> Position:
    """A position with the same flips and moves, but other cards where the seat has not seen any."""
    first, now = position.first, position.round
    secret = {
        low(card)
        for other in range(now.players)
        if other != seat
        for place, card in enumerate(now.hand(other))
        if not now.scouted(other) >> place & 1
    }
    slots = [
        (other, place)
        for other in range(first.players)
        for place, card in enumerate(first.hand(other))
        if low(card) in secret
    ]
    cards = sorted(secret)
    dealt = {low(card) for row in rows(first) for card in row}
    cards += [card for card in deck(first.players) if card not in dealt]  # two players: set aside
    pick.shuffle(cards)
    changed = [bytearray(row) for row in rows(first)]
    for (other, place), card in zip(slots, cards, strict=False):
        changed[other][place] = turned(card) if pick.random() < 0.5 else card
    again = Position.from_deal(
        [bytes(row) for row in changed],
        first.start,
        forced_pass=first.forced_pass,
        game=position.game,
    )
    for ply in position.plies:
        again = again.play_code(ply.code)
    return again


@functools.cache
def pairs(step: int) -> list[Pair]:
    """For every `step`-th position of some games of the vectors, and the seat that acts."""
    pick = random.Random(step)
    found = []
    for number, game in enumerate(vectors("games.jsonl")):
        if number % 5:
            continue
        dealt = game["rounds"][number % len(game["rounds"])]
        position = Position.from_deal(
            hands("/".join(dealt["deal"])),
            dealt["start"],
            forced_pass=game.get("forced_pass", False),
        )
        tokens = ["flip" if flip else "keep" for flip in dealt["flips"]] + dealt["moves"]
        for ply, token in enumerate(tokens):
            if ply % step == number % step:
                seat = position.turn
                found.append(Pair(seat, position, another(position, seat, pick)))
            position = position.play(token)
    return found


def test_the_pairs_look_alike_and_are_not() -> None:
    different, players, flips = 0, set(), 0
    for seat, one, other in pairs(4):
        assert one.view(seat) == other.view(seat)
        assert str(one.view(seat)) == str(other.view(seat))
        assert one.view(seat).round == other.view(seat).round
        assert one.view(seat).plies == other.view(seat).plies
        different += str(one) != str(other)
        players.add(one.players)
        flips += one.flipping
    assert different > 200
    assert players == {2, 3, 4, 5}
    assert flips > 10


def test_samples_tell_no_secret() -> None:
    """The same view and the same seed give the same samples, whatever the true cards are."""
    for number, (seat, one, other) in enumerate(pairs(4)):
        left, right = Belief(one.round.view(seat)), Belief(other.round.view(seat))
        assert left.unseen == right.unseen
        rng, again = Rng(number), Rng(number)
        for _ in range(3):
            assert left.sample(rng) == right.sample(again)


SIMS = sized(60, 16)
STEP = sized(11, 37)


def answer(name: str, position: Position, seed: int) -> Answer:
    engine = make_engine(name, sims=SIMS) if name in SEARCHES else make_engine(name)
    return dataclasses.replace(engine.answer(position, seed, memory=4), seconds=0.0)


@pytest.mark.parametrize("name", ENGINES)
def test_answers_tell_no_secret(name: str) -> None:
    """The same view and the same seed give the same answer, visit for visit."""
    asked = pairs(STEP)
    assert len(asked) > sized(80, 20)
    for number, (seat, one, other) in enumerate(asked):
        said = answer(name, one.view(seat), number)
        assert said == answer(name, other.view(seat), number)
        assert said.seat == seat


@pytest.mark.parametrize("name", SEARCHES)
def test_who_sees_all_hands_answers_otherwise(name: str) -> None:
    """The control of the test above: of full positions the same pairs get different answers."""
    different = [
        number
        for number, (_, one, other) in enumerate(pairs(STEP))
        if answer(name, one, number) != answer(name, other, number)
    ]
    assert len(different) > sized(20, 5)


@pytest.mark.parametrize("name", ENGINES)
def test_an_answer_depends_on_the_text_of_the_history_alone(name: str) -> None:
    """A position that was read is answered like one that was played."""
    for number, (seat, one, _) in enumerate(pairs(STEP)[::2]):
        view = one.view(seat)
        assert answer(name, view, number) == answer(name, Position.parse(view.history), number)


@pytest.mark.parametrize("name", ENGINES)
def test_nobody_uses_anothers_choice_of_the_flip_phase(name: str) -> None:
    """All choose at the same time: what the seats before have chosen makes no difference."""
    for seed in range(sized(4, 1)):
        start = Position.from_round(next(played(4, seed)))
        for choices in itertools.combinations_with_replacement(["keep", "flip"], 2):
            position = start
            for choice in choices:
                position = position.play(choice)
            said = answer(name, position.view(2), seed)
            kept = start.play("keep").play("keep").view(2)
            assert said == answer(name, kept, seed)


def printed(*args: str) -> str:
    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_what_is_printed_to_a_seat_tells_no_secret() -> None:
    """A position with its history, drawn and as JSON, for every seat that sees no difference."""
    told = 0
    for seat, one, other in pairs(STEP):
        for args in ([], ["--json"]):
            texts = [
                printed("show", position.history, "--view", str(seat), *args)
                for position in (one, other)
            ]
            assert texts[0] == texts[1]
        told += printed("show", one.history, "--json") != printed("show", other.history, "--json")
    assert told > sized(60, 15), "the control: of full positions other things are printed"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_deal_as_a_seat_sees_it_tells_no_secret(
    players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other seats hold other cards (but for 1/2, which everybody knows the starter holds)."""
    pick = random.Random(players)
    true = deal(players, Rng(7))

    def otherwise(seat: int) -> Round:
        changed = [bytearray(row) for row in rows(true)]
        places = [
            (who, place)
            for who, row in enumerate(changed)
            for place, card in enumerate(row)
            if who != seat and low(card) != 0x12
        ]
        held = {low(card) for row in changed for card in row}
        cards = [low(changed[who][place]) for who, place in places]
        cards += [card for card in deck(players) if card not in held | {0x12}]
        pick.shuffle(cards)
        for (who, place), card in zip(places, cards, strict=False):
            changed[who][place] = turned(card) if pick.random() < 0.5 else card
        return Round(
            [bytes(row) for row in changed],
            start=true.start,
            tokens=true.tokens,
            chips=true.chips,
        )

    for seat in range(players):
        for args in (["--json"], []):
            args = ["deal", "--players", str(players), "--seed", "7", *args]
            seen, full = printed(*args, "--view", str(seat)), printed(*args)
            with monkeypatch.context() as patched:
                other = otherwise(seat)
                patched.setattr("bigtop.core.state.deal", lambda players, rng, other=other: other)
                assert printed(*args) != full
                assert printed(*args, "--view", str(seat)) == seen
