"""How strong the evaluation is by itself: one move deep, in one seat against a table of planners.

    python benchmarks/strength/evaluation.py --boards 5000 --seed 1 [FILE.weights ...]

Without files, the weights that ship. A board is a fresh deal, played once for every seat; the
players see nothing hidden and the points are those of the rules. Prints a Markdown table; ± is
half of the 95% interval over boards. Equal seeds give equal tables.
"""

from __future__ import annotations

from pathlib import Path

import click
from headers import shipped_files

from bigtop.statistics import Estimate
from bigtop.training import TEST_SEED, strength
from bigtop.weights import read_weights


@click.command(help=__doc__)
@click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE"
)
@click.option("--boards", type=click.IntRange(min=2), default=5000, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
def main(files: tuple[Path, ...], boards: int, seed: int) -> None:
    if seed == TEST_SEED:
        raise click.UsageError(f"{TEST_SEED} is the seed by which trainings are watched")
    click.echo(f"{boards} boards, seed {seed}\n")
    click.echo("| players | margin | points | wins | par |\n| --- | --- | --- | --- | --- |")
    for file in files or shipped_files():
        net = read_weights(file)
        margin, points, wins = strength(net, boards, seed)
        click.echo(
            f"| {net.players} | {told(margin)} | {told(points)} | {told(wins, 100, 1, '%')} "
            f"| {100 / net.players:.1f}% |"
        )


def told(found: Estimate, factor: float = 1, digits: int = 2, unit: str = "") -> str:
    """A mean and half of its 95% interval."""
    assert found.mean is not None
    assert found.ci95 is not None
    reach = (found.ci95[1] - found.ci95[0]) / 2
    sign = "" if unit else "+"
    return f"{factor * found.mean:{sign}.{digits}f}{unit} ± {factor * reach:.{digits}f}{unit}"


if __name__ == "__main__":
    main()
