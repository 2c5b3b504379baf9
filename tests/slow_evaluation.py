"""The learned evaluation once more, slowly: its inputs from the comments in features.pxd, and the
whole-number network from those in network.h.

It shares no code with the package; what is read from a round is what its player sees.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import twin
from helpers import cards
from numpy.typing import NDArray

from bigtop.core.state import FLIP, KEEP, Round, move_parts

# The network -------------------------------------------------------------------------------------

INPUTS, WIDE, NARROW = 1536, 128, 32
LAYOUT = np.dtype(
    [
        ("first", "<i2", (INPUTS, WIDE)),
        ("first_bias", "<i2", WIDE),
        ("second", "<i2", (WIDE // 2, NARROW, 2)),
        ("second_bias", "<i4", NARROW),
        ("third", "<i2", NARROW),
        ("third_bias", "<i4"),
        ("unused", "<i4", 15),
    ]
)
"""The bytes of a network."""
MOST, MOST_BIAS = 8000, 1 << 24
CAP1, CAP2 = 2047, 8191


def go_round(x: int, bits: int) -> int:
    """A whole number as so many bits hold it."""
    half = 1 << (bits - 1)
    return (x + half) % (1 << bits) - half


def output(weights: bytes, inputs: Sequence[int]) -> int:
    """The network's output in Python's whole numbers, which have no end; asserts that no sum
    behind the first layer needs more than 32 bits."""
    (net,) = np.frombuffer(weights, LAYOUT)
    sums = net["first_bias"].astype(np.int64)
    for number in inputs:
        sums = sums + net["first"][number]
    on = [min(max(go_round(int(x), 16), 0), CAP1) for x in sums]
    out = int(net["third_bias"])
    reach = abs(out)
    for k in range(NARROW):
        hidden = int(net["second_bias"][k])
        most = abs(hidden)
        for j, x in enumerate(on):
            part = x * int(net["second"][j // 2, k, j % 2])
            hidden += part
            most += abs(part)
        assert most < 1 << 31
        part = min(max(hidden >> 11, 0), CAP2) * int(net["third"][k])
        out += part
        reach += abs(part)
    assert reach < 1 << 31
    return out


def first_sums(weights: bytes, inputs: Sequence[int]) -> NDArray[np.int64]:
    """The sums of the first layer, exactly."""
    (net,) = np.frombuffer(weights, LAYOUT)
    rows = net["first"][list(inputs)].astype(np.int64)
    return rows.sum(axis=0) + net["first_bias"]  # type: ignore[no-any-return]


# The inputs --------------------------------------------------------------------------------------

FAMILIES = {
    "size": 24, "chain": 150, "join": 30, "peel": 450, "peels": 16, "pair": 55, "next": 55,
    "edge": 10, "active": 300, "end": 90, "owner": 25, "no_set": 10, "turn": 2, "shows": 18,
    "tokens": 5, "their_size": 84, "their_known": 28, "their_beats": 4, "their_number": 40,
    "smallest": 13, "unseen": 100, "captured": 15, "chips": 8,
}  # fmt: skip
"""Numbers of inputs of each family, in their order."""
FIRST = dict(zip(FAMILIES, itertools.accumulate(FAMILIES.values(), initial=0), strict=False))

Input = tuple[str, int]
"""A family and which one of it."""


@cache
def card_names() -> dict[twin.Card, int]:
    """Number of each card: ascending by the higher number, then by the lower."""
    deck = sorted(twin.deck(5), key=lambda card: (card[1], card[0]))
    return {card: number for number, card in enumerate(deck)}


def named(card: twin.Card) -> int:
    return card_names()[twin.plain(card)]


def pair(a: int, b: int) -> int:
    """Number of an unordered pair, equal ones among them."""
    pairs = [(high, low) for high in range(1, 11) for low in range(1, high + 1)]
    return pairs.index((max(a, b), min(a, b)))


def block(values: Sequence[int]) -> int:
    """Number of a block: by its kind, its length (eight and more are one), its lowest number."""
    low = min(values)
    if len(values) == 1:
        return low - 1
    kind = 10 if twin.is_equal(values) else 80
    return kind + 10 * (min(len(values), 8) - 2) + low - 1


def chains(values: Sequence[int]) -> list[tuple[int, int]]:
    """First and last place of every block that no block of its kind goes beyond; single cards
    only when they are in no longer one."""
    n = len(values)
    blocks = [
        (a, b) for a, b in itertools.combinations(range(n), 2) if twin.is_block(values[a : b + 1])
    ]
    longest = [
        (a, b)
        for a, b in blocks
        if not any((c, d) != (a, b) and c <= a and b <= d for c, d in blocks)
    ]
    inside = {k for a, b in blocks for k in range(a, b + 1)}
    return longest + [(k, k) for k in range(n) if k not in inside]


def arm(values: Sequence[int], step: int) -> int:
    """How many cards from the first one on follow each other by a step."""
    n = 1
    while n < len(values) and values[n] - values[n - 1] == step:
        n += 1
    return n


def joins(values: Sequence[int], first: int, last: int) -> bool:
    """Whether the cards around a block can stand side by side in another one."""
    return first > 0 and last + 1 < len(values) and abs(values[last + 1] - values[first - 1]) <= 1


def peel(values: Sequence[int]) -> tuple[int, int]:
    """First and last place of the block to be peeled off: most cards, equal numbers before runs,
    the highest lowest number; of single cards those first that let their neighbours join."""
    best: tuple[tuple[int, ...], tuple[int, int]] | None = None
    for a in range(len(values)):
        for b in range(a, len(values)):
            part = values[a : b + 1]
            if not twin.is_block(part):
                break
            alone = a == b
            # of equals the left one, a rising run before a falling one
            rank = (
                b - a,
                twin.is_equal(part),
                alone and joins(values, a, b),
                min(part),
                part[0] < part[-1],
                -a,
            )
            if best is None or rank > best[0]:
                best = rank, (a, b)
    assert best is not None
    return best[1]


def peels(values: Sequence[int]) -> list[list[int]]:
    """The blocks of the peeling, at most fifteen."""
    left = list(values)
    found: list[list[int]] = []
    while left and len(found) < 15:
        a, b = peel(left)
        found.append(left[a : b + 1])
        left[a : b + 1] = []
    return found


def of_hand(values: Sequence[int]) -> Iterator[Input]:
    """Inputs of the own hand by itself."""
    n = len(values)
    yield "size", min(n, 23)
    if n == 0:
        return
    for a, b in chains(values):
        yield "chain", block(values[a : b + 1])
        if joins(values, a, b):
            step = values[b + 1] - values[a - 1]
            joined = arm(values[:a][::-1], -step) + arm(values[b + 1 :], step)
            yield "join", 10 * (min(b - a + 1, 3) - 1) + 5 * (step == 0) + min(joined, 6) - 2
    for left, right in itertools.pairwise(values):
        yield "pair", pair(left, right)
    for left, right in zip(values, values[2:], strict=False):
        yield "next", pair(left, right)
    yield "edge", values[0] - 1
    yield "edge", values[-1] - 1
    order = peels(values)
    for k, part in enumerate(order[:3]):
        yield "peel", 150 * k + block(part)
    yield "peels", len(order)


def beating(values: Sequence[int], target: Sequence[int]) -> int:
    """How many blocks beat a set."""
    n = len(values)
    return sum(
        twin.is_block(values[a : b + 1]) and twin.beats(values[a : b + 1], target)
        for a in range(n)
        for b in range(a, n)
    )


def after(round_: Round, move: int) -> tuple[Round, list[int]]:
    """The round behind a move, and the numbers of the mover's hand; a choice of the flip phase
    turns the hand, nothing else."""
    seat = round_.turn
    played = round_.copy()
    played.play(move)
    values = twin.numbers(cards(played.hand(seat)))
    return (round_ if move_parts(move).kind in (KEEP, FLIP) else played), values


def inputs(round_: Round, move: int) -> Iterator[Input]:
    """What is on after a move of the acting seat."""
    seat, players = round_.turn, round_.players
    now, values = after(round_, move)
    yield from of_hand(values)

    others = [(distance, (seat + distance) % players) for distance in range(1, players)]
    known = {
        other: [
            card[0] if round_.scouted(other) >> place & 1 else 0
            for place, card in enumerate(cards(round_.hand(other)))
        ]
        for _, other in others
    }
    for distance, other in others:
        size = len(known[other])
        yield "their_size", 21 * (distance - 1) + min(size, 20)
        if now.tokens >> other & 1:
            yield "tokens", distance
        numbers = [number for number in known[other] if number]
        yield "their_known", 7 * (distance - 1) + min(len(numbers), 6)
        for number in numbers:
            yield "their_number", 10 * (distance - 1) + number - 1
    yield "smallest", min(12, *(len(known[other]) for _, other in others))
    if now.tokens >> seat & 1:
        yield "tokens", 0

    public = [*cards(round_.hand(seat)), *cards(round_.active), *cards(round_.out)]
    for _, other in others:
        public += [
            card
            for place, card in enumerate(cards(round_.hand(other)))
            if round_.scouted(other) >> place & 1
        ]
    unseen = set(twin.deck(players)) - {twin.plain(card) for card in public}
    for number in range(1, 11):
        yield "unseen", 10 * (number - 1) + sum(number in card for card in unseen)

    yield "captured", min(sum(now.captured) // 3, 14)
    flipping = round_.start >= 0
    if players == 2:
        yield "chips", min(now.chips[seat], 3)
        yield "chips", 4 + min(now.chips[1 - seat], 3)
        if now.turn == seat and not flipping:
            yield "turn", int(not now.active)
    if not now.active:
        first = now.start if flipping else now.turn
        yield "no_set", 5 * flipping + (first - seat) % players
        return
    target = twin.numbers(cards(now.active))
    own = now.owner == seat
    yield "active", 150 * own + block(target)
    yield "owner", 5 * ((now.owner - seat) % players) + min(len(target), 5) - 1
    for place in sorted({0, len(target) - 1}):
        yield "end", 45 * own + named(cards(now.active)[place])
    yield "shows", 9 * own + min(beating(values, target), 8)
    for distance, other in others:
        if beating(known[other], target):
            yield "their_beats", distance - 1


def numbers_on(round_: Round, move: int) -> list[int]:
    """The numbers of the inputs that are on, ascending."""
    found = []
    for family, number in inputs(round_, move):
        assert 0 <= number < FAMILIES[family], (family, number)
        found.append(FIRST[family] + number)
    return sorted(found)


def family_of(number: int) -> str:
    """Which family an input belongs to."""
    return next(name for name, first in FIRST.items() if first <= number < first + FAMILIES[name])
