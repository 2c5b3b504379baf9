"""`bigtop tournament`: many engines, and their ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bigtop.cli.common import BadInput, count, drawn_seed, print_answer
from bigtop.cli.running import canonical_specs, crew, plain, play, run_options

if TYPE_CHECKING:
    from bigtop.tournament import TournamentStanding


@click.command()
@click.argument("engines", metavar="ENGINE...", nargs=-1, required=True)
@run_options
@click.option(
    "--boards",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Deals, each played at as many tables as there are engines.",
)
def tournament(
    engines: tuple[str, ...],
    players: int,
    boards: int,
    unit: str,
    record: str | None,
    plot: Path | None,
    workers: int | None,
    cluster: str | None,
    budget: str,
    forced_pass: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Ratings of two or more engines from tables that mix them.

    On each board (one deal) every engine sits once in every seat; over the boards all of them
    meet each other in all seats equally often. `planner` has 1000 by definition (without it the
    mean has), 400 points are ten times the odds of finishing ahead.

    \b
    Example:
      bigtop tournament random greedy planner planner:scout=1.5 --boards 60 --seed 1

    JSON: ratings (engine, rating, ci95, rounds, points_per_round), boards, seed, players, unit,
    rounds, cut_rounds, forfeit_reasons, cross_table (engines, share, comparisons).
    """
    from bigtop.boards import Run
    from bigtop.pictures import History, configuration
    from bigtop.tournament import TournamentStanding

    if forced_pass and players != 2:
        raise BadInput(f"--forced-pass: expected two players, got {players}")
    specs = canonical_specs(engines, budget)
    if len(set(specs)) < len(specs) or len(specs) < 2:
        raise BadInput(f"expected two or more engines that differ: {' '.join(specs)}")
    with crew(workers, cluster) as by:
        if seed is None:
            seed = drawn_seed()
        run = Run("tournament", specs, players, unit, seed, forced_pass, budget)
        standing = TournamentStanding(run, History() if plot else None)
        play(
            standing,
            boards,
            record,
            by,
            None if as_json else lambda: _leader(standing),
            lambda: report(standing),
        )
    print_answer(standing.json() if as_json else report(standing))
    if plot:
        draw(standing, configuration(players, unit, standing.boards, seed), plot)


def _leader(standing: TournamentStanding) -> str:
    """Who has the largest margin so far; ratings would take too long to be told all the time."""
    margins = standing.estimates()
    first = max(range(len(margins)), key=lambda engine: margins[engine].mean or 0.0)
    return f"{standing.run.engines[first]} leads, margin {plain(margins[first])}"


def draw(standing: TournamentStanding, configuration: str, path: Path) -> None:
    """Draw the ratings; over the boards too where they were followed."""
    from bigtop.pictures import draw_ratings
    from bigtop.tournament import ANCHOR

    found = standing.ratings()
    engines = list(standing.run.engines)
    order = [engines.index(rating.engine) for rating in found]
    draw_ratings(
        found,
        ANCHOR if ANCHOR in engines else None,
        configuration,
        path,
        order,
        standing.estimates(),
        standing.history,
        standing.boards,
        standing.run.unit,
    )


def report(standing: TournamentStanding) -> str:
    """Ratings and the cross table for people."""
    found = standing.ratings()
    cross = standing.cross()
    engines = list(standing.run.engines)
    wide = max(len(name) for name in engines)
    lines = [
        f"{count(standing.boards, 'board')}, {count(standing.rounds, 'round')}, seed"
        f" {standing.run.seed}; +- is half of the 95% interval",
        "",
        f"     {'engine':{wide}}  {'rating':>13}  points a round  share of finishing ahead of"
        f" {' '.join(str(place) for place in range(1, len(found) + 1))}",
    ]
    order = [engines.index(rating.engine) for rating in found]
    for place, rating in enumerate(found, 1):
        reach = "" if rating.ci95 is None else f" +- {(rating.ci95[1] - rating.ci95[0]) / 2:.0f}"
        points = "-" if rating.points_per_round is None else f"{rating.points_per_round:+.2f}"
        against = " ".join(
            "  -" if other == order[place - 1] else f"{cross.share[order[place - 1]][other]:3.0%}"
            for other in order
        )
        lines.append(
            f"{place:3}  {rating.engine:{wide}}  {f'{rating.rating:.0f}{reach}':>13}"
            f"  {points:>14}  {against}"
        )
    if standing.cut_rounds:
        lines.append(f"{count(standing.cut_rounds, 'round')} stopped after 1,000 moves")
    lines += [f"{count(times, 'forfeit')}: {why}" for why, times in standing.reasons.items()]
    return "\n".join(lines)
