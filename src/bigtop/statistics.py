"""Statistics of matches and tournaments: pure functions of results, nothing is played here.

The sampling unit is the *board*: one deal and its starting seat, with all tables that were played
on it. Tables of one board share their luck, so errors come from the spread between boards, never
from the spread between tables. Every board of a match has the same number of tables, so the mean
over boards of the board's mean is the mean over tables, and no ratio has to be estimated.

Results do not depend on the order in which boards finish: the accumulators (`IntegerSums`,
`MatchSums`, `Comparisons`) hold exact sums. Their memory does not grow with the number of boards.

Sources named below by author and year:
    Abramowitz, Stegun (1964), Handbook of Mathematical Functions, sections 26.7.3 to 26.7.5.
    Bradley, Terry (1952), Rank Analysis of Incomplete Block Designs, Biometrika 39.
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapters 6, 12 and 13.
    Ford (1957), Solution of a Ranking Problem from Binary Comparisons, Am. Math. Monthly 64.
    Hall (1992), On the Removal of Skewness by Transformation, J. Royal Stat. Soc. B 54.
    Korn, Graubard (1998), Confidence Intervals for Proportions with Small Expected Number of
        Positive Counts Estimated from Survey Data, Survey Methodology 24, section 2.
    Wald (1945), Sequential Tests of Statistical Hypotheses, Ann. Math. Stat. 16, section 3.
    Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference, JASA 22.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from statistics import NormalDist
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ANCHOR_RATING",
    "Comparisons",
    "CrossTable",
    "Estimate",
    "IntegerSums",
    "MatchSums",
    "Rating",
    "SequentialTest",
    "Table",
    "Verdict",
    "comparisons",
    "cross_table",
    "estimate",
    "margin_parts",
    "ratings",
    "sequential",
    "share_parts",
    "student_t",
    "variance_ratio",
    "win_share",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CONFIDENCE: Final = 0.95
"""Of every interval here."""
SHARE_UNIT: Final = 60
"""Parts of a win: divisible by every number of seats that can share one (2 to 5)."""
MINIMUM_BOARDS: Final = 100
"""Boards that a sequential test waits for unless told otherwise; see `SequentialTest`."""
ANCHOR_RATING: Final = 1000.0
"""Rating of the anchor; without an anchor, of the mean of all engines."""
RATING_SCALE: Final = 400.0 / math.log(10.0)
"""Rating points to a factor of e in the odds: 400 to a factor of 10."""
PRIOR_COMPARISONS: Final = 1.0
"""Virtual comparisons of each engine with a player of strength zero, half of them lost."""
BLOCKS: Final = 10_000
"""Sampling units that `Comparisons` tells apart."""
RESAMPLES: Final = 1000
"""Bootstrap resamples behind an interval of a rating."""

_EXACT_DEGREES: Final = 200  # above, the expansion of the quantile is as good as the exact sum
_CHUNK_DRAWS: Final = 1 << 20  # bootstrap draws in memory at a time
_BUFFERED_TABLES: Final = 4096
_MOST_BEND: Final = 0.5  # up to which the correction for skewness is taken at its word
_LONGEST_STEP: Final = 2.0  # of a strength, in one step of Newton's method


# Accumulators


@dataclass(slots=True)
class IntegerSums:
    """Number and sums of powers of values that are fractions with one denominator.

    The sums are Python integers: exact, never overflowing, and so the same in whatever order the
    values came and however they were spread over accumulators that were merged.
    """

    denominator: int = 1
    """What every numerator is to be divided by, at least 1."""
    n: int = 0
    """How many values (boards)."""
    total: int = 0
    """Sum of the numerators."""
    squares: int = 0
    """Sum of the numerators' squares."""
    cubes: int = 0
    """Sum of the numerators' third powers."""

    def __post_init__(self) -> None:
        if self.denominator < 1:
            raise ValueError(f"expected a denominator of at least 1: {self.denominator}")

    def add(self, numerator: int) -> None:
        """Take in one value.

        Args:
            numerator: the value times `denominator`, an integer.

        Raises:
            TypeError: not an integer.
        """
        numerator = index(numerator)  # NumPy's integers would overflow in silence
        self.n += 1
        self.total += numerator
        square = numerator * numerator
        self.squares += square
        self.cubes += square * numerator

    def add_many(self, numerators: ArrayLike) -> None:
        """Take in many values.

        Args:
            numerators: integers, the values times `denominator`, in any shape.

        Raises:
            TypeError: not integers.
        """
        array = np.asarray(numerators)
        if array.size == 0:
            return
        if array.dtype.kind not in "iu":
            raise TypeError(f"expected integers: {array.dtype}")
        largest = max(abs(int(array.min())), abs(int(array.max())))
        if largest**3 * array.size < 1 << 63:
            array = array.astype(np.int64).ravel()
            squares = array * array
            self.n += array.size
            self.total += int(array.sum())
            self.squares += int(squares.sum())
            self.cubes += int(np.dot(squares, array))
        else:
            for numerator in array.ravel().tolist():
                self.add(numerator)

    def merge(self, other: IntegerSums) -> None:
        """Take in all values of another accumulator.

        Raises:
            ValueError: another denominator.
        """
        if other.denominator != self.denominator:
            raise ValueError(
                f"expected the denominator {self.denominator}: {other.denominator} to be merged"
            )
        self.n += other.n
        self.total += other.total
        self.squares += other.squares
        self.cubes += other.cubes


Values = IntegerSums | Sequence[float] | Floats | Integers
"""One value a board: the values themselves, or their sums."""


def margin_parts(points: Sequence[int], seat: int) -> int:
    """The margin of a seat, its points minus the mean of the others', times (players - 1).

    Args:
        points: of each seat at one table.
        seat: from 0.
    """
    return len(points) * points[seat] - sum(points)


def share_parts(points: Sequence[int], seat: int) -> int:
    """The share of a seat in the win, k players who are first together each having 1/k.

    Args:
        points: of each seat at one table, 2 to 5 of them.
        seat: from 0.

    Returns:
        Parts of `SHARE_UNIT`.
    """
    best = max(points)
    return SHARE_UNIT // list(points).count(best) if points[seat] == best else 0


@dataclass(slots=True)
class MatchSums:
    """All that is kept of a match of A against tables of Bs: four sums over its boards.

    A table is a round, or a full game; values are means over the tables of a board.
    """

    players: int
    """Seats at a table, and tables on a board: A takes every seat once."""
    margin: IntegerSums = field(init=False)
    """A's points minus the mean of the others', in points a table."""
    points: IntegerSums = field(init=False)
    """A's points, a table."""
    share: IntegerSums = field(init=False)
    """A's share in the wins, 0 to 1."""
    gain: IntegerSums = field(init=False)
    """A's points minus B's in the same seat of the control table, in points a table."""

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 5:
            raise ValueError(f"expected 2 to 5 players: {self.players}")
        self.margin = IntegerSums((self.players - 1) * self.players)
        self.points = IntegerSums(self.players)
        self.share = IntegerSums(SHARE_UNIT * self.players)
        self.gain = IntegerSums(self.players)

    def add(self, tables: Sequence[Sequence[int]], control: Sequence[int] | None = None) -> None:
        """Take in one board.

        Args:
            tables: for each seat in order, the points by seat of the table at which A sat there.
            control: the points by seat of the table of Bs alone; None when it was not played.

        Raises:
            ValueError: another number of tables or seats than players.
        """
        players = self.players
        if len(tables) != players or any(len(points) != players for points in tables):
            raise ValueError(f"expected {players} tables of {players} seats: {tables!r}")
        if control is not None and len(control) != players:
            raise ValueError(f"expected a control table of {players} seats: {control!r}")
        won = sum(points[seat] for seat, points in enumerate(tables))
        self.margin.add(sum(margin_parts(points, seat) for seat, points in enumerate(tables)))
        self.points.add(won)
        self.share.add(sum(share_parts(points, seat) for seat, points in enumerate(tables)))
        if control is not None:
            self.gain.add(won - sum(control))

    def merge(self, other: MatchSums) -> None:
        """Take in all boards of another accumulator.

        Raises:
            ValueError: another number of players.
        """
        if other.players != self.players:
            raise ValueError(f"expected {self.players} players: {other.players} to be merged")
        self.margin.merge(other.margin)
        self.points.merge(other.points)
        self.share.merge(other.share)
        self.gain.merge(other.gain)


class _Moments(NamedTuple):
    n: int
    mean: float
    deviations: float  # sum of the squared deviations from the mean
    cubed: float  # sum of their third powers


def _moments(values: Values) -> _Moments:
    """Number, mean and deviations, independent of the order of the values."""
    if isinstance(values, IntegerSums):
        n, total, squares, denominator = values.n, values.total, values.squares, values.denominator
        if n == 0:
            return _Moments(0, math.nan, 0.0, 0.0)
        # one correctly rounded division each, whatever the size of the integers
        scale = n * denominator
        return _Moments(
            n,
            total / scale,
            (n * squares - total * total) / (scale * denominator),
            (n * (n * values.cubes - 3 * total * squares) + 2 * total**3)
            / (scale * scale * denominator),
        )
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"expected one value a board: an array of shape {array.shape}")
    n = array.size
    if n == 0:
        return _Moments(0, math.nan, 0.0, 0.0)
    if not np.isfinite(array).all():
        raise ValueError("expected finite values, one a board")
    mean = math.fsum(array.tolist()) / n
    apart = array - mean
    square = apart * apart
    return _Moments(n, mean, math.fsum(square.tolist()), math.fsum((square * apart).tolist()))


# Estimates


@lru_cache(maxsize=4096)
def student_t(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution.

    The distribution function is the finite sum of Abramowitz, Stegun 26.7.3 and 26.7.4, solved by
    Newton's method; above 200 degrees the expansion 26.7.5 is taken. Relative error below 1e-10
    for probabilities from 0.001 to 0.999.

    Args:
        probability: of a value not above the quantile, between 0 and 1.
        degrees: of freedom, an integer of at least 1.

    Raises:
        ValueError: out of these ranges.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"expected a probability between 0 and 1: {probability}")
    if degrees < 1:
        raise ValueError(f"expected at least 1 degree of freedom: {degrees}")
    if probability < 0.5:
        return -student_t(1.0 - probability, degrees)
    z = NormalDist().inv_cdf(probability)
    if degrees > _EXACT_DEGREES:
        z2 = z * z
        terms = (
            z * (z2 + 1) / 4,
            z * ((5 * z2 + 16) * z2 + 3) / 96,
            z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
            z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
        )
        return z + math.fsum(term / degrees**k for k, term in enumerate(terms, start=1))
    if degrees == 1:
        return math.tan(math.pi * (probability - 0.5))
    # The quantile is above the normal one, and the distribution function is concave there: from
    # below, Newton's steps stay below and grow towards the quantile.
    inside = 2.0 * probability - 1.0
    height = 2.0 * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    height /= math.sqrt(math.pi * degrees)
    t = z
    for _ in range(200):
        density = height * (1.0 + t * t / degrees) ** (-(degrees + 1) / 2)
        step = (inside - _t_inside(t, degrees)) / density
        t += step
        if abs(step) <= 1e-14 * max(t, 1.0):
            break
    return t


def _t_inside(t: float, degrees: int) -> float:
    """The probability that Student's t lies between -t and t; 2 to 200 degrees, t >= 0."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine2 = math.cos(angle) ** 2
    odd = degrees % 2 == 1
    term = total = math.cos(angle) if odd else 1.0
    for k in range(2 if odd else 1, degrees - 2, 2):
        term *= cosine2 * k / (k + 1)
        total += term
    if odd:
        return 2.0 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


@dataclass(frozen=True)
class Estimate:
    """A mean over boards with its error; `dataclasses.asdict` of it is its JSON.

    What the boards do not tell is None (in JSON: null): everything without a board, the errors
    with only one.
    """

    mean: float | None
    """In the unit of the values."""
    se: float | None
    """Standard error of `mean`, in the same unit."""
    ci95: tuple[float, float] | None
    """The 95% confidence interval."""


def estimate(values_by_board: Values) -> Estimate:
    """The mean over boards, with Student's t interval.

    Args:
        values_by_board: one value a board, in any unit and order, or their sums.

    Returns:
        Standard error s / sqrt(n), s the sample standard deviation (divisor n - 1); interval mean
        ± t se, t the 97.5% quantile of Student's t with n - 1 degrees of freedom.

    Raises:
        ValueError: values that are not finite.
    """
    n, mean, deviations, _ = _moments(values_by_board)
    if n == 0:
        return Estimate(None, None, None)
    if n == 1:
        return Estimate(mean, None, None)
    se = math.sqrt(deviations / (n - 1) / n)
    reach = student_t((1.0 + CONFIDENCE) / 2.0, n - 1) * se
    return Estimate(mean, se, (mean - reach, mean + reach))


def win_share(shares_by_board: Values) -> Estimate:
    """The mean share of wins, with an interval that keeps inside 0 and 1.

    Symmetric intervals fail when wins are rare: with a share of 2% they miss the truth in 45% of
    matches of 10 boards and 9% of matches of 100. So this is Wilson's interval (1927) for the
    effective number of independent tables n* = p (1 - p) / se² (Korn, Graubard 1998), with
    Student's t for n - 1 degrees of freedom in the place of the normal quantile:
    (p + k/2 ± sqrt(p (1 - p) k + k²/4)) / (1 + k) with k = t² / n*. When all boards are equal, n*
    is the number of boards for a share of 0 or 1, else unlimited.

    Args:
        shares_by_board: the mean share at the tables of each board, 0 to 1, or their sums.

    Raises:
        ValueError: a mean outside 0 and 1, values that are not finite.
    """
    n, mean, deviations, _ = _moments(shares_by_board)
    if n == 0:
        return Estimate(None, None, None)
    if not 0.0 <= mean <= 1.0:
        raise ValueError(f"expected shares between 0 and 1: their mean is {mean}")
    if n == 1:
        return Estimate(mean, None, None)
    variance = deviations / (n - 1) / n
    uneven = mean * (1.0 - mean)
    tables_inverse = variance / uneven if uneven > 0.0 else 1.0 / n
    k = student_t((1.0 + CONFIDENCE) / 2.0, n - 1) ** 2 * tables_inverse
    centre = (mean + k / 2.0) / (1.0 + k)
    reach = math.sqrt(uneven * k + k * k / 4.0) / (1.0 + k)
    # rounding must not push an end past the mean of equal boards, nor out of the range
    low = max(0.0, min(mean, centre - reach))
    high = min(1.0, max(mean, centre + reach))
    return Estimate(mean, math.sqrt(variance), (low, high))


def variance_ratio(gain_by_board: Values, margin_by_board: Values) -> float | None:
    """The error variance of the gain over that of the margin.

    Below 1 the gain (duplicate control) is the more exact of the two; its match needs that part
    of the boards for the same error.

    Args:
        gain_by_board: A's points minus B's in the same seats of the same deal, one value a board.
        margin_by_board: A's margin, one value a board.

    Returns:
        The ratio of the squared standard errors; None with fewer than two boards in either, or
        when the margin does not vary.

    Raises:
        ValueError: values that are not finite.
    """
    gain, margin = estimate(gain_by_board), estimate(margin_by_board)
    if gain.se is None or not margin.se:
        return None
    return (gain.se / margin.se) ** 2


# The sequential test


@dataclass(frozen=True)
class SequentialTest:
    """Two hypotheses about a mean over boards, and how often each may be accepted wrongly.

    The minimum number of boards is there because means of few boards are far from normally
    distributed when most boards of two similar engines end in a draw and the rest is skewed. With
    the default, and boards as real matches have them, error rates that should have been 5% came to
    5.4% at worst, and those of 1% to 1.6%.
    """

    h0: float
    """The mean under the first hypothesis, in points of margin (the unit of the values)."""
    h1: float
    """The mean under the second hypothesis, above `h0`."""
    alpha: float = 0.05
    """Rate of accepting h1 when h0 is true."""
    beta: float = 0.05
    """Rate of accepting h0 when h1 is true."""
    minimum: int = MINIMUM_BOARDS
    """Boards before which nothing is accepted, at least 2."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.h0) and math.isfinite(self.h1) and self.h0 < self.h1):
            raise ValueError(f"expected h0 below h1: {self.h0} and {self.h1}")
        if not (self.alpha > 0.0 and self.beta > 0.0 and self.alpha + self.beta < 1.0):
            raise ValueError(
                f"expected alpha and beta above 0, together below 1: {self.alpha} and {self.beta}"
            )
        if self.minimum < 2:
            raise ValueError(f"expected a minimum of at least 2 boards: {self.minimum}")

    @property
    def lower(self) -> float:
        """Bound of the log-likelihood ratio that accepts h0, log(beta / (1 - alpha))."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """Bound of the log-likelihood ratio that accepts h1, log((1 - beta) / alpha)."""
        return math.log((1.0 - self.beta) / self.alpha)


@dataclass(frozen=True)
class Verdict:
    """Where a sequential test stands; `dataclasses.asdict` of it is its JSON."""

    llr: float
    """Log-likelihood ratio of h1 against h0 (natural logarithm)."""
    lower: float
    """At this value or below it h0 is accepted."""
    upper: float
    """At this value or above it h1 is accepted."""
    accepted: Literal["h0", "h1"] | None
    """The hypothesis accepted; None: play on."""


def sequential(values_by_board: Values, test: SequentialTest) -> Verdict:
    """The generalised sequential probability ratio test on the boards so far.

    With the mean m of n boards, their standard deviation s and skewness c, and for hypothesis j
    Student's statistic per root board, t = (m - hj) / s,

        llr = n/2 (z0² - z1²),  zj = t + c t²/3 + c² t³/27 + c/(6n).

    zj √n is Hall's transformation (1992) of Student's statistic: nearly normally distributed with
    variance 1 when hj is true, also for skewed boards, and llr is the logarithm of the ratio of
    two such normal densities. Without skewness it is n (h1 - h0) (2m - h0 - h1) / (2 s²), the usual
    approximation with the sample variance (used by Stockfish's fishtest among others). That one
    has unequal error rates when boards are skewed, because a sample that misses the long tail has
    too small a variance together with a mean that errs away from the tail: of boards as two
    players' matches have them, 7% and 2% where 5% were asked for, and 2.6% and 0.2% for 1%.

    The bounds are Wald's (1945, section 3). A match stops at the first number of boards, *in the
    order of the boards*, at which something is accepted; asked again later, the test may have
    changed its mind. Nothing is corrected for overshoot: llr ends past its bound by up to one
    board's step, so that with hypotheses that are far apart (or decided at the minimum number of
    boards) the true error rates are well below alpha and beta, and the test takes a little longer
    than it must; with close hypotheses they come near them.

    Args:
        values_by_board: one value a board, or their sums: adding a board to `IntegerSums` and
            asking again costs a few microseconds, however many there are.
        test: the hypotheses and error rates, in the unit of the values.

    Returns:
        The verdict; its llr is 0 with fewer than two boards.

    Raises:
        ValueError: values that are not finite.
    """
    n, mean, deviations, cubed = _moments(values_by_board)
    lower, upper = test.lower, test.upper
    if n < 2:
        return Verdict(0.0, lower, upper, None)
    # the weight of one board as far from the mean as the hypotheses are from each other keeps the
    # ratio finite when all boards are equal
    deviations += (test.h1 - test.h0) ** 2
    s = math.sqrt(deviations / (n - 1))
    skewness = math.sqrt(n) * cubed / deviations**1.5
    z0 = _unskewed((mean - test.h0) / s, skewness, n)
    z1 = _unskewed((mean - test.h1) / s, skewness, n)
    llr = n / 2.0 * (z0 - z1) * (z0 + z1)
    accepted: Literal["h0", "h1"] | None = None
    if n >= test.minimum:
        if llr >= upper:
            accepted = "h1"
        elif llr <= lower:
            accepted = "h0"
    return Verdict(llr, lower, upper, accepted)


def _unskewed(t: float, skewness: float, n: int) -> float:
    """Hall's transformation; t is Student's statistic over the root of n."""
    # Its slope is (1 + skewness t / 3)². Where a mean is far from a hypothesis that slope could
    # come to nothing, and with it all evidence: there the transformation goes on as a line.
    bend = skewness * t / 3.0
    if abs(bend) <= _MOST_BEND:
        return t * (1.0 + bend + bend * bend / 3.0) + skewness / (6.0 * n)
    bend = math.copysign(_MOST_BEND, bend)
    edge = 3.0 * bend / skewness
    line = (1.0 + bend) ** 2 * (t - edge)
    return edge * (1.0 + bend + bend * bend / 3.0) + line + skewness / (6.0 * n)


# Ratings


class Table(NamedTuple):
    """The result of one table: a round, or a full game."""

    board: int
    """Number of the board, from 0; all tables of a board have the same."""
    engines: Sequence[int]
    """The engine in each seat, from 0."""
    points: Sequence[int]
    """The points of each seat."""
    rounds: int = 1
    """Rounds that were played."""


class Comparisons:
    """Who finished ahead of whom, counted by board.

    Every two seats of a table with different engines are a comparison: 1 for the one with more
    points, one half for each with equal points. An engine that sits at a table twice is compared
    twice with the others there, never with itself.

    Boards beyond the first `blocks` share sampling units: board b belongs to unit b modulo
    `blocks`. A sum of a few boards is as good a unit as a board when there are thousands of them,
    and memory stays at `blocks` times engines² numbers.
    """

    def __init__(self, engines: int, blocks: int = BLOCKS) -> None:
        """Start without a table.

        Args:
            engines: how many there are.
            blocks: sampling units to be told apart, at least 2.

        Raises:
            ValueError: fewer than one engine or two blocks.
        """
        if engines < 1:
            raise ValueError(f"expected at least 1 engine: {engines}")
        if blocks < 2:
            raise ValueError(f"expected at least 2 blocks: {blocks}")
        self.engines: Final = engines
        self.blocks: Final = blocks
        # halves are exact in binary, so these sums are exact up to 2**52 comparisons a unit
        self._ahead: Floats = np.zeros((0, engines * engines))
        self._used: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._points: Integers = np.zeros(engines, dtype=np.int64)
        self._rounds: Integers = np.zeros(engines, dtype=np.int64)
        self._buffer: dict[int, list[Table]] = {}
        self._buffered = 0

    def add(
        self, board: int, engines: Sequence[int], points: Sequence[int], rounds: int = 1
    ) -> None:
        """Take in one table.

        Args:
            board: its number, from 0.
            engines: the engine in each seat, from 0.
            points: the points of each seat.
            rounds: rounds that were played at this table.

        Raises:
            ValueError: a board, an engine or a number of rounds that cannot be, or another number
                of points than of seats.
            TypeError: not integers.
        """
        if len(points) != len(engines) or not engines:
            raise ValueError(f"expected points for each of {len(engines)} seats: {points!r}")
        if min(engines) < 0 or max(engines) >= self.engines:
            raise ValueError(f"expected engines from 0 to {self.engines - 1}: {engines!r}")
        if board < 0 or rounds < 0:
            raise ValueError(f"expected a board and rounds from 0: {board} and {rounds}")
        # a copy: the caller may go on with its lists
        table = Table(
            index(board), tuple(map(index, engines)), tuple(map(index, points)), index(rounds)
        )
        self._buffer.setdefault(len(engines), []).append(table)
        self._buffered += 1
        if self._buffered >= _BUFFERED_TABLES:
            self._flush()

    def add_tables(
        self, boards: ArrayLike, engines: ArrayLike, points: ArrayLike, rounds: ArrayLike = 1
    ) -> None:
        """Take in many tables with the same number of seats.

        Args:
            boards: the number of each table's board, from 0.
            engines: a row for each table, the engine in each seat, from 0.
            points: rows of the same shape, integers.
            rounds: rounds that were played at each table, or at all of them.

        Raises:
            ValueError: shapes that do not fit, or a board, an engine or a number of rounds that
                cannot be.
            TypeError: not integers.
        """
        board, seat, point = np.asarray(boards), np.asarray(engines), np.asarray(points)
        played = np.asarray(rounds)
        for array in (board, seat, point, played):
            if array.size and array.dtype.kind not in "iu":
                raise TypeError(f"expected integers: {array.dtype}")
        if board.ndim != 1 or seat.ndim != 2 or seat.shape != point.shape:
            raise ValueError(
                "expected a board for each table, and a row of engines and one of points: "
                f"shapes {board.shape}, {seat.shape} and {point.shape}"
            )
        if seat.shape[0] != board.size or played.shape not in ((), (board.size,)):
            raise ValueError(
                f"expected {board.size} tables: shapes {seat.shape} and {played.shape}"
            )
        if board.size == 0 or seat.shape[1] == 0:
            return
        if int(seat.min()) < 0 or int(seat.max()) >= self.engines:
            raise ValueError(f"expected engines from 0 to {self.engines - 1}")
        if int(board.min()) < 0 or int(played.min()) < 0:
            raise ValueError("expected boards and rounds from 0")
        self._count(
            board.astype(np.int64),
            seat.astype(np.int64),
            point.astype(np.int64),
            np.broadcast_to(played.astype(np.int64), board.shape),
        )

    def merge(self, other: Comparisons) -> None:
        """Take in all tables of another accumulator.

        Raises:
            ValueError: another number of engines or blocks.
        """
        if (other.engines, other.blocks) != (self.engines, self.blocks):
            raise ValueError(
                f"expected {self.engines} engines and {self.blocks} blocks: "
                f"{other.engines} and {other.blocks} to be merged"
            )
        self._flush()
        other._flush()
        units = len(other._used)
        self._reserve(units)
        self._ahead[:units] += other._ahead
        self._used[:units] |= other._used
        self._points += other._points
        self._rounds += other._rounds

    @property
    def units(self) -> int:
        """Sampling units with at least one table: boards, up to the number of blocks."""
        self._flush()
        return int(self._used.sum())

    @property
    def rounds(self) -> Integers:
        """Rounds played by each engine; one in which it had two seats counts twice."""
        self._flush()
        return self._rounds.copy()

    @property
    def points(self) -> Integers:
        """Sum of the points of each engine."""
        self._flush()
        return self._points.copy()

    def ahead(self) -> Floats:
        """How often each engine (row) finished ahead of each other (column), ties one half."""
        self._flush()
        total: Floats = self._ahead.sum(axis=0)
        return total.reshape(self.engines, self.engines)

    def ahead_by_unit(self) -> Floats:
        """The same for each sampling unit with at least one table.

        Shape: units, engines, engines.
        """
        self._flush()
        return self._ahead[self._used].reshape(-1, self.engines, self.engines)

    def _flush(self) -> None:
        buffer, self._buffer, self._buffered = self._buffer, {}, 0
        for tables in buffer.values():
            self._count(
                np.array([table.board % self.blocks for table in tables], dtype=np.int64),
                np.array([table.engines for table in tables], dtype=np.int64),
                np.array([table.points for table in tables], dtype=np.int64),
                np.array([table.rounds for table in tables], dtype=np.int64),
            )

    def _reserve(self, units: int) -> None:
        have = len(self._used)
        if units > have:
            more = min(self.blocks, max(units, 2 * have)) - have
            self._ahead = np.concatenate([self._ahead, np.zeros((more, self.engines**2))])
            self._used = np.concatenate([self._used, np.zeros(more, dtype=np.bool_)])

    def _count(self, board: Integers, seat: Integers, point: Integers, rounds: Integers) -> None:
        unit = board % self.blocks
        self._reserve(int(unit.max()) + 1)
        self._used[unit] = True
        flat = self._ahead.reshape(-1)
        base = unit * (self.engines * self.engines)
        seats = seat.shape[1]
        for a in range(seats):
            np.add.at(self._points, seat[:, a], point[:, a])
            np.add.at(self._rounds, seat[:, a], rounds)
            for b in range(a):
                one, two = seat[:, a], seat[:, b]
                share = 0.5 + 0.5 * np.sign(point[:, a] - point[:, b])
                share[one == two] = 0.0
                np.add.at(flat, base + one * self.engines + two, share)
                share = np.where(one == two, 0.0, 1.0 - share)
                np.add.at(flat, base + two * self.engines + one, share)


def comparisons(tables: Iterable[Table], engines: int, blocks: int = BLOCKS) -> Comparisons:
    """Count the comparisons of tables, one pass, without keeping them.

    Args:
        tables: in any order, of any sizes.
        engines: how many there are.
        blocks: sampling units to be told apart, see `Comparisons`.

    Raises:
        ValueError: a table that cannot be.
    """
    counted = Comparisons(engines, blocks)
    for table in tables:
        counted.add(*table)
    return counted


@dataclass(frozen=True)
class Rating:
    """The rating of one engine; `dataclasses.asdict` of it is its JSON."""

    engine: str
    """Its name."""
    rating: float
    """Rating points: 400 more are ten times the odds of finishing ahead."""
    ci95: tuple[float, float] | None
    """The 95% confidence interval, in rating points; None with fewer than two boards."""
    rounds: int
    """Rounds it played."""
    points_per_round: float | None
    """Mean points a round; None without a round."""


def ratings(
    counted: Comparisons,
    engines: Sequence[str],
    anchor: str | None = "planner",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Rating]:
    """Bradley-Terry ratings of engines, with intervals from a bootstrap over boards.

    The odds that engine i finishes ahead of j are exp(θi - θj) (Bradley, Terry 1952), a tie counts
    as half a comparison each way. θ maximises the likelihood of all comparisons and of a weak
    prior: one virtual comparison of each engine, half won and half lost, with a player of θ = 0,
    which keeps an engine that never loses finite. Tables whose order follows Plackett and Luce have
    exactly these odds in every pair. That comparisons at one table and on one board depend on each
    other does not move the ratings; the intervals allow for it, because whole boards are drawn
    anew: rating ± t times the standard deviation of the rating over the resamples (Efron,
    Tibshirani 1993, chapters 6 and 12), with Student's t for the number of boards minus one.

    When an engine always finished ahead of the anchor, or always behind, even along any chain of
    third engines (Ford 1957), no resample can show how far apart they may be: its interval is then
    at least as wide as the one from the curvature of the likelihood, which takes comparisons as
    independent. Without an anchor one such pair concerns all engines.

    Args:
        counted: the comparisons, engines numbered as in `engines`.
        engines: their names, all different.
        anchor: the engine whose rating is 1000 by definition; when it is None or not among the
            engines, the mean of all ratings is.
        resamples: bootstrap resamples, at least 2.
        seed: of the bootstrap, 0 or more; equal seeds give equal intervals.

    Returns:
        One rating an engine, the highest first, equal ones in the order of `engines`.

    Raises:
        ValueError: another number of names than of engines, a name twice, too few resamples.
    """
    count = counted.engines
    if len(engines) != count:
        raise ValueError(f"expected {count} names of engines: {len(engines)}")
    if len(set(engines)) != count:
        raise ValueError(f"expected names that differ: {list(engines)!r}")
    if resamples < 2:
        raise ValueError(f"expected at least 2 resamples: {resamples}")
    fixed = engines.index(anchor) if anchor is not None and anchor in engines else None
    total = counted.ahead()
    strength = _strengths(total[None])
    rating = _scaled(strength, fixed)[0]
    reach = _reach(counted, total, strength[0], fixed, resamples, seed)
    rounds, points = counted.rounds, counted.points
    found = [
        Rating(
            name,
            float(rating[i]),
            None if reach is None else (float(rating[i] - reach[i]), float(rating[i] + reach[i])),
            int(rounds[i]),
            int(points[i]) / int(rounds[i]) if rounds[i] else None,
        )
        for i, name in enumerate(engines)
    ]
    return sorted(found, key=lambda one: -one.rating)


def _reach(
    counted: Comparisons,
    total: Floats,
    strength: Floats,
    fixed: int | None,
    resamples: int,
    seed: int,
) -> Floats | None:
    """Half the width of each interval, in rating points; None with fewer than two units."""
    by_unit = counted.ahead_by_unit()
    units, count = len(by_unit), counted.engines
    if units < 2:
        return None
    flat = by_unit.reshape(units, count * count)
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_DRAWS // units)
    drawn = np.empty((resamples, count * count))
    for first in range(0, resamples, chunk):
        rows = min(chunk, resamples - first)
        draws = rng.integers(units, size=(rows, units)) + units * np.arange(rows)[:, None]
        times = np.bincount(draws.ravel(), minlength=rows * units).reshape(rows, units)
        # products and sums of whole and half numbers are exact: no order of summing matters
        drawn[first : first + rows] = times.astype(np.float64) @ flat
    resampled = _scaled(_strengths(drawn.reshape(-1, count, count), strength), fixed)
    quantile = student_t((1.0 + CONFIDENCE) / 2.0, units - 1)
    # resamples vary less than samples do, by the divisor n in the place of n - 1
    quantile *= math.sqrt(units / (units - 1))
    reach: Floats = quantile * resampled.std(axis=0, ddof=1)
    linked = _linked(total)
    unlimited = ~linked[fixed] if fixed is not None else np.full(count, not linked.all())
    if unlimited.any():
        # rows: what is added up of the strengths to give each rating
        parts = np.eye(count) - (1.0 / count if fixed is None else np.eye(count)[fixed])
        _, curvature = _slopes(_with_prior(total[None]), strength[None])
        spread = np.einsum("ij,jk,ik->i", parts, np.linalg.inv(curvature[0]), parts)
        normal = NormalDist().inv_cdf((1.0 + CONFIDENCE) / 2.0)
        curved = normal * RATING_SCALE * np.sqrt(spread)
        reach[unlimited] = np.maximum(reach, curved)[unlimited]
    return reach


def _scaled(strength: Floats, fixed: int | None) -> Floats:
    """Strengths (a row for each resample, natural logarithm of odds) as rating points."""
    origin = strength.mean(axis=1) if fixed is None else strength[:, fixed]
    return ANCHOR_RATING + RATING_SCALE * (strength - origin[:, None])


def _linked(ahead: Floats) -> NDArray[np.bool_]:
    """Which engines lie together: a chain of "not always behind" leads from each to the other."""
    reaches = (ahead > 0.0) | np.eye(len(ahead), dtype=np.bool_)
    for _ in range(len(ahead).bit_length()):
        reaches = (reaches.astype(np.float64) @ reaches) > 0.0
    return reaches & reaches.T


def _with_prior(ahead: Floats) -> Floats:
    """Add the virtual player as the last one, at strength zero."""
    batch, count, _ = ahead.shape
    extended = np.full((batch, count + 1, count + 1), PRIOR_COMPARISONS / 2.0)
    extended[:, :count, :count] = ahead
    extended[:, count, count] = 0.0
    return extended


def _slopes(extended: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """Gradient and negated second derivatives of the log-likelihood, for each of a batch."""
    count = strength.shape[1]
    theta = np.concatenate([strength, np.zeros((len(strength), 1))], axis=1)
    # the chance to finish ahead, exact however small: where almost nothing was lost, the gradient
    # consists of small chances
    expected = np.exp(-np.logaddexp(0.0, theta[:, None, :] - theta[:, :, None]))
    missed = extended * expected.transpose(0, 2, 1)
    gradient = (missed - missed.transpose(0, 2, 1)).sum(axis=2)[:, :count]
    weight = missed * expected
    weight += weight.transpose(0, 2, 1)
    curvature = -weight[:, :count, :count]
    diagonal = np.arange(count)
    curvature[:, diagonal, diagonal] += weight.sum(axis=2)[:, :count]
    return gradient, curvature


def _likelihood(extended: Floats, strength: Floats) -> Floats:
    """Log-likelihood of each of a batch, the prior included."""
    theta = np.concatenate([strength, np.zeros((len(strength), 1))], axis=1)
    gap = theta[:, None, :] - theta[:, :, None]
    value: Floats = -(extended * np.logaddexp(0.0, gap)).sum(axis=(1, 2))
    return value


def _strengths(ahead: Floats, start: Floats | None = None) -> Floats:
    """Strengths θ (natural logarithm of odds) of greatest likelihood, for each of a batch.

    Newton's method on all problems at once. The likelihood is strictly concave because of the
    prior; long steps are shortened and a step that would lower it is halved, so that it arrives
    from anywhere.

    Args:
        ahead: for each problem, how often the row finished ahead of the column.
        start: strengths to start from.
    """
    batch, count, _ = ahead.shape
    strength = np.zeros((batch, count))
    if start is not None:
        strength += start
    extended = _with_prior(ahead)
    running = np.arange(batch)
    for _ in range(200):
        theta, data = strength[running], extended[running]
        gradient, curvature = _slopes(data, theta)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        # far out the likelihood is flat, and a step along it could end where all chances are 0
        step *= _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), _LONGEST_STEP)
        # A step of at most a quarter changes no second derivative by more than a factor of
        # exp(1/2) < 2, and so cannot lead down.
        unsure = np.flatnonzero(np.abs(step).max(axis=1) > 0.25)
        if unsure.size:
            before = _likelihood(data[unsure], theta[unsure])
            before -= 1e-12 * np.abs(before)  # what the sum loses by rounding
        while unsure.size:
            worse = _likelihood(data[unsure], theta[unsure] + step[unsure]) < before
            unsure, before = unsure[worse], before[worse]
            step[unsure] *= 0.5
        strength[running] = theta + step
        running = running[np.abs(step).max(axis=1) > 1e-9]
        if running.size == 0:
            return strength
    raise ArithmeticError("the ratings did not converge in 200 steps")


class CrossTable(NamedTuple):
    """Every engine (row) against every other (column)."""

    share: Floats
    """Share of comparisons in which the row finished ahead, ties one half; NaN without any."""
    comparisons: Integers
    """How many comparisons; 0 on the diagonal."""


def cross_table(counted: Comparisons) -> CrossTable:
    """How often each engine finished ahead of each other, and out of how many comparisons.

    Args:
        counted: the comparisons.
    """
    ahead = counted.ahead()
    played = ahead + ahead.T
    share = np.divide(ahead, played, out=np.full(ahead.shape, np.nan), where=played > 0.0)
    return CrossTable(share, np.rint(played).astype(np.int64))
