"""`bigtop deal`: a fresh position."""

from __future__ import annotations

import click

from bigtop.cli.common import (
    color_option,
    drawn_seed,
    json_option,
    players_option,
    print_answer,
    seed_option,
)


@click.command()
@players_option
@click.option(
    "--view",
    type=int,
    metavar="SEAT",
    help="As this seat sees it, with its own flip still to be chosen.",
)
@click.option("--forced-pass", is_flag=True, help="Two players: only a forced pass is allowed.")
@seed_option
@json_option
@color_option
def deal(
    players: int,
    view: int | None,
    forced_pass: bool,
    seed: int | None,
    as_json: bool,
    color: bool,
) -> None:
    """A fresh position in the flip phase; the holder of 1/2 starts (two players, nobody: seat 0).

    Without --view it is the full position, and seat 0 chooses first whether to flip.

    \b
    Examples:
      bigtop deal --players 3 --seed 7
      bigtop deal --players 5 --view 2 --json

    JSON: position, seed.
    """
    from bigtop.core.rng import Rng
    from bigtop.core.state import Round
    from bigtop.core.state import deal as deal_cards
    from bigtop.notation import Position

    if forced_pass and players != 2:
        raise click.BadParameter(
            f"expected two players, got {players}.", param_hint="'--forced-pass'"
        )
    if view is not None and not 0 <= view < players:
        raise click.BadParameter(
            f"expected a seat from 0 to {players - 1}, got {view}.", param_hint="'--view'"
        )
    if seed is None:
        seed = drawn_seed()
    dealt = deal_cards(players, Rng(seed))
    # Nobody's choice may use another's, so for a view the seats before it count as having kept.
    table = Round(
        [dealt.hand(seat) for seat in range(players)],
        turn=view or 0,
        start=dealt.start,
        tokens=dealt.tokens,
        chips=dealt.chips,
        forced_pass=forced_pass,
    )
    text = str(Position.from_round(table if view is None else table.view(view)))
    print_answer({"position": text, "seed": seed} if as_json else text)
