"""Moves judged where they are made: what the moves of engines gain on those of `learned`.

    python benchmarks/strength/judged.py bigtop:time=0.01 bigtop:time=0.1 --players 3 --rounds 60

Rounds are played with `learned` in one seat and players of one kind in the others. Wherever that
seat moves, each CANDIDATE is shown its view, and the moves that they choose are played out side by
side on many hands, drawn by what the others did and with the players that they truly are, which no
candidate is told; from there on the seat plays as `learned`. The gain is summed over the moves of a
round. It is far less noisy than the points of played rounds, but trusts the weighted belief, and
does not see what a better move later adds to one before it.

Prints a Markdown table, one line for each candidate; ± is half of the 95% interval over rounds, in
points a round. Equal seeds give equal tables, unless a candidate's budget is a time.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from dataclasses import dataclass

import click
from paired import engine, told

from bigtop.core.chain import Story
from bigtop.core.flat import Flat
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import MODELS
from bigtop.notation import Position
from bigtop.players import shown_to
from bigtop.weights import shipped

GROUPS, GROUP = 4, 100
"""Hands of the judge: so many times so many that are drawn together."""
HEATS, TRIES, STEPS = (0.05, 0.15, 0.3, 0.5, 0.75, 1.0), 8, 20
"""Of each: powers of the likelihood, hands dealt to each seat, steps of the walk at each power."""
# streams of a study's generator
DEALS, OTHERS, JUDGE = 1, 2, 3


@dataclass(frozen=True)
class Judged:
    """What a candidate did in one round."""

    gain: float
    moves: int
    differ: int
    seconds: float


def judged_round(
    candidates: tuple[str, ...], table: str, players: int, seed: int, number: int
) -> list[Judged]:
    """Play a round along the moves of `learned`, and judge all candidates on its way."""
    network = shipped(players)
    policy = network if table == "learned" else table
    seat = number % players
    position = Position.from_round(deal(players, Rng(seed).split(DEALS, number)))
    gains = dict.fromkeys(candidates, 0.0)
    differ = dict.fromkeys(candidates, 0)
    seconds = dict.fromkeys(candidates, 0.0)
    moves = ply = 0
    while not position.is_over:
        ply += 1
        rng = Rng(seed).split(OTHERS, number).split(ply)
        round_ = position.round
        if round_.turn != seat or position.flipping:
            mine = round_.turn == seat
            code = choose(round_, network if mine else policy, rng)
            position = position.play(position.token(code))
            continue
        moves += 1
        view = shown_to(position)
        base = choose(view.round, network, rng)
        chosen = {}
        for spec in candidates:
            began = time.perf_counter()
            chosen[spec] = view.code(engine(spec).answer(view, rng.next64()).move)
            seconds[spec] += time.perf_counter() - began
        if any(code != base for code in chosen.values()):
            stream = Rng(seed).split(JUDGE, number).split(ply)
            values = judged(view, {base, *chosen.values()}, table, stream)
            for spec, code in chosen.items():
                gains[spec] += values[code] - values[base]
                differ[spec] += code != base
        position = position.play(position.token(base))
    return [Judged(gains[spec], moves, differ[spec], seconds[spec]) for spec in candidates]


def judged(view: Position, codes: set[int], table: str, rng: Rng) -> dict[int, float]:
    """The margins of these moves, on hands drawn with the others as they truly are."""
    players = view.players
    network = shipped(players)
    root = Flat(view.round, rng, 1.0, None, network)
    ranked = root.moves_ranked()
    arms = sorted(ranked.index(code) for code in codes)
    story = Story(view.first, view.plies, view.round, network)
    truth = [float(model == table) for model in MODELS]
    for group in range(GROUPS):
        drawn = rng.split(group)
        worlds = story.draw(drawn, GROUP, TRIES, HEATS, STEPS, [truth] * players)
        root.run(arms, group * GROUP, (group + 1) * GROUP, worlds)
    lines = root.lines()
    return {ranked[arm]: lines[arm][4] or 0.0 for arm in arms}


def _judged_round(asked: tuple[tuple[str, ...], str, int, int, int]) -> list[Judged]:
    return judged_round(*asked)


@click.command(help=__doc__)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE...")
@click.option("--players", type=click.IntRange(2, 5), required=True)
@click.option("--table", type=click.Choice(("planner", "greedy", "learned")), default="planner")
@click.option("--rounds", type=click.IntRange(min=2), default=60, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
def main(
    candidates: tuple[str, ...], players: int, table: str, rounds: int, seed: int, workers: int
) -> None:
    asked = [(candidates, table, players, seed, number) for number in range(rounds)]
    found: list[list[Judged]] = []
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for result in pool.imap(_judged_round, asked):
            found.append(result)
            if sys.stderr.isatty():
                print(f"\r{len(found)} of {rounds} rounds", end="", file=sys.stderr, flush=True)
    click.echo(f"{players} players, table of {table}, {rounds} rounds, seed {seed}\n")
    click.echo("| engine | gain on `learned` | on the first | other moves | a move |")
    click.echo("| --- | --- | --- | --- | --- |")
    firsts = [of_round[0].gain for of_round in found]
    for index, spec in enumerate(candidates):
        mine = [of_round[index] for of_round in found]
        moves = sum(each.moves for each in mine)
        on_first = "-"
        if index:
            gains = [each.gain - first for each, first in zip(mine, firsts, strict=True)]
            on_first = told(gains)
        click.echo(
            f"| `{spec}` | {told([each.gain for each in mine])} | {on_first} "
            f"| {sum(each.differ for each in mine) / moves:.0%} "
            f"| {1000 * sum(each.seconds for each in mine) / moves:.0f} ms |"
        )


if __name__ == "__main__":
    main()
