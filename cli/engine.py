"""`bigtop engine`: speaks the engine protocol on standard input and output."""

from __future__ import annotations

import click

from bigtop.cli.common import (
    BadInput,
    engine_option,
    memory_option,
    sims_option,
    threads_option,
    time_option,
)


@click.command()
@engine_option
@sims_option
@time_option
@threads_option
@memory_option
def engine(engine: str, sims: int | None, time: float | None, threads: int, memory: int) -> None:
    """Speaks the engine protocol on standard input and output, for other programs.

    The protocol is described in docs/PROTOCOL.md of the sources. The budget given here holds
    when the host gives none.

    \b
    Examples:
      bigtop engine --engine planner <<< "bep 1"
      bigtop compliance bigtop engine --engine ismcts:sims=200
    """
    from bigtop.engines import EngineSpecError, make_engine
    from bigtop.protocol import EngineBrain, serve

    try:
        chosen = make_engine(engine, sims=sims, time=time)
    except EngineSpecError as error:
        raise BadInput(str(error)) from error
    serve(EngineBrain(chosen, threads, memory))
