"""What is claimed about strength, measured: candidates in the same seat of the same deals.

    python benchmarks/strength/claims.py ladder --players 5 --boards 100

CLAIM is one of: ladder (every engine against planners), tables (bigtop and its one-move-deep player
at many kinds of tables), itself (bigtop at tables of that player), time (10 ms, 100 ms and 1 s a
move), ablations (belief, models of the others, and evaluation left out; the tree), ceiling (what
seeing all cards would give), game (the last round of a game: the chance of winning it against the
margin). CANDIDATEs take the place of the claim's own.

Prints a Markdown table, one line for each candidate. A board is a fresh deal, played once for every
seat that a candidate can have; the gain is that on the first one. "Helped" is the margin with the
luck of the deals taken out as far as `learned`, the first candidate, shows it, whose own margin is
known from --known boards (taken as exact: let them be many). ± is half of the 95% interval over
boards, in points a round; wins are shares of the first place. Equal seeds give equal tables,
unless a candidate's budget is a time. With --record FILE an interrupted study goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from paired import (
    Other,
    Result,
    Study,
    by_board,
    first,
    helped,
    margin,
    played,
    points_of,
    told,
)

from bigtop.core.policy import contest
from bigtop.core.rng import Rng
from bigtop.weights import shipped

TABLES: dict[str, tuple[Other, ...]] = {
    "random": (Other("random"),),
    "greedy": (Other("greedy"),),
    "planner": (Other("planner"),),
    "learned": (Other("learned"),),
    "mixed": (Other("planner"), Other("learned"), Other("greedy"), Other("planner", 1.5)),
    "scouting": (Other("planner", -1.0),),
    "erratic": (Other("learned", noise=0.3),),
}
"""Kinds of tables. Nobody of bigtop's models Scouts as gladly as the player of `scouting`, or errs
as often as that of `erratic`."""


@dataclass(frozen=True)
class Claim:
    """Who is compared, at which tables."""

    candidates: tuple[str, ...]
    tables: tuple[str, ...] = ("planner",)
    last_round: bool = False


CLAIMS = {
    "ladder": Claim(
        (
            "planner",
            "greedy",
            "planner:scout=1.5",
            "flat:sims=1000",
            "ismcts:sims=1000",
            "learned",
            "bigtop",
        )
    ),
    "tables": Claim(("learned", "bigtop"), tuple(TABLES)),
    "itself": Claim(("learned", "bigtop"), ("learned",)),
    "time": Claim(("learned", "bigtop:time=0.01", "bigtop:time=0.1", "bigtop:time=1")),
    "ablations": Claim(
        ("bigtop", "bigtop:belief=0", "bigtop:models=0", "flat:time=0.1", "ismcts:time=0.1")
    ),
    "ceiling": Claim(("learned", "bigtop", "clairvoyant")),
    "game": Claim(("bigtop:win=0", "bigtop"), ("learned",), last_round=True),
}


@click.command(help=__doc__)
@click.argument("claim", type=click.Choice(tuple(CLAIMS)))
@click.argument("candidates", nargs=-1, metavar="[CANDIDATE]...")
@click.option("--players", type=click.IntRange(2, 5), required=True)
@click.option("--table", "kinds", multiple=True, help=f"{', '.join(TABLES)}, or weights.")
@click.option("--boards", type=click.IntRange(min=2), default=200, show_default=True)
@click.option("--known", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path))
def main(
    claim: str,
    candidates: tuple[str, ...],
    players: int,
    kinds: tuple[str, ...],
    boards: int,
    known: int,
    seed: int,
    workers: int,
    record: Path | None,
) -> None:
    asked = CLAIMS[claim]
    candidates = candidates or asked.candidates
    click.echo(f"{claim}, {players} players, {boards} boards, seed {seed}\n")
    click.echo("| table | engine | margin | helped | points | wins | gain in margin | in wins |")
    click.echo("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind in kinds or asked.tables:
        others = TABLES.get(kind) or (Other(kind),)
        mean = None
        if known:
            if candidates[0] != "learned" or others not in (TABLES["planner"], TABLES["greedy"]):
                raise click.UsageError("--known is for `learned` first, against planner or greedy")
            policy = (others[0].policy, others[0].scout)
            net = (shipped(players), 1.0)
            margins = [
                of_board[0] for of_board in contest(net, policy, players, Rng(seed + 1), 0, known)
            ]
            mean = sum(margins) / known
            row = f"| {kind} | `learned`, {known} boards | {told(margins)} | | | | | |"
            click.echo(row)
        study = Study(players, candidates, others, seed, asked.last_round)
        for line in rows(study, kind, played(study, boards, record, workers), mean):
            click.echo(line)


def rows(study: Study, kind: str, results: Sequence[Result], known: float | None) -> Iterator[str]:
    """A line for each candidate."""
    base_margins, base_wins = by_board(results, 0, margin), by_board(results, 0, first)
    for index, spec in enumerate(study.candidates):
        margins, wins = by_board(results, index, margin), by_board(results, index, first)
        gains = ("-", "-", "-")
        if index:
            gains = (
                told(helped(margins, base_margins, known)) if known is not None else "-",
                told([a - b for a, b in zip(margins, base_margins, strict=True)]),
                told([a - b for a, b in zip(wins, base_wins, strict=True)], 100, 1) + "%",
            )
        points = by_board(results, index, points_of)
        yield (
            f"| {kind} | `{spec}` | {told(margins)} | {gains[0]} | {told(points)} "
            f"| {told(wins, 100, 1, '')}% | {gains[1]} | {gains[2]} |"
        )


if __name__ == "__main__":
    main()
