"""Pictures of results, as PNG or SVG files; needs the extra `bigtop[plot]`.

Nothing of Matplotlib is imported before a picture is asked for, and nothing of it that opens a
window: figures are made and saved without a display.
"""

from __future__ import annotations

import errno
import io
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigtop.statistics import ANCHOR_RATING, Estimate, Rating

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bigtop.match import MatchStanding

KINDS = (".png", ".svg")
MOST_POINTS = 1000
"""Of a curve; a run of any length keeps between half as many and as many."""
LONGEST_NAME = 40
"""Characters of an engine's name in a picture."""
SETTLED = 0.05
"""The part of the boards after which a curve is wholly inside the picture."""
RC = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "bigtop",  # equal results make equal files
    "text.parse_math": False,  # a name may hold any character
}
PAR = "0.35"  # grey of the lines to compare with


class PictureError(ValueError):
    """A picture that cannot be made; one line says why."""


def check_picture(path: Path) -> None:
    """Find out before a long run whether its picture can be made at its end.

    Raises:
        PictureError: another kind of file, no folder to put it in, no right to write there, or
            Matplotlib is not installed.
    """
    if path.suffix.lower() not in KINDS:
        raise PictureError(f"expected a name that ends in .png or .svg: {str(path)!r}")
    if not path.parent.is_dir():
        raise PictureError(f"there is no folder {str(path.parent)!r}")
    if not os.access(path.parent, os.W_OK):
        raise PictureError(f"{os.strerror(errno.EACCES)}: {str(path)!r}")
    if path.is_dir():
        raise PictureError(f"expected a file, this is a folder: {str(path)!r}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise PictureError(
            f"a picture needs Matplotlib, pip install 'bigtop[plot]' ({error})"
        ) from error


@dataclass
class History:
    """How estimates went from board to board, at so many boards that a curve can be drawn."""

    every: int = 1
    """Boards from one point to the next."""
    boards: list[int] = field(default_factory=list)
    estimates: list[list[Estimate]] = field(default_factory=list)
    """At each number of boards, one for each curve."""

    def note(self, boards: int, estimates: Callable[[], list[Estimate]]) -> None:
        """Take in how it stands after so many boards, if there is to be a point there."""
        if boards % self.every:
            return
        self.boards.append(boards)
        self.estimates.append(estimates())
        if len(self.boards) > MOST_POINTS:
            self.every *= 2
            kept = [n for n, at in enumerate(self.boards) if at % self.every == 0]
            self.boards = [self.boards[n] for n in kept]
            self.estimates = [self.estimates[n] for n in kept]


def draw_match(standing: MatchStanding, history: History, path: Path) -> None:
    """Draw the margin of a match, and the gain, over its boards.

    Args:
        standing: of the match.
        history: of its margin and its gain.
        path: what is written, by its ending a PNG or an SVG file.

    Raises:
        OSError: it cannot be written.
    """
    run = standing.run
    with _figure(7.5, 4.8) as figure:
        axes = figure.add_subplot()
        lines = {0.0: ["par"]}
        if standing.test is not None:
            lines.setdefault(standing.test.h0, []).append("H0")
            lines.setdefault(standing.test.h1, []).append("H1")
        for margin, names in lines.items():
            axes.axhline(margin, color=PAR, linewidth=1, linestyle=":" if margin else "-")
            axes.annotate(
                ", ".join(names), (1, margin), xycoords=("axes fraction", "data"), xytext=(3, 0),
                textcoords="offset points", va="center", color=PAR,
            )  # fmt: skip
        last = standing.margin, standing.gain
        labels = [
            f"{name} {_number(estimate)}"
            for name, estimate in zip(("margin", "gain over the same seat"), last, strict=True)
        ]
        _curves(axes, history, standing.boards, last, labels, f"mean, points a {run.unit}")
        figure.suptitle(f"{_short(run.engines[0])} against a table of {_short(run.engines[1])}")
        axes.set_title(configuration(run.players, run.unit, standing.boards, run.seed), fontsize=9)
        _save(figure, path)


def draw_ratings(
    found: Sequence[Rating],
    anchor: str | None,
    configuration: str,
    path: Path,
    order: Sequence[int] = (),
    margins: Sequence[Estimate] = (),
    history: History | None = None,
    boards: int = 0,
    unit: str = "round",
) -> None:
    """Draw ratings with their intervals, and below them margins over the boards.

    Args:
        found: the ratings, best first.
        anchor: the engine whose rating is fixed; None when it is the mean.
        configuration: what was played, in a few words.
        path: what is written, by its ending a PNG or an SVG file.
        order: the number of each of them among the margins.
        margins: those of all engines in the end.
        history: of the margins; without it only the ratings are drawn.
        boards: after which the margins are these.
        unit: what a margin is counted by, `round` or `game`.

    Raises:
        OSError: it cannot be written.
    """
    heights = [0.4 * len(found) + 1.2]
    if history is not None:
        heights.append(3.6)
    longest = max(len(_short(rating.engine)) for rating in found)
    with _figure(7.0 + 0.08 * longest, sum(heights) + 0.8) as figure:
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        axes = figure.add_subplot(grid[0])
        _whiskers(axes, found, anchor)
        axes.set_title(configuration, fontsize=9)
        figure.suptitle(f"Ratings of {len(found)} engines")
        if history is not None:
            below = figure.add_subplot(grid[1])
            below.axhline(0.0, color=PAR, linewidth=1)
            labels = [
                f"{_short(rating.engine)} {_number(margins[engine])}"
                for rating, engine in zip(found, order, strict=True)
            ]
            _curves(below, history, boards, margins, labels, f"mean margin, points a {unit}", order)
        _save(figure, path)


def configuration(players: int, unit: str, boards: int, seed: int) -> str:
    """What was played, in a few words."""
    played = "single rounds" if unit == "round" else f"games of {players} rounds"
    noun = "board" if boards == 1 else "boards"
    return f"{players} players, {played}, {boards:,} {noun}, seed {seed}; 95% intervals"


def _whiskers(axes: Axes, found: Sequence[Rating], anchor: str | None) -> None:
    """One engine a line, the best at the top."""
    axes.axvline(ANCHOR_RATING, color=PAR, linewidth=1)
    for place, rating in enumerate(found):
        reach = 0.0 if rating.ci95 is None else (rating.ci95[1] - rating.ci95[0]) / 2
        axes.errorbar(
            rating.rating, place, xerr=reach or None, fmt="o", color=_color(place), capsize=4
        )
        around = f" ± {reach:.0f}" if reach else ""
        axes.annotate(
            f"{rating.rating:.0f}{around}", (1, place), xycoords=("axes fraction", "data"),
            xytext=(8, 0), textcoords="offset points", va="center",
        )  # fmt: skip
    axes.set_yticks(range(len(found)), [_short(rating.engine) for rating in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    fixed = f"{_short(anchor)} has" if anchor is not None else "the mean is"
    axes.set_xlabel(
        "rating points\n"
        f"({fixed} {ANCHOR_RATING:.0f}; 400 more are ten times the odds of finishing ahead)"
    )


def _curves(
    axes: Axes,
    history: History,
    boards: int,
    last: Sequence[Estimate],
    labels: Sequence[str],
    unit: str,
    order: Sequence[int] = (0, 1),
) -> None:
    """Means over boards with the bands of their intervals; `last` are the final ones."""
    from matplotlib.ticker import MaxNLocator

    at, estimates = list(history.boards), list(history.estimates)
    if not at or at[-1] != boards:
        at.append(boards)
        estimates.append(list(last))
    lowest, highest = [0.0], [0.0]
    for number, (curve, label) in enumerate(zip(order, labels, strict=True)):
        points = [
            (n, row[curve].mean, *(row[curve].ci95 or (math.nan, math.nan)))
            for n, row in zip(at, estimates, strict=True)
            if row[curve].mean is not None
        ]
        if not points:
            continue
        x, mean, low, high = zip(*points, strict=True)
        color = _color(number)
        axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
        axes.plot(x, mean, color=color, label=label, marker="o" if len(x) == 1 else None)
        settled = [n >= min(boards, max(10, SETTLED * boards)) for n in x]
        for bounds, ends in ((lowest, low), (highest, high)):
            bounds += [
                end for end, is_so in zip(ends, settled, strict=True) if is_so and end == end
            ]
            bounds += [value for value, is_so in zip(mean, settled, strict=True) if is_so]
    room = 0.06 * (max(highest) - min(lowest)) or 1.0
    axes.set_ylim(min(lowest) - room, max(highest) + room)
    axes.set_xlim(0, max(boards, 1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.set_xlabel("boards")
    axes.set_ylabel(unit)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.16), borderaxespad=0)


def _number(estimate: Estimate) -> str:
    if estimate.mean is None:
        return "-"
    if estimate.ci95 is None:
        return f"{estimate.mean:+.2f}"
    return f"{estimate.mean:+.2f} ± {(estimate.ci95[1] - estimate.ci95[0]) / 2:.2f}"


def _short(name: str) -> str:
    """A name that fits, all of it printable."""
    name = "".join(character if character.isprintable() else "?" for character in name)
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _color(number: int) -> str:
    return f"C{number % 10}"


@contextmanager
def _figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure, its size in inches, and the settings in which to fill it."""
    # it tells, once for each machine, that it looks for fonts
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.rc_context(RC), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a character that the font does not have
        yield Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.1))


def _save(figure: Figure, path: Path) -> None:
    kind = path.suffix.lower().removeprefix(".")
    # the day it was drawn would make each file another one
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=150, metadata=metadata)
    try:
        with path.open("wb") as out:
            try:
                out.write(drawn.getvalue())
                out.flush()
            except OSError:
                if path.is_file():  # and no device, which can be full as well
                    path.unlink()  # half a picture
                raise
    except OSError as error:  # a full disk does not say of which file
        raise OSError(error.errno, error.strerror, str(path)) from error
