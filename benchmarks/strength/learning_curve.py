"""Draws the learning curves in the headers of weights files; prints what each training was.

    python benchmarks/strength/learning_curve.py docs/learning-curve.svg [FILE.weights ...]

Without files, those that ship. The margin is that of one seat against a table of planners, one
move deep, on 500 deals that no training plays, each once for every seat; the band is the 95%
interval. Equal files make an equal picture.
"""

from __future__ import annotations

from pathlib import Path

import click
import matplotlib
from headers import Made, read, shipped_files
from matplotlib.figure import Figure

from bigtop.pictures import RC

NORMAL95 = 1.96
"""Standard errors to either side that hold 95%."""


@click.command(help=__doc__)
@click.argument("picture", type=click.Path(dir_okay=False, path_type=Path))
@click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE"
)
def main(picture: Path, files: tuple[Path, ...]) -> None:
    trainings = sorted((read(file) for file in files or shipped_files()), key=lambda m: m.players)
    draw(trainings, picture)
    for line in [*(command(made) for made in trainings), "", *table(trainings)]:
        click.echo(line)


def draw(trainings: list[Made], picture: Path) -> None:
    """A panel for each training, all with the same scale of points."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(2.6 * len(trainings), 3.0), layout="constrained")
        panels = figure.subplots(1, len(trainings), sharey=True, squeeze=False)[0]
        for panel, made in zip(panels, trainings, strict=True):
            millions = [entry["samples"] / 1e6 for entry in made.curve]
            margins = [entry["margin"] for entry in made.curve]
            reach = [NORMAL95 * entry["margin_se"] for entry in made.curve]
            low = [margin - r for margin, r in zip(margins, reach, strict=True)]
            high = [margin + r for margin, r in zip(margins, reach, strict=True)]
            panel.fill_between(millions, low, high, alpha=0.25, linewidth=0)
            panel.plot(millions, margins)
            panel.set_title(f"{made.players} players")
            panel.set_xlabel("million positions")
            panel.set_xlim(left=0)
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("margin against planners,\npoints a round")
        panels[0].set_ylim(bottom=0)
        # the day it was drawn would make each picture another one
        metadata = {"Date": None} if picture.suffix == ".svg" else {}
        figure.savefig(picture, dpi=150, metadata=metadata)


def command(made: Made) -> str:
    """The command that began the training."""
    length = f"--minutes {made.minutes:g}" if made.minutes else f"--rounds {made.rounds}"
    return (
        f"bigtop train --players {made.players} {length} --seed {made.seed} "
        f"players{made.players}.weights"
    )


def table(trainings: list[Made]) -> list[str]:
    """Lines of a Markdown table."""
    lines = [
        "| players | seed | rounds | positions | seconds | margin | wins |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for made in trainings:
        last = made.curve[-1]
        reach = NORMAL95 * last["margin_se"]
        lines.append(
            f"| {made.players} | {made.seed} | {made.rounds:,} | {made.positions:,} "
            f"| {made.seconds:,.0f} | {last['margin']:+.2f} ± {reach:.2f} "
            f"| {100 * last['win']:.1f}% |"
        )
    return lines


if __name__ == "__main__":
    main()
