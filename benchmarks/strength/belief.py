"""How well the belief foretells what moves are worth on the true cards.

    python benchmarks/strength/belief.py --players 3 --rounds 100

Rounds are played with `learned` in one seat and players of one kind in the others. Wherever that
seat moves, its best few moves are played out on the true cards, with the others as they truly are,
and on hands drawn by each kind of belief, which sees the seat's view only. What counts is by how
much a move is better than the mean of these moves: *left* is the mean square of what the belief
did not foretell of that, its own noise of so many hands included, and *explained* the share that it
did. A belief that knows nothing more than the cards' backs leaves most of it: SCOUT is mostly luck.

Prints a Markdown table; ± is half of the 95% interval over rounds, of the difference to the first
line. Times are CPU milliseconds for drawing and playing out.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import click

from bigtop.core.chain import PRIOR, Story
from bigtop.core.flat import Flat
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import GROUP, HEATS, MODELS, STEPS, TRIES
from bigtop.notation import Position
from bigtop.players import shown_to
from bigtop.weights import shipped

MOVES = 6
"""How many of the evaluation's best are compared."""
# streams of a study's generator
DEALS, OTHERS, DRAWS = 1, 2, 3


@dataclass(frozen=True)
class Kind:
    """A way to draw hands.

    Attributes:
        told: whether it is told what kind of players the others are.
    """

    name: str
    tries: int
    heats: tuple[float, ...]
    steps: int
    told: bool = False


KINDS = (
    Kind("bigtop's", TRIES, HEATS, STEPS),
    Kind("no walk", TRIES, (1.0,), 0),
    Kind("one stage, as many steps", TRIES, (1.0,), len(HEATS) * STEPS),
    Kind("longer: 6 stages of 40 steps, 8 tries", 8, (0.05, 0.1, 0.2, 0.4, 0.7, 1.0), 40),
    Kind("told who the others are", TRIES, HEATS, STEPS, told=True),
    Kind("told, and longer", 8, (0.05, 0.1, 0.2, 0.4, 0.7, 1.0), 40, told=True),
)


@click.command(help=__doc__)
@click.option("--players", type=click.IntRange(2, 5), required=True)
@click.option("--table", type=click.Choice(("planner", "greedy", "learned")), default="planner")
@click.option("--rounds", type=click.IntRange(min=2), default=100, show_default=True)
@click.option("--hands", type=click.IntRange(min=50), default=200, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
def main(players: int, table: str, rounds: int, hands: int, seed: int) -> None:
    network = shipped(players)
    policy = network if table == "learned" else table
    truth = [[float(model == table) for model in MODELS]] * players
    found: list[list[list[float]]] = []  # by round, by kind: what was left at each decision
    whole: list[float] = []
    seconds = [0.0] * len(KINDS)
    for number in range(rounds):
        position = Position.from_round(deal(players, Rng(seed).split(DEALS, number)))
        found.append([[] for _ in KINDS])
        ply = 0
        while not position.is_over:
            ply += 1
            rng = Rng(seed).split(OTHERS, number).split(ply)
            round_, seat = position.round, number % players
            if round_.turn == seat and not position.flipping:
                view = shown_to(position)
                drawn = Rng(seed).split(DRAWS, number).split(ply)
                true = Flat(round_, drawn, 1.0, None, network)
                arms = list(range(min(true.rated, MOVES)))
                if len(arms) > 1:
                    story = Story(position.first, position.plies, round_, network)
                    true.run(arms, 0, 1, story.draw(drawn, 1, 1, (1.0,), 0, truth))
                    worth = apart(true, arms)
                    whole.append(statistics.fmean(value * value for value in worth))
                    for index, kind in enumerate(KINDS):
                        began = time.process_time()
                        guess = apart(foretold(view, kind, truth, hands, drawn), arms)
                        seconds[index] += time.process_time() - began
                        found[-1][index].append(
                            statistics.fmean(
                                (a - b) ** 2 for a, b in zip(worth, guess, strict=True)
                            )
                        )
            code = choose(round_, network if round_.turn == seat else policy, rng)
            position = position.play(position.token(code))
    click.echo(
        f"{players} players, table of {table}, {rounds} rounds, seed {seed}, {hands} hands\n"
    )
    click.echo("| belief | left | explained | left, on the first | ms a decision |")
    click.echo("| --- | --- | --- | --- | --- |")
    total = statistics.fmean(whole)
    for index, kind in enumerate(KINDS):
        left = statistics.fmean(value for of_round in found for value in of_round[index])
        mean = len(whole) / rounds  # decisions of a round
        gains = [(sum(of_round[index]) - sum(of_round[0])) / mean for of_round in found]
        reach = 1.96 * statistics.stdev(gains) / rounds**0.5
        on_first = f"{statistics.fmean(gains):+.2f} ± {reach:.2f}" if index else "-"
        click.echo(
            f"| {kind.name} | {left:.2f} of {total:.2f} | {1 - left / total:.1%} "
            f"| {on_first} | {1000 * seconds[index] / len(whole):.0f} |"
        )


def foretold(view: Position, kind: Kind, truth: list[list[float]], hands: int, rng: Rng) -> Flat:
    """The moves played out on hands that a belief has drawn."""
    network = shipped(view.players)
    root = Flat(view.round, rng, 1.0, None, network)
    arms = list(range(min(root.rated, MOVES)))
    story = Story(view.first, view.plies, view.round, network)
    prior = truth if kind.told else [PRIOR] * view.players
    for first in range(0, hands, GROUP):
        count = min(GROUP, hands - first)
        drawn = rng.split(first)
        worlds = story.draw(drawn, count, kind.tries, kind.heats, kind.steps, prior)
        root.run(arms, first, first + count, worlds)
    return root


def apart(root: Flat, arms: list[int]) -> list[float]:
    """By how much the margin of each move is above their mean."""
    lines = root.lines()
    margins = [lines[arm][4] or 0.0 for arm in arms]
    mean = statistics.fmean(margins)
    return [margin - mean for margin in margins]


if __name__ == "__main__":
    main()
