"""The weighted belief: what it says of a seat's actions against the players themselves, its
draws against an enumeration of all hands, and that nothing hidden reaches it."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import pytest
from helpers import CHECKED, sized

from bigtop.core.chain import Story
from bigtop.core.evaluate import rated_moves
from bigtop.core.policy import choose, planner_h, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import FLIP, Round, deal, move_parts
from bigtop.notation import Position
from bigtop.weights import shipped

PLANNER, GREEDY, RANDOM, LEARNED, LIKE = range(5)


def flipped(hand: bytes) -> bytes:
    return bytes([(card & 15) << 4 | card >> 4 for card in hand])


def chance(round_: Round, code: int, model: int) -> float:
    """What a model gives to a move, from the lists of all moves."""
    count = round_.count()
    if model == RANDOM:
        chosen = 1 / count
    elif model == LEARNED:
        rated = dict(rated_moves(round_, shipped(round_.players)))
        total = sum(math.exp((value - max(rated.values())) / 0.4) for value in rated.values())
        chosen = math.exp((rated[code] - max(rated.values())) / 0.4) / total if code in rated else 0
        if chosen < 0.03 / count:
            chosen = 0.0
    elif round_.start >= 0:
        hand = round_.hand(round_.turn)
        turns = planner_h(flipped(hand)) > planner_h(hand)
        chosen = float(turns == (move_parts(code).kind == FLIP))
    elif model in (PLANNER, LIKE):
        values = dict(planner_values(round_))
        gap = max(values.values()) - values[code]
        if choose(round_, "planner", Rng(0)) == code:
            chosen = 1.0 if model == PLANNER else 0.4
        elif model == PLANNER:
            chosen = 0.1 * math.exp(-gap / 0.2)
        else:
            chosen = 0.36 * math.exp(-gap / 0.3) + 0.004 * math.exp(-gap / 2)
    else:
        raise AssertionError(model)
    noise = 0.005 if model == PLANNER else 0.05
    return (1 - noise) * chosen + noise / count


def rounds(players: int, seed: int) -> tuple[Position, list[tuple[Round, int]]]:
    """A full round between planners with each decision: the round before it, and the move."""
    position = Position.from_round(deal(players, Rng(seed)))
    decisions = []
    while not position.is_over:
        code = choose(position.round, "planner", Rng(seed))
        decisions.append((position.round, code))
        position = position.play_code(code)
    return position, decisions


@pytest.mark.parametrize("model", [PLANNER, RANDOM, LEARNED, LIKE])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_chance_of_what_was_done_is_that_of_each_decision(players: int, model: int) -> None:
    """In the true round, from the history as a seat sees it: each hand is put together again."""
    compared = 0
    for seed in range(sized(4, 2)):
        _, decisions = rounds(players, seed)
        position = Position.from_round(deal(players, Rng(seed)))
        for ply, (before, code) in enumerate(decisions):
            if before.start < 0 and ply % 3 == 0:
                viewer = before.turn
                seen = position.view(viewer)
                story = Story(seen.first, seen.plies, seen.round, shipped(players))
                expected = math.fsum(
                    math.log(chance(past, move, model))
                    for past, move in decisions[:ply]
                    if past.turn != viewer
                )
                found = story.log_chance(before, [model] * players)
                assert math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-7), str(position)
                compared += 1
            position = position.play_code(code)
    assert compared > 2


def late_position(told: int = 100) -> Position:
    """A view late in a round with three cards hidden, in two hands, and a history, of which the
    last so many moves are told."""
    for seed in range(200):
        _, decisions = rounds(3, seed)
        for number, (now, _) in enumerate(decisions):
            if number > 8 and now.start < 0:
                first = max(0, number - told)
                position = Position.from_round(decisions[first][0])
                for _, code in decisions[first:number]:
                    position = position.play_code(code)
                seen = position.view(now.turn)
                hidden = [seen.round.hidden(seat) for seat in range(3)]
                if sum(hidden) == 3 and max(hidden) == 2:
                    return seen
    raise AssertionError("there is no such position")


def unseen_cards(seen: Position) -> list[int]:
    known = {
        bytes(sorted((card >> 4, card & 15)))
        for row in (*(seen.round.hand(seat) for seat in range(3)), seen.round.active,
                    seen.round.out)
        for card in row
        if card
    }  # fmt: skip
    return [
        low << 4 | high
        for low in range(1, 10)
        for high in range(low + 1, 10)
        if bytes((low, high)) not in known
    ]


def with_hidden(seen: Position, cards: tuple[int, ...]) -> Round:
    full = seen.round
    left = list(cards)
    for seat in range(3):
        for place, card in enumerate(full.hand(seat)):
            if not card:
                full.reveal(seat, place, bytes([left.pop(0)]))
    return full


@pytest.mark.parametrize(
    ("told", "heats", "proposed"),
    [
        (100, (1.0,), None),
        (100, (0.3, 1.0), (0.2, 0.1, 0.7, 0.0, 0.0)),
        (1, (1.0,), None),
        (1, (0.3, 1.0), (0.05, 0.0, 0.95, 0.0, 0.0)),
    ],
)
def test_draws_follow_the_enumerated_posterior(
    told: int, heats: tuple[float, ...], proposed: tuple[float, ...] | None
) -> None:
    """All hands and models of a late position, weighed one by one, against many draws, whatever
    the models that are tried, and though a seat has not decided anything."""
    seen = late_position(told)
    story = Story(seen.first, seen.plies, seen.round, shipped(3))
    viewer = seen.turn
    others = [seat for seat in range(3) if seat != viewer]
    prior = [[0.6, 0.0, 0.4, 0.0, 0.0]] * 3
    exact: defaultdict[tuple[object, ...], float] = defaultdict(float)
    for cards in itertools.permutations(unseen_cards(seen), 3):
        for turned in itertools.product((False, True), repeat=3):
            sides = tuple(
                (card & 15) << 4 | card >> 4 if turn else card
                for card, turn in zip(cards, turned, strict=True)
            )
            full = with_hidden(seen, sides)
            for models in itertools.product((PLANNER, RANDOM), repeat=2):
                chosen = [0, 0, 0]
                weight = 1.0
                for seat, model in zip(others, models, strict=True):
                    chosen[seat] = model
                    weight *= prior[seat][model]
                weight *= math.exp(story.log_chance(full, chosen))
                for place, side in enumerate(sides):
                    exact[place, side] += weight
                exact["models", models] += weight
    whole = sum(weight for key, weight in exact.items() if key[0] == "models")
    draws, each = sized(16, 3), 200
    tried = None if proposed is None else [proposed] * 3
    drawn: Counter[tuple[object, ...]] = Counter()
    for k in range(draws):
        worlds = story.draw(Rng(5).split(k), each, 4, heats, 60, prior, tried)
        for number in range(worlds.count):
            full = worlds.round(number)
            hidden = [
                card
                for seat in range(3)
                for card, known in zip(full.hand(seat), seen.round.hand(seat), strict=True)
                if not known
            ]
            for place, side in enumerate(hidden):
                drawn[place, side] += 1
    assert len(exact) > 20
    for place in range(3):
        distance = (
            sum(
                abs(exact[key] / whole - drawn[key] / (draws * each))
                for key in exact
                if key[0] == place
            )
            / 2
        )
        assert distance < (0.06 if not CHECKED else 0.3), (place, distance)


def test_models_are_told_apart() -> None:
    """At each kind of table the draws hold its players, and hardly those of others."""
    shares = {}
    for kind, player in (("planner", "planner"), ("random", "random"), ("learned", shipped(3))):
        found = []
        for seed in range(sized(6, 3)):
            position = Position.from_round(deal(3, Rng(seed)))
            rng = Rng(seed)
            while not position.is_over and position.round.made < 12:
                position = position.play_code(choose(position.round, player, rng))
            if position.is_over:
                continue
            seen = position.view(position.turn)
            story = Story(seen.first, seen.plies, seen.round, shipped(3))
            models = story.draw(Rng(seed), 60, 4, (0.3, 1.0), 20).models()
            found += [models[seat] for seat in range(3) if seat != position.turn]
        shares[kind] = [sum(seat[model] for seat in found) / len(found) for model in range(5)]
    assert shares["planner"][PLANNER] + shares["planner"][LIKE] > 0.7
    assert shares["planner"][LEARNED] < shares["learned"][LEARNED] - 0.3
    assert shares["learned"][LEARNED] > 0.5
    assert shares["random"][PLANNER] + shares["random"][LIKE] < 0.3


def test_draws_agree_with_what_is_known_and_repeat() -> None:
    for players in (2, 3, 4, 5):
        _, decisions = rounds(players, 3)
        position = Position.from_round(deal(players, Rng(3)))
        for _, code in decisions[: players + 6]:
            position = position.play_code(code)
        seen = position.view(position.turn)
        story = Story(seen.first, seen.plies, seen.round, shipped(players))
        first, again = (story.draw(Rng(4), 20, 4, (0.5, 1.0), 5) for _ in range(2))
        for k in range(20):
            full = first.round(k)
            assert full == again.round(k)
            assert full.view(position.turn) == seen.round
            cards = [card for seat in range(players) for card in full.hand(seat)]
            assert 0 not in cards
            assert len({frozenset((card >> 4, card & 15)) for card in cards}) == len(cards)
        assert story.draw(Rng(5), 20, 4, (0.5, 1.0), 5).round(0) != first.round(0)


def test_what_cannot_be_drawn() -> None:
    seen = late_position()
    story = Story(seen.first, seen.plies, seen.round, shipped(3))
    with pytest.raises(ValueError, match="expected at least 1 round and 1 to 64 tries: 0, 4"):
        story.draw(Rng(1), 0, 4, (1.0,), 5)
    with pytest.raises(ValueError, match="1 to 64 tries: 5, 65"):
        story.draw(Rng(1), 5, 65, (1.0,), 5)
    for heats in ((), (0.5,), (1.0, 0.5), (0.0, 1.0)):
        with pytest.raises(ValueError, match="ascending powers"):
            story.draw(Rng(1), 5, 4, heats, 5)
    with pytest.raises(ValueError, match="expected 5 weights for each seat"):
        story.draw(Rng(1), 5, 4, (1.0,), 5, [[1.0]])
    for models in ([0.0] * 5, [math.nan] * 5, [1.5, -0.5, 0.0, 0.0, 0.0], [0.4] * 5):
        with pytest.raises(ValueError, match="expected chances of the models of seat"):
            story.draw(Rng(1), 5, 4, (1.0,), 5, [models] * 3)
    with pytest.raises(ValueError, match="every model that has weight to be tried"):
        story.draw(Rng(1), 5, 4, (1.0,), 5, None, [[1.0, 0.0, 0.0, 0.0, 0.0]] * 3)
    with pytest.raises(ValueError, match="expected a network for 3 players"):
        Story(seen.first, seen.plies, seen.round, shipped(4))
    with pytest.raises(ValueError, match="expected moves that lead to the last position"):
        Story(seen.first, seen.plies[:-1], seen.round, shipped(3))
