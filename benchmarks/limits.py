"""What is promised of searches beside their rates: threads, budgets of time, long searches.

    python benchmarks/limits.py threads     # 2 threads against 1, in turns, on an idle machine
    python benchmarks/limits.py time        # how late answers are, while every core is busy
    python benchmarks/limits.py long        # simulations a second over 10 million of them

Each prints a Markdown table of the engines that search, on a position of 5 players in the middle of
a round.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Sequence

import click

from bigtop.bench import searched, searching
from bigtop.core.rng import Rng
from bigtop.engines import Engine, make_engine
from bigtop.notation import Position

PLAYERS = 5
SIMS = {"flat": 400_000, "ismcts": 200_000, "bigtop": 100_000}
"""Long enough that starting threads does not count."""


def middle() -> Position:
    """The position that is searched."""
    return next(
        each.position
        for each in searched()
        if each.players == PLAYERS and each.stage not in ("flip", "opening")
    )


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--pairs", type=click.IntRange(min=1), default=15, show_default=True)
def threads(pairs: int) -> None:
    """Pairs of searches with 1 and with 2 threads; the ratio of each pair."""
    click.echo("| engine | 1 thread, sims/s | 2 threads | ratio, median | least | most |")
    click.echo("| --- | --- | --- | --- | --- | --- |")
    for name in searching():
        engine = make_engine(name, sims=SIMS[name])
        rates: dict[int, list[float]] = {1: [], 2: []}
        for seed in range(pairs):
            for count in (1, 2):
                answer = engine.answer(middle(), seed, threads=count)
                rates[count].append(answer.sims / answer.seconds)
        ratios = sorted(two / one for one, two in zip(rates[1], rates[2], strict=True))
        click.echo(
            f"| `{engine.spec}` | {statistics.median(rates[1]):,.0f} "
            f"| {statistics.median(rates[2]):,.0f} | {statistics.median(ratios):.2f} "
            f"| {ratios[0]:.2f} | {ratios[-1]:.2f} |"
        )


def _spin() -> None:
    while True:
        pass


@main.command(name="time")
@click.option("--answers", type=click.IntRange(min=1), default=300, show_default=True)
@click.option("--seconds", type=float, default=0.05, show_default=True)
def late(answers: int, seconds: float) -> None:
    """How much later than its budget an answer comes, while as many processes as there are cores
    do nothing but compute."""
    busy = [
        multiprocessing.Process(target=_spin, daemon=True)
        for _ in range(multiprocessing.cpu_count())
    ]
    for process in busy:
        process.start()
    try:
        click.echo(f"{len(busy)} busy processes, {answers} answers of {1000 * seconds:g} ms\n")
        click.echo("| engine | late, median, ms | 95% | 99% | most |")
        click.echo("| --- | --- | --- | --- | --- |")
        for name in searching():
            engine = make_engine(name, time=seconds)
            found = sorted(_late(engine, seed, seconds) for seed in range(answers))
            click.echo(f"| `{engine.spec}` | {_told(found, (0.5, 0.95, 0.99, 1.0))} |")
    finally:
        for process in busy:
            process.kill()


def _late(engine: Engine, seed: int, seconds: float) -> float:
    began = time.perf_counter()
    engine.answer(middle(), seed)
    return 1000 * (time.perf_counter() - began - seconds)


def _told(ordered: Sequence[float], shares: Sequence[float]) -> str:
    return " | ".join(
        f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.2f}" for share in shares
    )


@main.command()
@click.option("--sims", type=click.IntRange(min=10), default=10_000_000, show_default=True)
def long(sims: int) -> None:
    """The tree's rate over ten equal parts of one search."""
    from bigtop.core.ismcts import Ismcts

    position = middle()
    root = Ismcts(position.round, Rng(1), trees=1, memory=256 << 20)
    rates = []
    for _ in range(10):
        began = time.perf_counter()
        root.run(0, sims // 10)
        rates.append(sims // 10 / (time.perf_counter() - began))
    click.echo("| part | sims/s |\n| --- | --- |")
    for part, rate in enumerate(rates, 1):
        click.echo(f"| {part} of 10 | {rate:,.0f} |")
    click.echo(f"\ncost of the last against the first: {rates[0] / rates[-1]:.2f}")


if __name__ == "__main__":
    main()
