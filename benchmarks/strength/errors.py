"""Whether the standard errors of searches are right.

    python benchmarks/strength/errors.py --players 3 --positions 20 --seeds 20

At each position every move that a search looked at is compared with its long-run value, the mean
of a search with a hundred times the budget and another seed: how often is that within 1.96 standard
errors (both searches' together)? About 95% is right. Positions are views from rounds between
learned players and planners; moves with fewer than 20 playouts are left out.
"""

from __future__ import annotations

import click

from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import make_engine
from bigtop.notation import Position
from bigtop.weights import shipped

FEWEST = 20
LONGER = 100


def positions(players: int, count: int, seed: int) -> list[Position]:
    """Views of the acting seat, one from each round."""
    found: list[Position] = []
    number = 0
    while len(found) < count:
        number += 1
        rng = Rng(seed).split(number)
        position = Position.from_round(deal(players, rng))
        wanted = players + rng.below(5 * players)
        for _ in range(wanted):
            seat = position.turn
            policy = shipped(players) if (seat + number) % 2 else "planner"
            position = position.play(position.token(choose(position.round, policy, rng)))
            if position.is_over:
                break
        else:
            found.append(position.view(position.turn))
    return found


@click.command(help=__doc__)
@click.argument("engines", nargs=-1, metavar="[ENGINE]...")
@click.option("--players", type=click.IntRange(2, 5), default=3, show_default=True)
@click.option("--positions", "count", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
def main(engines: tuple[str, ...], players: int, count: int, seeds: int, seed: int) -> None:
    click.echo(f"{players} players, {count} positions, {seeds} searches of each, seed {seed}\n")
    click.echo("| engine | values | within 1.96 standard errors | of the best move |")
    click.echo("| --- | --- | --- | --- |")
    for spec in engines or ("flat:sims=1000", "bigtop:sims=1000"):
        engine = make_engine(spec)
        longer = make_engine(spec, sims=LONGER * int(engine.options["sims"]))
        every: list[bool] = []
        best: list[bool] = []
        for position in positions(players, count, seed):
            truth = {line.move: line for line in longer.answer(position, seed + 10**6).lines}
            for number in range(seeds):
                said = engine.answer(position, number)
                for line in said.lines:
                    long_run = truth[line.move]
                    if line.visits < FEWEST or long_run.margin is None:
                        continue
                    assert line.margin is not None
                    assert line.margin_se is not None
                    assert long_run.margin_se is not None
                    error = (line.margin_se**2 + long_run.margin_se**2) ** 0.5
                    every.append(abs(line.margin - long_run.margin) <= 1.96 * error + 1e-9)
                    if line.move == said.move:
                        best.append(every[-1])
        click.echo(
            f"| `{engine.spec}` | {len(every)} | {100 * sum(every) / len(every):.1f}% "
            f"| {100 * sum(best) / len(best):.1f}% |"
        )


if __name__ == "__main__":
    main()
