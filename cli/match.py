"""`bigtop match`: one engine against another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bigtop.cli.common import BadInput, count, drawn_seed, print_answer
from bigtop.cli.running import canonical_specs, crew, plain, play, run_options, sequential_test

if TYPE_CHECKING:
    from bigtop.match import MatchStanding


@click.command()
@click.argument("engine_a", metavar="ENGINE")
@click.argument("engine_b", metavar="ENGINE")
@run_options
@click.option(
    "--boards",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Deals, each played once for every seat; with --stop the most.",
)
@click.option(
    "--stop",
    metavar="H0,H1[,A,B]",
    help="Stop when one of two margins in points is accepted (errors A and B, 0.05 each).",
)
def match(
    engine_a: str,
    engine_b: str,
    players: int,
    boards: int,
    unit: str,
    stop: str | None,
    record: str | None,
    plot: Path | None,
    workers: int | None,
    cluster: str | None,
    budget: str,
    forced_pass: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """One engine (A) against a table of another (B), on duplicate deals.

    A board is one deal with its starting seat, played once for every seat that A can take, and
    once by Bs alone for comparison. `margin` is A's points minus the mean of the others', `gain`
    A's points minus B's in the same seat of the same deal; errors come from the boards.

    \b
    Examples:
      bigtop match planner:scout=1.5 planner --players 3 --boards 200 --seed 1
      bigtop match greedy planner --boards 400 --seed 1 --stop -1,0 --json

    JSON: engines, players, unit, boards, rounds, margin, points, win_share, gain,
    variance_ratio, cut_rounds, forfeits, forfeit_reasons, stop, seconds, seed.
    """
    from bigtop.boards import Run
    from bigtop.match import MatchStanding
    from bigtop.pictures import History, draw_match

    if forced_pass and players != 2:
        raise BadInput(f"--forced-pass: expected two players, got {players}")
    test = sequential_test(stop)
    engines = canonical_specs((engine_a, engine_b), budget)
    with crew(workers, cluster) as by:
        if seed is None:
            seed = drawn_seed()
        run = Run("match", engines, players, unit, seed, forced_pass, budget)
        standing = MatchStanding(run, test, History() if plot else None)
        seconds = play(
            standing,
            boards,
            record,
            by,
            None if as_json else lambda: f"margin {plain(standing.margin)}",
            lambda: _report(standing),
        )
    print_answer(standing.json(seconds) if as_json else _report(standing))
    if plot and standing.history:
        draw_match(standing, standing.history, plot)


def _report(standing: MatchStanding) -> str:
    """The result for people."""
    from bigtop.statistics import estimate, variance_ratio, win_share

    run = standing.run
    share = win_share(standing.sums.share)
    lines = [
        f"{run.engines[0]} against a table of {run.engines[1]}, {run.players} players",
        f"{count(standing.boards, 'board')}, {count(standing.rounds, 'round')}, seed {run.seed};"
        " +- is half of the 95% interval, points a " + run.unit,
        f"  margin     {plain(standing.margin)}",
        f"  points     {plain(estimate(standing.sums.points))}",
        f"  gain       {plain(standing.gain)}  (against the same seat of the same deal)",
    ]
    if share.mean is not None:
        between = "" if share.ci95 is None else f"  ({share.ci95[0]:.1%} to {share.ci95[1]:.1%})"
        lines.append(f"  wins       {share.mean:.1%}{between}, par is {1 / run.players:.1%}")
    ratio = variance_ratio(standing.sums.gain, standing.sums.margin)
    if ratio is not None:
        lines.append(
            f"  error variance of the gain over that of the margin: {ratio:.2f}"
            f" (the {'gain' if ratio < 1 else 'margin'} is the more exact)"
        )
    verdict = standing.verdict
    if verdict is not None:
        said = f"{verdict.accepted.upper()} accepted" if verdict.accepted else "undecided"
        lines.append(
            f"  log-likelihood ratio {verdict.llr:+.2f} ({verdict.lower:+.2f} to"
            f" {verdict.upper:+.2f}): {said}"
        )
    if standing.cut_rounds:
        lines.append(f"  {count(standing.cut_rounds, 'round')} stopped after 1,000 moves")
    lines += [f"  {count(times, 'forfeit')}: {why}" for why, times in standing.reasons.items()]
    return "\n".join(lines)
