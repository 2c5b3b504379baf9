"""`bigtop train`: trains the evaluation that `learned` and `bigtop` use."""

from __future__ import annotations

import math
import sys
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bigtop.cli.common import (
    STATUS_INTERRUPTED,
    BadInput,
    Failure,
    complain,
    drawn_seed,
    json_option,
    print_answer,
    seed_option,
)
from bigtop.cli.running import command_again, cores

if TYPE_CHECKING:
    from bigtop.training import Training


@click.command()
@click.argument("file", type=click.Path(dir_okay=False), metavar="FILE")
@click.option(
    "--players", type=click.IntRange(2, 5), required=True, metavar="N", help="Players, 2 to 5."
)
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    metavar="M",
    help="Train for about so long: the first laps tell how many rounds that makes.",
)
@click.option(
    "--rounds", type=click.IntRange(min=1), metavar="N", help="Train for so many rounds instead."
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Threads that play, beside the one that learns.  [default: the cores there are]",
)
@seed_option
@json_option
def train(
    file: str,
    players: int,
    minutes: float | None,
    rounds: int | None,
    threads: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Trains the learned evaluation by self-play and writes its weights to FILE.

    A checkpoint beside it, FILE.checkpoint, is written every minute and when the training ends
    or is interrupted; the same command goes on from it, to the same weights as if it had never
    stopped. Forty times on the way the strength is measured, one move deep, in one seat against a
    table of planners.

    \b
    Example:
      bigtop train --players 2 --rounds 1000 --seed 1 two.weights

    \b
    JSON: players, seed, rounds, samples, seconds, plan, and curve: a list of rounds, samples,
    seconds, margin, margin_se (points a round), win (share).
    """
    from bigtop.training import Plan, begin, finish, load, save
    from bigtop.training import train as laps
    from bigtop.weights import WeightsError

    if (minutes is None) == (rounds is None):
        raise BadInput("expected --minutes or --rounds, one of the two")
    if minutes is not None and not math.isfinite(minutes):
        raise BadInput(f"expected a number of minutes: {minutes}")
    checkpoint = Path(f"{file}.checkpoint")
    try:
        training = load(checkpoint) if checkpoint.exists() else None
        if seed is None:
            seed = training.plan.seed if training else drawn_seed()
        asked = Plan(players, seed, rounds or 0, minutes or 0.0)
        if training is None:
            training = begin(asked)
            save(training, checkpoint)  # before any work: can it be written?
        elif training.plan != asked:
            raise BadInput(f"{checkpoint}: {_difference(asdict(asked), asdict(training.plan))}")
        try:
            with closing(laps(training, threads or cores(), checkpoint)) as states:
                for state in states:
                    _tell(state)
        except KeyboardInterrupt:
            _clear()
            share = f"{100 * training.progress:.0f}%" if training.rounds else "begun"
            complain(f"interrupted ({share}); to go on: {command_again(seed)}")
            raise click.exceptions.Exit(STATUS_INTERRUPTED) from None
        _clear()
        finish(training, Path(file))
    except WeightsError as error:
        raise BadInput(str(error)) from error
    except OSError as error:
        raise Failure(f"{error.strerror or error}: {error.filename or file}") from error
    last = training.curve[-1]
    if as_json:
        print_answer(
            {
                "players": players,
                "seed": training.plan.seed,
                "rounds": training.rounds,
                "samples": training.samples,
                "seconds": training.seconds,
                "plan": asdict(training.plan),
                "curve": training.curve,
            }
        )
        return
    click.echo(
        f"{training.rounds} rounds, {training.samples} positions, {training.seconds:.0f} s: "
        f"{last['margin']:+.2f} +- {1.96 * last['margin_se']:.2f} points a round against planners, "
        f"{100 * last['win']:.0f}% wins ({file})"
    )


def _difference(asked: dict[str, object], found: dict[str, object]) -> str:
    key = next(key for key in asked if asked[key] != found[key])
    return f"expected a checkpoint of this training: {key} is {found[key]}, not {asked[key]}"


_last = 0.0


def _tell(training: Training) -> None:
    """The progress line, not too often."""
    global _last
    if sys.stderr is None or not sys.stderr.isatty() or time.monotonic() - _last < 0.5:
        return
    _last = time.monotonic()
    text = f"{training.laps * training.plan.lap} rounds, {training.samples / 1e6:.1f} M positions"
    if training.rounds:
        left = training.seconds / training.progress - training.seconds
        text += f", {100 * training.progress:.0f}%, {left:.0f} s left"
    if training.curve:
        last = training.curve[-1]
        text += (
            f", {last['margin']:+.2f} +- {1.96 * last['margin_se']:.2f} against planners, "
            f"{100 * last['win']:.0f}% wins"
        )
    click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def _clear() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
