"""Statistics: known values, exact sums, and error rates and coverage measured by simulation.

Simulated matches draw boards from what real ones gave: `MARGINS` and `SHARES` are histograms of
2,000 boards between the simple players, "sum over the board's tables in parts: boards". Half of
the boards of two similar players end in a draw, and the rest is skewed.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bigtop.statistics import (
    ANCHOR_RATING,
    RATING_SCALE,
    SHARE_UNIT,
    Comparisons,
    Estimate,
    IntegerSums,
    MatchSums,
    Rating,
    SequentialTest,
    Table,
    comparisons,
    cross_table,
    estimate,
    margin_parts,
    ratings,
    sequential,
    share_parts,
    student_t,
    variance_ratio,
    win_share,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# planner with a Scout cost of 1.5 against a planner, 2 players, and 4 players; one planner against
# two greedy ones, 3 players
MARGINS = {
    2: """
-20:1 -19:4 -18:16 -17:17 -16:39 -15:36 -14:69 -13:59 -12:60 -11:42 -10:34 -9:29 -8:28 -7:22
-6:10 -5:13 -4:22 -3:29 -2:47 -1:29 0:1352 1:7 2:10 3:7 4:8 5:3 6:3 7:2 11:1 17:1""",
    3: """
-83:1 -77:1 -69:1 -68:1 -61:1 -60:1 -57:3 -54:1 -52:1 -50:1 -49:1 -48:1 -47:2 -46:2 -45:6
-44:4 -43:4 -42:1 -41:5 -40:4 -39:2 -38:2 -36:2 -35:2 -34:4 -33:1 -32:4 -31:2 -30:4 -29:3
-28:2 -27:3 -26:3 -25:1 -23:4 -22:1 -20:5 -19:1 -18:3 -17:3 -16:4 -15:4 -14:9 -13:6 -12:4
-11:8 -10:4 -9:3 -8:2 -7:7 -6:7 -5:9 -4:11 -3:14 -2:10 -1:16 0:21 1:16 2:18 3:14 4:8 5:19 6:16
7:13 8:8 9:15 10:10 11:10 12:9 13:13 14:14 15:10 16:17 17:11 18:9 19:9 20:14 21:17 22:6 23:9
24:13 25:17 26:11 27:18 28:8 29:9 30:18 31:16 32:14 33:19 34:14 35:29 36:21 37:27 38:28 39:32
40:27 41:27 42:39 43:25 44:38 45:34 46:39 47:29 48:31 49:20 50:28 51:21 52:26 53:21 54:19
55:10 56:16 57:13 58:17 59:16 60:15 61:17 62:18 63:19 64:14 65:13 66:15 67:10 68:23 69:10
70:19 71:11 72:22 73:26 74:17 75:25 76:18 77:14 78:26 79:24 80:16 81:29 82:20 83:30 84:20
85:30 86:21 87:29 88:21 89:20 90:24 91:19 92:9 93:7 94:12 95:4 96:5 97:5 98:6 99:3 100:2 101:1
103:1 104:1 105:1""",
    4: """
-87:1 -78:1 -72:1 -66:1 -65:1 -63:1 -62:1 -61:1 -58:1 -53:2 -52:1 -51:2 -50:1 -49:1 -48:3
-47:4 -46:2 -45:3 -44:7 -43:1 -42:3 -41:4 -40:2 -39:3 -38:3 -37:3 -36:5 -35:4 -34:6 -33:5
-32:3 -31:4 -30:3 -29:6 -28:6 -27:9 -26:10 -25:5 -24:6 -23:9 -22:8 -21:4 -20:5 -19:10 -18:14
-17:16 -16:7 -15:12 -14:9 -13:17 -12:11 -11:14 -10:18 -9:11 -8:11 -7:12 -6:13 -5:17 -4:23
-3:18 -2:22 -1:20 0:813 1:18 2:20 3:20 4:26 5:27 6:13 7:15 8:17 9:16 10:16 11:21 12:13 13:17
14:16 15:18 16:16 17:11 18:14 19:20 20:18 21:14 22:15 23:11 24:18 25:12 26:5 27:9 28:13 29:9
30:12 31:7 32:11 33:8 34:10 35:5 36:7 37:9 38:7 39:12 40:13 41:7 42:11 43:8 44:11 45:10 46:5
47:5 48:9 49:5 50:4 51:8 52:3 53:5 54:10 55:8 56:5 57:5 58:6 59:5 60:3 61:2 62:5 63:6 64:2
65:2 66:3 67:2 69:2 70:2 72:1 73:3 74:2 76:2 77:4 78:1 79:2 80:1 81:2 84:4 87:2 88:2 90:1 96:1
97:1 98:2 100:1 101:1 103:1 104:1 108:1 112:2 113:1 122:1 126:1 153:1""",
}

# the same three, and greedy against three planners
SHARES = {
    "2 players, 39%": (2, "0:443 30:20 60:1530 90:3 120:4"),
    "3 players, 68%": (3, "0:74 30:9 60:408 90:21 120:833 150:17 180:638"),
    "4 players, 27%": (
        4,
        "0:166 20:3 30:47 40:3 60:1468 80:2 90:43 100:1 105:1 120:240 150:6 180:20",
    ),
    "4 players, 2.6%": (4, "0:1846 20:5 30:20 60:124 90:2 120:3"),
}


class Boards:
    """A distribution of whole numbers to draw boards from."""

    def __init__(self, text: str, denominator: int) -> None:
        pairs = [pair.split(":") for pair in text.split()]
        self.values: Integers = np.array([int(value) for value, _ in pairs])
        chances: Floats = np.array([float(count) for _, count in pairs])
        self.chances: Floats = chances / chances.sum()
        self.denominator = denominator

    @property
    def mean(self) -> float:
        return float(self.chances @ self.values) / self.denominator

    def tilted(self, mean: float) -> Boards:
        """The same values with chances times exp(c value), so that the mean is as wanted."""
        values, low, high = self.values / self.denominator, -20.0, 20.0
        moved = Boards("0:1", self.denominator)
        moved.values = self.values
        for _ in range(100):
            tilt = (low + high) / 2
            weights = self.chances * np.exp(tilt * values - (tilt * values).max())
            moved.chances = weights / weights.sum()
            low, high = (tilt, high) if moved.mean < mean else (low, tilt)
        assert moved.mean == pytest.approx(mean, abs=1e-6)
        return moved

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Integers:
        steps = np.cumsum(self.chances)
        steps[-1] = 1.0
        return self.values[np.searchsorted(steps, rng.random(shape), side="right")]


def margins(players: int) -> Boards:
    return Boards(MARGINS[players], (players - 1) * players)


# Student's t


@pytest.mark.parametrize(
    ("degrees", "p95", "p975", "p995"),
    [  # Abramowitz, Stegun, table 26.10, to the three decimals printed there
        (1, 6.314, 12.706, 63.657),
        (2, 2.920, 4.303, 9.925),
        (3, 2.353, 3.182, 5.841),
        (4, 2.132, 2.776, 4.604),
        (5, 2.015, 2.571, 4.032),
        (9, 1.833, 2.262, 3.250),
        (10, 1.812, 2.228, 3.169),
        (29, 1.699, 2.045, 2.756),
        (30, 1.697, 2.042, 2.750),
        (60, 1.671, 2.000, 2.660),
        (120, 1.658, 1.980, 2.617),
    ],
)
def test_student_t_has_the_values_of_the_table(
    degrees: int, p95: float, p975: float, p995: float
) -> None:
    found = [student_t(p, degrees) for p in (0.95, 0.975, 0.995)]
    assert found == pytest.approx([p95, p975, p995], abs=5.1e-4)


@pytest.mark.parametrize(
    ("probability", "degrees", "value"),
    [  # to all digits, computed from the incomplete beta function with 30 digits
        (0.975, 1, 12.70620473617470),
        (0.975, 2, 4.302652729749462),
        (0.975, 3, 3.182446305283710),
        (0.975, 10, 2.228138851986274),
        (0.999, 3, 10.21453185240739),
        (0.6, 7, 0.2631668613520228),
        (0.975, 99, 1.984216951586417),
        (0.975, 200, 1.971896223633909),
        (0.975, 201, 1.971836506779859),
        (0.975, 999, 1.962341461133450),
    ],
)
def test_student_t_to_many_digits(probability: float, degrees: int, value: float) -> None:
    assert student_t(probability, degrees) == pytest.approx(value, rel=1e-10)


def test_student_t_is_symmetric_monotone_and_ends_in_the_normal_quantile() -> None:
    for degrees in (1, 2, 3, 50, 199, 200, 201, 5000):
        assert student_t(0.5, degrees) == pytest.approx(0.0, abs=1e-12)
        assert student_t(0.01, degrees) == -student_t(0.99, degrees)
        row = [student_t(p, degrees) for p in (0.01, 0.3, 0.5, 0.6, 0.9, 0.999)]
        assert row == sorted(row)
    column = [student_t(0.975, degrees) for degrees in range(1, 400)]
    assert column == sorted(column, reverse=True)
    normal = NormalDist().inv_cdf(0.975)
    assert normal < student_t(0.975, 10**7) < normal + 1e-6


@pytest.mark.parametrize(("probability", "degrees"), [(0.0, 5), (1.0, 5), (math.nan, 5), (0.9, 0)])
def test_student_t_refuses_what_has_no_quantile(probability: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        student_t(probability, degrees)


# Sums


INTEGERS = st.integers(-(10**12), 10**12)


@given(st.lists(INTEGERS, max_size=30), st.integers(1, 100), st.randoms(use_true_random=False))
def test_integer_sums_are_exact_in_any_order_and_split(
    numerators: list[int], denominator: int, rng: random.Random
) -> None:
    straight = IntegerSums(denominator)
    for numerator in numerators:
        straight.add(numerator)
    values = [Fraction(numerator, denominator) for numerator in numerators]
    assert straight.n == len(values)
    assert Fraction(straight.total, denominator) == sum(values, Fraction())
    assert Fraction(straight.squares, denominator**2) == sum((v * v for v in values), Fraction())
    assert Fraction(straight.cubes, denominator**3) == sum((v**3 for v in values), Fraction())

    shuffled = numerators[:]
    rng.shuffle(shuffled)
    cut = rng.randint(0, len(shuffled))
    one, two = IntegerSums(denominator), IntegerSums(denominator)
    one.add_many(np.array(shuffled[:cut], dtype=np.int64))
    for numerator in shuffled[cut:]:
        two.add(numerator)
    one.merge(two)
    assert one == straight
    assert pickle.loads(pickle.dumps(one)) == straight


def test_integer_sums_take_numpy_integers_without_overflow() -> None:
    big = 3_000_000_000
    sums = IntegerSums()
    sums.add_many(np.full(4, big, dtype=np.int64))  # the square alone is beyond 63 bits
    sums.add(np.int32(2_000_000_000))  # type: ignore[arg-type]
    sums.add_many(np.array([255, 255], dtype=np.uint8))
    assert (sums.n, sums.total) == (7, 4 * big + 2_000_000_000 + 510)
    assert sums.squares == 4 * big * big + 2_000_000_000**2 + 2 * 255 * 255
    assert sums.cubes == 4 * big**3 + 2_000_000_000**3 + 2 * 255**3


def test_integer_sums_refuse_fractions_and_other_denominators() -> None:
    sums = IntegerSums(6)
    with pytest.raises(TypeError):
        sums.add(0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected integers"):
        sums.add_many([0.5])
    with pytest.raises(ValueError, match="expected the denominator 6: 12"):
        sums.merge(IntegerSums(12))
    with pytest.raises(ValueError, match="denominator"):
        IntegerSums(0)
    assert sums == IntegerSums(6)


POINTS = st.integers(-9, 9)


@given(st.lists(POINTS, min_size=2, max_size=5))
def test_margin_and_share_of_every_seat(points: list[int]) -> None:
    players = len(points)
    for seat in range(players):
        others = points[:seat] + points[seat + 1 :]
        margin = points[seat] - Fraction(sum(others), players - 1)
        assert Fraction(margin_parts(points, seat), players - 1) == margin
        tied = sum(other == max(points) for other in points)
        share = Fraction(1, tied) if points[seat] >= max(others) else Fraction(0)
        assert Fraction(share_parts(points, seat), SHARE_UNIT) == share


@st.composite
def boards(draw: st.DrawFn) -> tuple[int, list[list[list[int]]]]:
    """A number of players, and for each board the tables with A in seat 0, 1, …, then control."""
    players = draw(st.integers(2, 5))
    row = st.lists(POINTS, min_size=players, max_size=players)
    board = st.lists(row, min_size=players + 1, max_size=players + 1)
    return players, draw(st.lists(board, min_size=2, max_size=8))


@given(boards())
def test_match_sums_are_means_over_the_tables_of_boards(
    match: tuple[int, list[list[list[int]]]],
) -> None:
    players, played = match
    sums, half = MatchSums(players), MatchSums(players)
    values: dict[str, list[float]] = {"margin": [], "points": [], "share": [], "gain": []}
    for number, (*tables, control) in enumerate(played):
        (half if number % 2 else sums).add(tables, control)
        own = [table[seat] for seat, table in enumerate(tables)]
        rest = [(sum(t) - p) / (players - 1) for t, p in zip(tables, own, strict=True)]
        first = [t.count(max(t)) for t in tables]
        won = [1 / k if p == max(t) else 0.0 for t, p, k in zip(tables, own, first, strict=True)]
        values["margin"].append(sum(p - r for p, r in zip(own, rest, strict=True)) / players)
        values["points"].append(sum(own) / players)
        values["share"].append(sum(won) / players)
        values["gain"].append(sum(p - c for p, c in zip(own, control, strict=True)) / players)
    sums.merge(half)
    for name, plain in values.items():
        exact, rounded = estimate(getattr(sums, name)), estimate(plain)
        assert exact.mean == pytest.approx(rounded.mean, abs=1e-12)
        assert exact.se == pytest.approx(rounded.se, abs=1e-7)


def test_match_sums_without_control_and_with_tables_that_do_not_fit() -> None:
    sums = MatchSums(2)
    sums.add([(3, 1), (0, 4)])
    assert (sums.margin.n, sums.gain.n) == (1, 0)
    assert estimate(sums.margin).mean == 3.0
    before = pickle.dumps(sums)
    wrong: list[tuple[list[tuple[int, ...]], tuple[int, ...] | None]] = [
        ([(3, 1)], None),
        ([(3, 1), (0, 4, 1)], None),
        ([(3, 1), (0, 4)], (1, 2, 3)),
    ]
    for tables, control in wrong:
        with pytest.raises(ValueError, match="expected"):
            sums.add(tables, control)
    with pytest.raises(ValueError, match="expected 2 players: 3"):
        sums.merge(MatchSums(3))
    with pytest.raises(ValueError, match="2 to 5"):
        MatchSums(6)
    assert pickle.dumps(sums) == before


# Estimates


def test_estimate_of_a_textbook_sample() -> None:
    # mean 3, sum of squares of deviations 10: s² = 2.5, se = sqrt(0.5), t(0.975, 4) = 2.776
    found = estimate([1, 2, 3, 4, 5])
    assert found.mean == 3.0
    assert found.se == pytest.approx(math.sqrt(0.5))
    assert found.ci95 == pytest.approx((3 - 1.96324, 3 + 1.96324), abs=1e-5)


@pytest.mark.parametrize("of", [estimate, win_share])
def test_too_few_boards_have_no_error_and_json_says_null(of: type[Estimate]) -> None:
    none = of([])  # type: ignore[call-arg, arg-type]
    one = of([0.25])  # type: ignore[call-arg, arg-type]
    assert none == Estimate(None, None, None)
    assert one == Estimate(0.25, None, None)
    assert json.dumps(dataclasses.asdict(one)) == '{"mean": 0.25, "se": null, "ci95": null}'
    assert of(IntegerSums(4)) == none  # type: ignore[call-arg, arg-type]


def test_estimates_do_not_depend_on_the_order_and_sums_agree_with_values() -> None:
    rng = np.random.default_rng(1)
    numerators = rng.integers(-50, 50, 1001)
    values = numerators / 12
    found = estimate(values)
    for _ in range(5):
        assert estimate(rng.permutation(values)) == found
    sums = IntegerSums(12)
    sums.add_many(numerators)
    exact = estimate(sums)
    assert exact.mean == pytest.approx(found.mean, rel=1e-14)
    assert exact.se == pytest.approx(found.se, rel=1e-14)
    assert exact.ci95 == pytest.approx(found.ci95, rel=1e-13)


def test_estimates_survive_a_large_common_part() -> None:
    sums = IntegerSums()
    sums.add_many(np.array([1, 2, 3, 4, 5]) + 10**9)
    assert estimate(sums).se == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert estimate(np.array([1.0, 2.0, 3.0, 4.0, 5.0]) + 1e9).se == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    for of in (estimate, win_share):
        with pytest.raises(ValueError, match="finite"):
            of([0.0, bad])
    with pytest.raises(ValueError, match="finite"):
        sequential([0.0, bad], SequentialTest(0, 1))


def test_a_deterministic_engine_against_itself_is_exactly_even() -> None:
    sums = MatchSums(3)
    for points in [(4, -1, 2), (0, 0, 5), (-3, 7, 1)]:  # whoever sits where: the same round
        sums.add([points] * 3, points)
    assert estimate(sums.margin) == Estimate(0.0, 0.0, (0.0, 0.0))
    assert estimate(sums.gain) == Estimate(0.0, 0.0, (0.0, 0.0))
    assert win_share(sums.share) == Estimate(1 / 3, 0.0, (1 / 3, 1 / 3))
    assert variance_ratio(sums.gain, sums.margin) is None


def test_win_share_is_wilsons_interval_where_boards_are_single_rounds() -> None:
    # one table a board: n* = n - 1, so Wilson's formula for 8 of 40 with t² / 39 for k
    found = win_share([1.0] * 8 + [0.0] * 32)
    k = student_t(0.975, 39) ** 2 / 39
    reach = math.sqrt(0.2 * 0.8 * k + k * k / 4)
    assert found.mean == 0.2
    assert found.ci95 == pytest.approx(
        ((0.2 + k / 2 - reach) / (1 + k), (0.2 + k / 2 + reach) / (1 + k))
    )


@pytest.mark.parametrize("boards_played", [2, 10, 1000])
def test_win_share_of_all_or_nothing_keeps_a_doubt(boards_played: int) -> None:
    lost, won = win_share([0.0] * boards_played), win_share([1.0] * boards_played)
    assert lost.ci95 is not None
    assert won.ci95 is not None
    assert lost.ci95[0] == 0.0
    assert won.ci95[1] == 1.0
    assert 3 / boards_played < lost.ci95[1] * (1 + lost.ci95[1] * boards_played) < 200
    assert won.ci95[0] == pytest.approx(1 - lost.ci95[1])


@given(st.lists(st.integers(0, 60), min_size=2, max_size=40))
def test_win_share_interval_is_inside_0_and_1_and_holds_the_mean(parts: list[int]) -> None:
    sums = IntegerSums(60)
    sums.add_many(parts)
    for found in (win_share(sums), win_share([part / 60 for part in parts])):
        assert found.ci95 is not None
        assert found.mean is not None
        assert 0.0 <= found.ci95[0] <= found.mean <= found.ci95[1] <= 1.0


def test_win_share_refuses_what_is_no_share() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        win_share([1.0, 1.5])


def test_variance_ratio() -> None:
    margin, gain = [0.0, 2.0, 4.0, 6.0], [5.0, 6.0, 7.0, 8.0]
    assert variance_ratio(gain, margin) == pytest.approx(0.25)
    assert variance_ratio(margin, gain) == pytest.approx(4.0)
    assert variance_ratio([1.0], margin) is None
    assert variance_ratio(gain, []) is None
    assert variance_ratio(gain, [1.0, 1.0]) is None


def coverage(found: Sequence[Estimate], truth: float) -> float:
    inside = [e.ci95 is not None and e.ci95[0] <= truth <= e.ci95[1] for e in found]
    return sum(inside) / len(inside)


MATCHES = 2000


@pytest.mark.parametrize("boards_played", [30, 100, 400])
@pytest.mark.parametrize("players", sorted(MARGINS))
def test_coverage_of_the_margins_interval(players: int, boards_played: int) -> None:
    source = margins(players)
    drawn = source.draw(np.random.default_rng(players), (MATCHES, boards_played))
    found = [estimate(row / source.denominator) for row in drawn]
    assert 0.93 <= coverage(found, source.mean) <= 0.97


@pytest.mark.parametrize("boards_played", [30, 100, 400])
@pytest.mark.parametrize("name", sorted(SHARES))
def test_coverage_of_the_win_shares_interval(name: str, boards_played: int) -> None:
    players, text = SHARES[name]
    source = Boards(text, SHARE_UNIT * players)
    drawn = source.draw(np.random.default_rng(2), (MATCHES, boards_played))
    found = [win_share(row / source.denominator) for row in drawn]
    assert 0.93 <= coverage(found, source.mean) <= 0.97


@pytest.mark.parametrize("players", [2, 4])
def test_a_noisy_engine_against_itself_covers_zero(players: int) -> None:
    # full boards, all of them: margin, gain and share of A when A is one more B
    rng = np.random.default_rng(8)
    margin, gain, share = [], [], []
    for _ in range(MATCHES // 2):
        sums = MatchSums(players)
        luck = rng.normal(0, 4, (40, 1, players))  # of the seats of a deal
        points = np.rint(luck + rng.normal(0, 3, (40, players + 1, players))).astype(int).tolist()
        for *tables, control in points:
            sums.add(tables, control)
        margin.append(estimate(sums.margin))
        gain.append(estimate(sums.gain))
        share.append(win_share(sums.share))
    for found, truth in ((margin, 0.0), (gain, 0.0), (share, 1 / players)):
        assert 0.93 <= coverage(found, truth) <= 0.97


# The sequential test


def test_bounds_are_walds() -> None:
    test = SequentialTest(0.0, 0.5, alpha=0.05, beta=0.1)
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))


@pytest.mark.parametrize(
    "wrong",
    [
        {"h0": 0.5, "h1": 0.5},
        {"h0": 1.0, "h1": 0.5},
        {"h0": math.nan, "h1": 0.5},
        {"h0": 0.0, "h1": math.inf},
        {"h0": 0.0, "h1": 0.5, "alpha": 0.0},
        {"h0": 0.0, "h1": 0.5, "beta": -0.1},
        {"h0": 0.0, "h1": 0.5, "alpha": 0.5, "beta": 0.5},
        {"h0": 0.0, "h1": 0.5, "minimum": 1},
    ],
)
def test_a_test_that_cannot_decide_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        SequentialTest(**wrong)  # type: ignore[arg-type]


def test_llr_without_skewness_is_the_ratio_of_two_normal_likelihoods() -> None:
    values = [0.4 + side * step for step in (0.5, 1.0, 3.0) * 25 for side in (-1, 1)]
    n = len(values)
    variance = (sum((value - 0.4) ** 2 for value in values) + 0.25) / (n - 1)

    def log_likelihood(mean: float) -> float:
        return -sum((value - mean) ** 2 for value in values) / (2 * variance)

    found = sequential(values, SequentialTest(0.0, 0.5))
    assert found.llr == pytest.approx(log_likelihood(0.5) - log_likelihood(0.0), rel=1e-12)
    assert found.llr == pytest.approx(n * 0.5 * (0.8 - 0.5) / (2 * variance), rel=1e-12)
    assert (found.lower, found.upper) == pytest.approx((-math.log(19), math.log(19)))


def test_llr_with_skewness_is_that_of_halls_statistic() -> None:
    values = np.array([0.0] * 70 + [-1.0] * 12 + [2.0] * 20 + [6.0] * 8)
    n, mean = len(values), values.mean()
    square = ((values - mean) ** 2).sum() + 0.25
    skewness = ((values - mean) ** 3).mean() / (square / n) ** 1.5
    assert skewness > 1.5

    def transformed(hypothesis: float) -> float:
        # Hall (1992), section 2, for Student's statistic
        t = math.sqrt(n) * (mean - hypothesis) / math.sqrt(square / (n - 1))
        root = math.sqrt(n)
        bent = skewness * t**2 / (3 * root) + skewness**2 * t**3 / (27 * n)
        return float(t + bent + skewness / (6 * root))

    expected = (transformed(0.5) ** 2 - transformed(1.0) ** 2) / 2
    assert sequential(values, SequentialTest(0.5, 1.0)).llr == pytest.approx(expected, rel=1e-12)


def test_llr_is_the_same_from_sums_in_any_order() -> None:
    rng = np.random.default_rng(5)
    numerators = margins(4).draw(rng, (300,))
    test = SequentialTest(0.0, 0.5)
    sums, backwards = IntegerSums(12), IntegerSums(12)
    sums.add_many(numerators)
    for numerator in reversed(numerators.tolist()):
        backwards.add(numerator)
    assert sequential(backwards, test) == sequential(sums, test)
    values = numerators / 12
    assert sequential(values, test).llr == pytest.approx(sequential(sums, test).llr, rel=1e-10)
    assert sequential(rng.permutation(values), test) == sequential(values, test)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("tail", [-9.0, 9.0])
def test_a_mean_far_from_both_hypotheses_is_plain_evidence(side: float, tail: float) -> None:
    # many standard deviations away, with the tail towards the hypotheses or away from them
    spread = np.array([0.0, 0.5, -0.5] * 30 + [tail / 4] * 10)
    ratios = []
    for distance in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        found = sequential(side * distance + spread, SequentialTest(-0.25, 0.25))
        assert found.accepted == ("h1" if side > 0 else "h0")
        ratios.append(side * found.llr)
    assert ratios == sorted(ratios)
    assert ratios[0] > 10


def test_mirrored_values_and_hypotheses_give_the_mirrored_verdict() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(0.3, 1.0, 200)
    straight = sequential(values, SequentialTest(-0.1, 0.3, alpha=0.05, beta=0.2))
    mirrored = sequential(-values, SequentialTest(-0.3, 0.1, alpha=0.2, beta=0.05))
    assert mirrored.llr == pytest.approx(-straight.llr)
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-straight.upper, -straight.lower))
    assert (straight.accepted, mirrored.accepted) == ("h1", "h0")


def test_a_bound_decides_when_it_is_reached_and_not_before() -> None:
    values = [0.0, 1.0] * 50  # mean 1/2, with h0 = 0 and h1 = 0.8 in favour of h1
    llr = sequential(values, SequentialTest(0.0, 0.8)).llr
    # the error rate whose bound is this ratio, and its neighbours
    rate = 1.0 / (1.0 + math.exp(llr))
    for factor, accepted in ((1.0001, "h1"), (0.9999, None)):
        test = SequentialTest(0.0, 0.8, alpha=rate * factor, beta=rate * factor)
        assert sequential(values, test).accepted == accepted
        other = SequentialTest(-0.8, 0.0, alpha=rate * factor, beta=rate * factor)
        assert sequential([-value for value in values], other).accepted == (
            "h0" if accepted else None
        )


def test_nothing_is_accepted_before_the_minimum() -> None:
    rng = np.random.default_rng(7)
    test = SequentialTest(0.0, 0.5, minimum=64)
    sums = IntegerSums(10)
    for board, value in enumerate(rng.integers(20, 30, 80).tolist(), start=1):
        sums.add(value)
        verdict = sequential(sums, test)
        assert verdict.accepted == ("h1" if board >= 64 else None)
        assert board < 4 or verdict.llr > verdict.upper


def test_the_verdict_is_finite_json_without_spread_and_without_boards() -> None:
    test = SequentialTest(0.0, 0.5)
    none = sequential([], test)
    assert (none.llr, none.accepted) == (0.0, None)
    for value, accepted in ((0.0, "h0"), (0.5, "h1"), (0.25, None), (-7.0, "h0"), (9.0, "h1")):
        found = sequential([value] * 100, test)
        assert found.accepted == accepted
        json.dumps(dataclasses.asdict(found), allow_nan=False)
    json.dumps(dataclasses.asdict(sequential([3.0], test)), allow_nan=False)


def stop(source: Boards, test: SequentialTest, rng: np.random.Generator) -> tuple[int, str]:
    """Play one match to its verdict: boards it took, and what was accepted."""
    sums = IntegerSums(source.denominator)
    sums.add_many(source.draw(rng, (test.minimum - 1,)))  # too early for a verdict
    while True:
        for value in source.draw(rng, (256,)).tolist():
            sums.add(value)
            accepted = sequential(sums, test).accepted
            if accepted is not None:
                return sums.n, accepted


def error_rate(
    source: Boards, test: SequentialTest, truth: str, seed: int, matches: int = MATCHES
) -> float:
    rng = np.random.default_rng(seed)
    moved = source.tilted(test.h0 if truth == "h0" else test.h1)
    return sum(stop(moved, test, rng)[1] != truth for _ in range(matches)) / matches


@pytest.mark.parametrize("truth", ["h0", "h1"])
@pytest.mark.parametrize(
    ("players", "h0", "h1"),
    [(2, -1.5, -1.0), (2, 0.0, 0.5), (3, 6.5, 7.5), (4, 0.0, 0.3), (4, 0.5, 1.0), (4, 0.0, 1.0)],
)
def test_error_rates_of_the_sequential_test(players: int, h0: float, h1: float, truth: str) -> None:
    test = SequentialTest(h0, h1, alpha=0.05, beta=0.05)
    sampling = 2 * math.sqrt(0.05 * 0.95 / MATCHES)
    assert error_rate(margins(players), test, truth, seed=11) <= 0.05 + sampling


def test_error_rates_are_not_far_below_what_was_asked_for() -> None:
    # hypotheses close enough that neither the minimum nor the overshoot matters
    test = SequentialTest(7.0, 7.5, alpha=0.1, beta=0.2)
    assert 0.07 <= error_rate(margins(3), test, "h0", seed=12, matches=1000) <= 0.12
    assert 0.15 <= error_rate(margins(3), test, "h1", seed=13, matches=1000) <= 0.22


def test_a_match_stops_early_when_the_truth_is_far_and_late_in_the_middle() -> None:
    test = SequentialTest(0.0, 0.5)
    rng = np.random.default_rng(14)
    source = margins(4)
    boards_by_mean = {}
    for mean in (-1.0, 0.25, 1.5):
        moved = source.tilted(mean)
        found = [stop(moved, test, rng) for _ in range(200)]
        boards_by_mean[mean] = sum(n for n, _ in found) / len(found)
        won = sum(accepted == "h1" for _, accepted in found) / len(found)
        assert {-1.0: won == 0.0, 0.25: 0.3 < won < 0.7, 1.5: won == 1.0}[mean]
    assert boards_by_mean[-1.0] < 1.1 * test.minimum
    assert boards_by_mean[1.5] < 1.1 * test.minimum
    assert boards_by_mean[0.25] > 1.3 * test.minimum


# Comparisons


TABLE = st.integers(2, 5).flatmap(
    lambda seats: st.builds(
        Table,
        st.integers(0, 9),
        st.lists(st.integers(0, 3), min_size=seats, max_size=seats),
        st.lists(st.integers(-2, 2), min_size=seats, max_size=seats),
        st.integers(0, 4),
    )
)


@given(st.lists(TABLE, max_size=12), st.randoms(use_true_random=False))
def test_comparisons_are_those_of_a_plain_count(tables: list[Table], rng: random.Random) -> None:
    ahead = [[0.0] * 4 for _ in range(4)]
    played = [[0] * 4 for _ in range(4)]
    points, rounds = [0] * 4, [0] * 4
    for table in tables:
        for engine, own in zip(table.engines, table.points, strict=True):
            points[engine] += own
            rounds[engine] += table.rounds
        for one, two in itertools.permutations(range(len(table.engines)), 2):
            a, b = table.engines[one], table.engines[two]
            if a != b:
                gap = table.points[one] - table.points[two]
                ahead[a][b] += 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0
                played[a][b] += 1

    shuffled = tables[:]
    rng.shuffle(shuffled)
    cut = rng.randint(0, len(tables))
    counted, rest = comparisons(shuffled[:cut], 4), Comparisons(4)
    for table in shuffled[cut:]:
        rest.add_tables([table.board], [table.engines], [table.points], [table.rounds])
    counted.merge(rest)
    assert counted.ahead().tolist() == ahead
    assert counted.points.tolist() == points
    assert counted.rounds.tolist() == rounds
    assert counted.units == len({table.board for table in tables})
    straight = comparisons(tables, 4)
    assert np.array_equal(straight.ahead_by_unit(), counted.ahead_by_unit())
    assert np.array_equal(pickle.loads(pickle.dumps(counted)).ahead(), counted.ahead())

    share, number = cross_table(counted)
    assert number.tolist() == played
    for a, b in itertools.product(range(4), repeat=2):
        if played[a][b]:
            assert share[a, b] == ahead[a][b] / played[a][b]
        else:
            assert math.isnan(share[a, b])


def test_boards_are_told_apart_up_to_the_blocks_and_memory_ends_there() -> None:
    few = Comparisons(2, blocks=8)
    few.add_tables(np.arange(7), np.tile([0, 1], (7, 1)), np.tile([1, 0], (7, 1)))
    assert few.units == 7
    few.add_tables(np.arange(7, 10**5), np.tile([1, 0], (10**5 - 7, 1)), [[1, 0]] * (10**5 - 7))
    assert few.units == 8
    by_unit = few.ahead_by_unit()
    assert by_unit.shape == (8, 2, 2)
    assert by_unit[:, 0, 1].tolist() == [1.0] * 7 + [0.0]
    assert by_unit.sum() == 10**5


def test_a_table_handed_over_may_be_changed_afterwards() -> None:
    counted, engines, points = Comparisons(2), [0, 1], [5, 3]
    counted.add(0, engines, points)
    engines.reverse()
    points[0] = -9
    assert counted.ahead().tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert counted.points.tolist() == [5, 3]


def test_tables_that_cannot_be_are_refused() -> None:
    counted = Comparisons(3)
    for board, engines, points, rounds in [
        (0, [0, 1], [1], 1),
        (0, [], [], 1),
        (0, [0, 3], [1, 2], 1),
        (0, [-1, 0], [1, 2], 1),
        (-1, [0, 1], [1, 2], 1),
        (0, [0, 1], [1, 2], -1),
    ]:
        with pytest.raises(ValueError, match="expected"):
            counted.add(board, engines, points, rounds)
        with pytest.raises(ValueError, match=r"expected|inhomogeneous"):
            counted.add_tables([board], [engines or [7]], [points or [7, 8]], [rounds])
    with pytest.raises(TypeError):
        counted.add(0, [0, 1], [1.5, 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="integers"):
        counted.add_tables([0], [[0, 1]], [[1.5, 2.0]])
    with pytest.raises(ValueError, match="expected 2 tables"):
        counted.add_tables([0, 1], [[0, 1]], [[1, 2]])
    with pytest.raises(ValueError, match="to be merged"):
        counted.merge(Comparisons(4))
    with pytest.raises(ValueError, match="to be merged"):
        counted.merge(Comparisons(3, blocks=5))
    for engines_count, blocks in ((0, 10), (3, 1)):
        with pytest.raises(ValueError, match="expected at least"):
            Comparisons(engines_count, blocks)
    assert counted.ahead().tolist() == [[0.0] * 3] * 3
    assert counted.units == 0


# Ratings


def played(
    rng: np.random.Generator,
    strengths: Sequence[float],
    boards_played: int,
    seats: int,
    same: float,
) -> tuple[Integers, Integers, Integers]:
    """A tournament in which the odds between engines are known, on boards that share their luck.

    Every table draws its order from Plackett and Luce's model, so that of each pair the first is
    ahead with the odds exp(difference of strengths); on every board each line-up plays in each
    rotation, and a seat has the luck of its board with the chance `same`, else its own.

    Returns:
        Board of each table, engines by seat, points by seat (0 for the last, 1, …).
    """
    line_ups = np.array(list(itertools.combinations(range(len(strengths)), seats)))
    line_ups = np.concatenate([np.roll(line_ups, shift, axis=1) for shift in range(seats)])
    tables = len(line_ups)
    common = rng.gumbel(size=(boards_played, 1, seats))
    own = rng.gumbel(size=(boards_played, tables, seats))
    luck = np.where(rng.random(own.shape) < same, common, own)
    points = (np.asarray(strengths)[line_ups] + luck).argsort(axis=2).argsort(axis=2)
    return (
        np.repeat(np.arange(boards_played), tables),
        np.tile(line_ups, (boards_played, 1)),
        points.reshape(-1, seats),
    )


def counted_tournament(
    rng: np.random.Generator,
    strengths: Sequence[float],
    boards_played: int,
    seats: int,
    same: float,
) -> Comparisons:
    counted = Comparisons(len(strengths))
    counted.add_tables(*played(rng, strengths, boards_played, seats, same))
    return counted


def by_name(found: list[Rating]) -> dict[str, Rating]:
    return {rating.engine: rating for rating in found}


NAMES = ("planner", "b", "c", "d", "e", "f")


def test_two_engines_have_the_rating_of_their_odds() -> None:
    # 3,000 to 1,000 in 4,000 comparisons: 400 log10(3) = 190.85 but for the weak prior
    counted = Comparisons(2)
    for board in range(4000):
        counted.add(board, (0, 1), (1, 0) if board % 4 else (0, 1))
    first, second = ratings(counted, ["strong", "planner"])
    assert (first.engine, second.engine) == ("strong", "planner")
    assert second == Rating("planner", 1000.0, (1000.0, 1000.0), 4000, 0.25)
    assert first.rating == pytest.approx(1190.85, abs=0.3)
    assert (first.rounds, first.points_per_round) == (4000, 0.75)
    # independent boards: standard error of the log odds 1 / sqrt(n p (1 - p))
    assert first.ci95 is not None
    reach = 1.96 * RATING_SCALE / math.sqrt(4000 * 0.75 * 0.25)
    assert first.ci95[1] - first.rating == pytest.approx(reach, rel=0.07)
    assert first.rating - first.ci95[0] == pytest.approx(first.ci95[1] - first.rating)


def test_ratings_are_where_expected_and_counted_comparisons_agree() -> None:
    # the condition of greatest likelihood, written down anew: an engine was ahead as often as its
    # rating says, the prior's half win and half loss against a player of the mean included
    rng = np.random.default_rng(20)
    counted = counted_tournament(rng, (0.0, 1.0, -2.0, 0.3), 15, 3, 0.5)
    found = by_name(ratings(counted, NAMES[:4], None, resamples=2))
    strengths = [found[name].rating / RATING_SCALE for name in NAMES[:4]]
    ahead = counted.ahead()

    def chance(gap: float) -> float:
        return 1.0 / (1.0 + math.exp(-gap))

    # the prior's player is where the engines' own surplus over it is zero
    low, high = min(strengths) - 5, max(strengths) + 5
    for _ in range(200):
        centre = (low + high) / 2
        surplus = sum(0.5 - chance(strength - centre) for strength in strengths)
        low, high = (centre, high) if surplus < 0 else (low, centre)
    for i, strength in enumerate(strengths):
        expected = chance(strength - centre)
        for j, other in enumerate(strengths):
            expected += (ahead[i, j] + ahead[j, i]) * chance(strength - other) if i != j else 0.0
        assert expected == pytest.approx(ahead[i].sum() + 0.5, abs=1e-6)


@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_ratings_agree_with_choix(scale: float) -> None:
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(21)
    strengths = scale * rng.normal(size=6)
    board, engines, order = played(rng, strengths.tolist(), 40, 4, 0.5)
    counted = Comparisons(6)
    counted.add_tables(board, engines, order // 2)  # two by two: many ties
    assert (counted.ahead() % 1 != 0).any()
    # the prior's player as a seventh, half a win and half a loss against each
    dense = np.full((7, 7), 0.5)
    dense[:6, :6] = counted.ahead()
    dense[6, 6] = 0.0
    reference = choix.ilsr_pairwise_dense(dense, tol=1e-12)[:6]
    expected = ANCHOR_RATING + RATING_SCALE * (reference - reference[2])
    found = by_name(ratings(counted, NAMES, anchor="c", resamples=2))
    assert [found[name].rating for name in NAMES] == pytest.approx(expected.tolist(), abs=1e-4)


def test_known_ratings_are_recovered() -> None:
    strengths = (0.0, 0.5, -0.7, 1.2, 0.1, -2.0)
    counted = counted_tournament(np.random.default_rng(22), strengths, 400, 4, 0.6)
    found = by_name(ratings(counted, NAMES))
    for name, strength in zip(NAMES, strengths, strict=True):
        truth = 1000 + RATING_SCALE * strength
        interval = found[name].ci95
        assert interval is not None
        reach = interval[1] - found[name].rating
        assert abs(found[name].rating - truth) <= 1.5 * reach  # three standard errors
        assert reach < 20
    assert [rating.engine for rating in ratings(counted, NAMES)] == [
        "d",
        "b",
        "e",
        "planner",
        "c",
        "f",
    ]


@pytest.mark.parametrize("anchor", ["planner", "c", None, "absent"])
def test_the_anchor_only_moves_the_scale(anchor: str | None) -> None:
    counted = counted_tournament(np.random.default_rng(23), (0.0, 0.5, -0.7, 1.2), 50, 3, 0.5)
    reference = by_name(ratings(counted, NAMES[:4]))
    found = by_name(ratings(counted, NAMES[:4], anchor))
    for one, two in itertools.pairwise(NAMES[:4]):
        gap = found[two].rating - found[one].rating
        assert gap == pytest.approx(reference[two].rating - reference[one].rating)
    if anchor in NAMES:
        assert found[anchor].rating == 1000.0
        assert found[anchor].ci95 == (1000.0, 1000.0)
    else:
        mean = sum(rating.rating for rating in found.values()) / 4
        assert mean == pytest.approx(1000.0)
        assert all(r.ci95 is not None and r.ci95[0] < r.ci95[1] for r in found.values())


def test_the_board_is_the_sampling_unit() -> None:
    # every table of a board five times over tells nothing new; five times the boards do
    rng = np.random.default_rng(24)
    board, engines, points = played(rng, (0.0, 0.4, 0.9), 60, 2, 0.5)
    once, copied, more = Comparisons(3), Comparisons(3), Comparisons(3)
    once.add_tables(board, engines, points)
    for copy in range(5):
        copied.add_tables(board, engines, points)
        more.add_tables(board + 60 * copy, engines, points)
    widths = []
    for counted in (once, copied, more):
        interval = by_name(ratings(counted, NAMES[:3], resamples=4000))["c"].ci95
        assert interval is not None
        widths.append(interval[1] - interval[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.05)  # the prior weighs a little less
    assert widths[2] == pytest.approx(widths[0] / math.sqrt(5), rel=0.1)


def test_every_board_is_drawn_and_the_intervals_of_two_boards_are_as_wide_as_they_must() -> None:
    # 10 to 5 on one board and 5 to 10 on the other: a resample has the first twice (1 of 4), the
    # second twice (1 of 4) or both; with the prior log odds of about log(20.25 / 10.25), its
    # opposite, or 0
    counted = Comparisons(2)
    for number in range(15):
        counted.add(0, (0, 1), (0, 1) if number < 10 else (1, 0))
        counted.add(1, (0, 1), (0, 1) if number < 5 else (1, 0))
    found = by_name(ratings(counted, NAMES[:2], resamples=20_000))["b"]
    assert found.ci95 is not None
    assert found.rating == pytest.approx(1000.0)
    deviation = RATING_SCALE * math.log(20.25 / 10.25) * math.sqrt(0.5)
    reach = student_t(0.975, 1) * math.sqrt(2) * deviation  # sqrt(2): n over n - 1
    assert found.ci95[1] - 1000.0 == pytest.approx(reach, rel=0.02)


def test_boards_that_share_units_give_the_same_intervals() -> None:
    rng = np.random.default_rng(25)
    tables = played(rng, (0.0, 0.4, 0.9), 3000, 2, 0.5)
    widths = []
    for blocks in (10_000, 700):  # 700: units of four and of five boards
        counted = Comparisons(3, blocks)
        counted.add_tables(*tables)
        interval = by_name(ratings(counted, NAMES[:3], resamples=3000))["c"].ci95
        assert interval is not None
        widths.append(interval[1] - interval[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.08)


def test_ratings_repeat_with_their_seed_whatever_the_order_of_tables() -> None:
    rng = np.random.default_rng(26)
    board, engines, points = played(rng, (0.0, 0.5, -0.7, 1.2), 40, 3, 0.5)
    rows = rng.permutation(len(board))
    straight, shuffled = Comparisons(4), Comparisons(4)
    straight.add_tables(board, engines, points)
    for row in rows.tolist():
        shuffled.add(int(board[row]), engines[row].tolist(), points[row].tolist())
    found = ratings(straight, NAMES[:4], seed=3)
    assert ratings(shuffled, NAMES[:4], seed=3) == found
    other = ratings(straight, NAMES[:4], seed=4)
    assert [rating.rating for rating in other] == [rating.rating for rating in found]
    assert other != found


def test_an_engine_that_never_loses_stays_finite_and_in_doubt() -> None:
    reaches = []
    for games in (10, 100, 10_000):
        counted = Comparisons(2)
        counted.add_tables(np.arange(games), np.tile([0, 1], (games, 1)), [[0, 1]] * games)
        best = ratings(counted, ["planner", "best"])[0]
        assert best.engine == "best"
        assert best.ci95 is not None
        # "never in n" allows odds of n / 3 to 1 with 95% confidence (the rule of three)
        assert best.ci95[0] < 1000 + 400 * math.log10(games / 3)
        assert 1000 + 400 * math.log10(games) < best.rating < 1000 + 400 * math.log10(10 * games)
        assert all(math.isfinite(end) for end in best.ci95)
        reaches.append(best.ci95[1] - best.rating)
    assert min(reaches) > 300


def test_doubt_about_one_engine_does_not_widen_the_others() -> None:
    rng = np.random.default_rng(27)
    board, engines, points = played(rng, (0.0, 0.4, 0.9), 300, 2, 1.0)
    without, beside = Comparisons(3), Comparisons(4)
    for counted in (without, beside):
        counted.add_tables(board, engines, points)
    for number in range(300):
        beside.add(number, (3, number % 3), (0, 1))  # one that always loses
    reference = by_name(ratings(without, NAMES[:3]))
    found = by_name(ratings(beside, NAMES[:4]))
    for name in ("b", "c"):
        assert found[name].ci95 == pytest.approx(reference[name].ci95, abs=4.0)
    lost = found["d"].ci95
    assert lost is not None
    assert lost[1] - lost[0] > 500
    # without an anchor all stand against a mean that nobody knows
    for rating in ratings(beside, NAMES[:4], anchor=None):
        assert rating.ci95 is not None
        assert rating.ci95[1] - rating.ci95[0] > 100


def test_two_groups_of_which_one_always_wins_are_in_doubt_about_each_other() -> None:
    # nobody always loses, yet nothing bounds the distance of the groups from above
    counted = Comparisons(4)
    for board in range(200):
        counted.add(board, (0, 1), (board % 2, 1 - board % 2))
        counted.add(board, (2, 3), (board % 2, 1 - board % 2))
        counted.add(board, (board % 2, 2 + board % 2), (0, 1))
    found = by_name(ratings(counted, NAMES[:4]))
    for name, wide in (("b", False), ("c", True), ("d", True)):
        interval = found[name].ci95
        assert interval is not None
        assert (interval[1] - interval[0] > 500) == wide


def test_ratings_of_engines_that_hardly_played() -> None:
    nothing = ratings(Comparisons(2), ["planner", "b"])
    assert nothing == [
        Rating("planner", 1000.0, None, 0, None),
        Rating("b", 1000.0, None, 0, None),
    ]
    counted = Comparisons(3)
    counted.add(0, (0, 1), (4, 2), rounds=2)
    one = by_name(ratings(counted, NAMES[:3]))
    assert one["b"].rating < 1000.0
    assert one["b"].ci95 is None
    assert one["b"].points_per_round == 1.0
    assert one["c"].rounds == 0
    json.dumps([dataclasses.asdict(rating) for rating in one.values()], allow_nan=False)
    counted.add(1, (0, 1), (2, 4))
    two = by_name(ratings(counted, NAMES[:3]))
    assert two["c"].ci95 is not None  # never met anybody: as wide as the prior
    assert two["c"].ci95[1] - two["c"].ci95[0] > 1000


def test_ratings_of_huge_counts_converge() -> None:
    counted = Comparisons(3)
    pairs = np.array([[0, 1], [1, 2], [0, 2]])
    for times in range(20):  # doubled by merging with itself: 3 million times the boards
        if times == 0:
            counted.add_tables([0, 1, 2, 3], [[0, 1], [1, 2], [0, 2], [1, 2]], [[1, 0]] * 4)
            counted.add_tables([4], [[1, 0]], [[1, 0]])
        counted.merge(pickle.loads(pickle.dumps(counted)))
    assert counted.ahead()[pairs[:, 0], pairs[:, 1]].tolist() == [2.0**20, 2.0**21, 2.0**20]
    found = by_name(ratings(counted, NAMES[:3], resamples=50))
    assert found["b"].rating == pytest.approx(1000.0, abs=0.01)
    assert found["c"].rating < -1500.0  # never ahead in 3 million comparisons
    assert math.isfinite(found["c"].rating)


def test_ratings_refuse_what_does_not_fit() -> None:
    counted = Comparisons(2)
    with pytest.raises(ValueError, match="expected 2 names"):
        ratings(counted, ["a"])
    with pytest.raises(ValueError, match="differ"):
        ratings(counted, ["a", "a"])
    with pytest.raises(ValueError, match="resamples"):
        ratings(counted, ["a", "b"], resamples=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strengths", "boards_played", "seats", "same", "simulations"),
    [
        ((0.0, 0.3, -0.2, 0.4), 60, 3, 0.7, 700),
        ((0.0, 0.3, -2.5, 1.0), 60, 3, 0.9, 700),
        ((0.0, 0.3, -0.2, 0.8, 0.0), 100, 4, 0.5, 400),
    ],
)
def test_coverage_of_the_ratings_intervals(
    strengths: tuple[float, ...], boards_played: int, seats: int, same: float, simulations: int
) -> None:
    rng = np.random.default_rng(30)
    names = NAMES[: len(strengths)]
    for anchor, origin in (("planner", strengths[0]), (None, sum(strengths) / len(strengths))):
        truth = {
            name: 1000 + RATING_SCALE * (strength - origin)
            for name, strength in zip(names, strengths, strict=True)
        }
        inside = 0
        for seed in range(simulations):
            counted = counted_tournament(rng, strengths, boards_played, seats, same)
            for rating in ratings(counted, names, anchor, resamples=200, seed=seed):
                assert rating.ci95 is not None
                if rating.engine != anchor:
                    inside += rating.ci95[0] <= truth[rating.engine] <= rating.ci95[1]
        intervals = (len(names) - (anchor is not None)) * simulations
        assert 0.93 <= inside / intervals <= 0.97


@settings(deadline=None, max_examples=50)
@given(st.lists(TABLE, min_size=1, max_size=12))
def test_ratings_of_any_tables_are_finite(tables: list[Table]) -> None:
    found = ratings(comparisons(tables, 4), NAMES[:4], resamples=20)
    assert sorted(rating.engine for rating in found) == sorted(NAMES[:4])
    assert [r.rating for r in found] == sorted((r.rating for r in found), reverse=True)
    for rating in found:
        assert math.isfinite(rating.rating)
        if rating.ci95 is not None:
            assert rating.ci95[0] <= rating.rating <= rating.ci95[1]
            assert all(map(math.isfinite, rating.ci95))
