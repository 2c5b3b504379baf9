"""What several test files share: the core's rounds as the twin's and back, random play on both,
and the statistics of counts."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import twin

from bigtop.core import ISA
from bigtop.core.rng import Rng
from bigtop.core.state import PASS, Round, deal, move_code
from bigtop.notation import Position, format_move, format_row, parse_move, parse_row

VECTORS = Path(__file__).resolve().parent / "vectors"

TABLES = [(2, False), (2, True), (3, False), (4, False), (5, False)]
"""Players, and whether it is the edition with a forced pass: every kind of table."""
TABLE_NAMES = ["two", "two-forced", "three", "four", "five"]

CHECKED = ISA in ("checked", "sanitized")
"""Whether the core is a slow build, which asserts its state at every move."""

FALSE_ALARM = 1e-6
"""Chance that a test of uniformity refuses a right sampler. The seeds are fixed: a test that passes
passes always, until somebody changes how random numbers are used."""


def vectors(name: str) -> list[dict[str, Any]]:
    """The lines of a vector file."""
    with (VECTORS / name).open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def sized(normal: int, checked: int) -> int:
    """A size of a test: those builds search some thirty times more slowly."""
    return checked if CHECKED else normal


def code(token: str) -> int:
    """The move code of a token."""
    return parse_move(token)[0]


def tokens(codes: Iterable[int]) -> list[str]:
    """The tokens of move codes."""
    return [format_move(move) for move in codes]


def at(text: str) -> Round:
    """The core's round of a position text, moves played."""
    return Position.parse(text).round


def low(card: int) -> int:
    """A card with its lower number active."""
    return min(card, turned(card))


def turned(card: int) -> int:
    """A card with its two numbers exchanged."""
    return (card & 15) << 4 | card >> 4


# The core and the twin ------------------------------------------------------------------------


def row(cards: twin.Row) -> bytes:
    """The core's row of a row of the twin."""
    return bytes(active << 4 | other for active, other in cards)


def cards(row: bytes) -> twin.Row:
    """The twin's row of a row of the core."""
    return tuple((card >> 4, card & 15) for card in row)


def plain(round_: Round) -> twin.Round:
    """The twin's round of one of the core that has not begun yet or whose Scouts do not matter."""
    seats = range(round_.players)
    return twin.Round(
        hands=tuple(cards(round_.hand(seat)) for seat in seats),
        active=cards(round_.active),
        owner=None if round_.owner < 0 else round_.owner,
        turn=round_.turn,
        start=None if round_.start < 0 else round_.start,
        tokens=frozenset(seat for seat in seats if round_.tokens >> seat & 1),
        captured=round_.captured,
        chips=round_.chips,
        forced_pass=round_.forced_pass,
        out=cards(round_.out),
        seen=frozenset(
            twin.plain(card)
            for seat in seats
            for place, card in enumerate(cards(round_.hand(seat)))
            if round_.scouted(seat) >> place & 1
        ),
        made=round_.made,
        end=round_.end,
    )


def differences(round_: Round, other: twin.Round) -> list[str]:
    """The names of all that a round of the core and one of the twin do not have in common.

    Whose turn it would be in a round that is over is nobody's business.
    """
    mine = plain(round_)
    found = [
        name
        for name in (
            "hands", "active", "owner", "turn", "start", "tokens", "captured", "chips",
            "forced_pass", "out", "made", "end",
        )
        if getattr(mine, name) != getattr(other, name) and not (name == "turn" and other.end)
    ]  # fmt: skip
    scouted = tuple(
        sum(1 << place for place, card in enumerate(hand) if twin.plain(card) in other.seen)
        for hand in other.hands
    )
    if scouted != tuple(round_.scouted(seat) for seat in range(round_.players)):
        found.append("scouted")
    if round_.points() != other.points():
        found.append("points")
    return found


def opening(players: int, seed: int, forced_pass: bool = False) -> Round:
    """A fresh deal, in the flip phase, in either edition."""
    dealt = deal(players, Rng(seed))
    return Round(
        [dealt.hand(seat) for seat in range(players)],
        start=dealt.start,
        tokens=dealt.tokens,
        chips=dealt.chips,
        forced_pass=forced_pass,
    )


def natural_move(round_: Round, choose: random.Random) -> int:
    """A move that is random by its kind first, so that all kinds come up and rounds end; seldom
    pass, which would end them too soon."""
    moves = round_.moves()
    if len(moves) > 1 and choose.random() < 0.9:
        moves = [move for move in moves if move != move_code(PASS)]
    kinds = sorted({move >> 20 for move in moves})
    kind = choose.choice(kinds)
    return choose.choice([move for move in moves if move >> 20 == kind])


def played(players: int, seed: int, forced_pass: bool = False) -> Iterator[Round]:
    """Every round on the way from a deal to an end; a copy each, the last one over."""
    choose = random.Random(seed)
    round_ = opening(players, seed, forced_pass)
    yield round_.copy()
    while not round_.end:
        round_.play(natural_move(round_, choose))
        yield round_.copy()


def random_row(size: int, choose: random.Random, close: float = 0.5, steady: bool = False) -> bytes:
    """Different cards in a row; so often as `close` says the next one joins the last, if it can.

    Steady: and goes on with the block that there is, if it can.
    """
    left = [twin.flipped(card) if choose.random() < 0.5 else card for card in twin.deck(5)]
    choose.shuffle(left)
    found = [left.pop()]
    while len(found) < size:
        joining = [
            side
            for card in left
            for side in (card, twin.flipped(card))
            if abs(side[0] - found[-1][0]) <= 1
        ]
        if joining and choose.random() < close:
            step = found[-1][0] - found[-2][0] if steady and len(found) > 1 else 9
            going_on = [side for side in joining if side[0] - found[-1][0] == step]
            card = choose.choice(going_on or joining)
            left = [other for other in left if twin.plain(other) != twin.plain(card)]
        else:
            card = left.pop()
        found.append(card)
    return row(tuple(found))


def show(round_: Round) -> str:
    """A round in a message."""
    return " ".join(
        ["/".join(format_row(round_.hand(seat)) for seat in range(round_.players)),
         f"{format_row(round_.active)}@{round_.owner}", f"turn {round_.turn}",
         f"start {round_.start}", f"tokens {round_.tokens}", f"chips {round_.chips}"]
    )  # fmt: skip


def hands(text: str) -> list[bytes]:
    """The rows of a SEATS field."""
    return [parse_row(part) for part in text.split("/")]


# Statistics -----------------------------------------------------------------------------------


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The chance that a chi-square of so many degrees of freedom is at least so large.

    The regularised upper incomplete gamma function Q(freedom / 2, statistic / 2): its power series
    below the mean, its continued fraction (by Lentz's method) above.
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - scale * total)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 10_000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b or tiny)
        c = b + an / c or tiny
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return scale * h


def uniformity(counts: Mapping[Any, int] | Sequence[int], cells: int) -> float:
    """The chance of counts at least so uneven when each of the cells is equally likely.

    Two tests share the alarm: the chi-square test of all cells, which sees many that are a little
    wrong, and the most improbable count of any cell (Chernoff's bound of the binomial tail, times
    the cells), which sees one that is very wrong. A cell that was never drawn may be missing from
    the counts; one too many has no chance.
    """
    found = list(counts.values() if isinstance(counts, Mapping) else counts)
    if len(found) > cells:
        return 0.0
    if cells == 1:
        return 1.0
    found += [0] * (cells - len(found))
    draws = sum(found)
    expected = draws / cells
    statistic = sum((n - expected) ** 2 for n in found) / expected
    worst = max(_divergence(n / draws, 1 / cells) for n in found)
    return min(
        1.0,
        2 * chi_square_tail(statistic, cells - 1),
        2 * 2 * cells * math.exp(-draws * worst),
    )


def _divergence(share: float, chance: float) -> float:
    """Kullback and Leibler's divergence of two coins, in nats."""
    total = 0.0
    for a, b in ((share, chance), (1 - share, 1 - chance)):
        total += a * math.log(a / b) if a else 0.0
    return total
