"""`bigtop hint`: the best moves of a position, with what a search found about each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from bigtop.cli.common import (
    Answer,
    BadInput,
    Failure,
    PositionCommand,
    answer_positions,
    base_keys,
    color_option,
    count,
    drawn_seed,
    engine_option,
    json_option,
    memory_option,
    out_of_memory,
    position_argument,
    require_open_hand,
    seed_option,
    sims_option,
    threads_option,
    time_option,
)

if TYPE_CHECKING:
    from bigtop import engines
    from bigtop.notation import Position

DEFAULT_LINES = 5


@click.command(cls=PositionCommand)
@position_argument
@engine_option
@sims_option
@time_option
@click.option(
    "--lines",
    "lines",
    type=click.IntRange(min=0),
    default=DEFAULT_LINES,
    show_default=True,
    metavar="K",
    help="How many moves to print; 0: all.",
)
@seed_option
@threads_option
@memory_option
@json_option
@color_option
def hint(
    position: str,
    engine: str,
    sims: int | None,
    time: float | None,
    lines: int,
    seed: int | None,
    threads: int,
    memory: int,
    as_json: bool,
    color: bool,
) -> None:
    """The best moves for the seat to act, best first; in the flip phase, whether to flip.

    Its hand must be open; hidden cards (x) of the others are sampled. With - as POSITION,
    reads them from standard input, one a line.

    \b
    Examples:
      bigtop hint "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
      bigtop deal --players 3 --view 1 --seed 7 | bigtop hint - --sims 500 --json

    \b
    points  expected points of this seat in this round, and their standard error
    margin  points minus the mean of the others' points, and its standard error
    win     chance of being first: in the game if the position has a GAME field, else
            in the round; a first place shared by k players counts 1/k
    value   what the planner reckons a move to be worth (planner only)
    then    the moves that the search expects to follow

    The numbers are averages over all simulations of the move, not the value of the moves that
    are expected to follow. A - stands where an engine gives no number.

    \b
    JSON: position, history (if there were moves), seat, engine, seed, move, says, sims,
    worlds (hidden hands sampled), seconds, sims_per_second, lines: [{move, says, visits,
    points, points_se, margin, margin_se, win (0 to 1), value, pv: [move, ...]}].
    """
    from bigtop.engines import EngineSpecError, make_engine

    if sims is not None and time is not None:
        raise click.UsageError("expected --sims or --time, got both")
    try:
        chosen = make_engine(engine, sims=sims, time=time)
    except EngineSpecError as error:
        raise BadInput(str(error)) from error

    def answer(asked: Position) -> Answer:
        nonlocal seed
        if asked.is_over:
            raise BadInput(f"expected a round that goes on, but this one is over: '{asked}'")
        require_open_hand(asked, "a hint")
        if seed is None:
            seed = drawn_seed()
        try:
            found = chosen.answer(asked, seed, threads=threads, memory=memory)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            if out_of_memory(error):
                why = f"out of memory (--memory {memory}, --threads {threads})"
            raise Failure(f"engine {chosen.spec} failed: {why}") from error
        # The flip phase always shows both of its two choices.
        shown = found.lines[: None if asked.flipping else lines or None]
        if as_json:
            return _keys(asked, seed, found, shown)
        return _text(asked, seed, found, shown, color)

    answer_positions(position, as_json, answer)


def _finite(number: float | None) -> float | None:
    """Return the number, or None for one that JSON cannot say."""
    return number if number is not None and math.isfinite(number) else None


def _keys(
    position: Position, seed: int, found: engines.Answer, shown: tuple[engines.Line, ...]
) -> dict[str, object]:
    from bigtop.words import says

    return {
        **base_keys(position),
        "seat": found.seat,
        "engine": found.engine,
        "seed": seed,
        "move": found.move,
        "says": says(position, found.move),
        "sims": found.sims,
        "worlds": found.worlds,
        "seconds": found.seconds,
        "sims_per_second": _rate(found),
        "lines": [
            {
                "move": line.move,
                "says": says(position, line.move),
                "visits": line.visits,
                "points": _finite(line.points),
                "points_se": _finite(line.points_se),
                "margin": _finite(line.margin),
                "margin_se": _finite(line.margin_se),
                "win": _finite(line.win),
                "value": _finite(line.value),
                "pv": list(line.pv),
            }
            for line in shown
        ],
    }


def _rate(found: engines.Answer) -> float:
    return found.sims / found.seconds if found.seconds > 0 else 0.0


def _text(
    position: Position,
    seed: int,
    found: engines.Answer,
    shown: tuple[engines.Line, ...],
    color: bool,
) -> str:
    from textwrap import fill

    from bigtop.words import says, situation

    effort = f"{found.seconds:.2f} s"
    if found.sims:
        simulations, worlds = count(found.sims, "simulation"), count(found.worlds, "world")
        effort = f"{simulations}, {worlds}, {effort} ({_rate(found):.0f}/s)"
    out = [situation(position), f"{found.engine}, seed {seed}: {effort}", ""]
    win = "win game" if position.game else "win round"
    head = f"  {'move':<14}{'visits':>9}{'points':>17}{'margin':>17}{win:>12}"
    valued = any(line.value is not None for line in shown)
    if valued:
        head += f"{'value':>9}"
    out.append(click.style(head, bold=True) if color else head)
    for rank, line in enumerate(shown):
        chance = "-" if _finite(line.win) is None else f"{line.win:.1%}"
        row = (
            f"  {line.move:<14}{line.visits:>9}"
            f"{_estimate(line.points, line.points_se):>17}"
            f"{_estimate(line.margin, line.margin_se):>17}{chance:>12}"
        )
        if valued:
            row += f"{_estimate(line.value, None):>9}"
        out.append(click.style(row, fg="green", bold=True) if color and rank == 0 else row)
        words = says(position, line.move)
        if len(line.pv) > 1:
            words += "; then " + " ".join(line.pv[1:])
        out.append(fill(words, 80, initial_indent="    ", subsequent_indent="      "))
    if len(shown) < len(found.lines):
        out.append(f"  {len(shown)} of {len(found.lines)} moves (--lines 0 prints all)")
    return "\n".join(out)


def _estimate(value: float | None, error: float | None) -> str:
    """Return `+1.23 +- 0.04`, without the error where none is known, `-` without a value."""
    if value is None or not math.isfinite(value):
        return "-"
    if error is None or not math.isfinite(error):
        return f"{value:+.2f}"
    return f"{value:+.2f} +- {error:.2f}"
