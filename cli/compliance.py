"""`bigtop compliance`: checks a program that speaks the engine protocol, step by step."""

from __future__ import annotations

import click

from bigtop.cli.common import (
    STATUS_FAILED,
    BadInput,
    color_option,
    count,
    json_option,
    print_answer,
)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@json_option
@color_option
@click.argument("command", nargs=-1, required=True, metavar="CMD", type=click.UNPROCESSED)
def compliance(command: tuple[str, ...], as_json: bool, color: bool) -> None:
    """Checks step by step whether a program speaks the engine protocol.

    CMD is the program with its arguments, as several words or as one in quotes; no shell reads
    it. Options of this command come before it. The protocol is described in docs/PROTOCOL.md of
    the sources. Exit status 1 when a step failed.

    \b
    Examples:
      bigtop compliance bigtop engine --engine planner
      bigtop compliance --json "bigtop engine --engine ismcts:sims=100"

    \b
    JSON: command: [word, ...], protocol (version), passed, failed (numbers of steps),
    steps: [{step, expected, ok, found}] (found: what it did instead, or what is worth knowing).
    """
    import shlex

    from bigtop.compliance import check_program
    from bigtop.protocol import VERSION

    words = list(command)
    if len(words) == 1:
        try:
            words = shlex.split(words[0].removeprefix("cmd:"))
        except ValueError as wrong:
            raise BadInput(f"CMD: {str(wrong).lower()}: {command[0]!r}") from None
    if not words:
        raise BadInput("expected CMD, a program and its arguments, got nothing")
    steps = []
    for step in check_program(words):
        steps.append(step)
        if not as_json:
            state = "ok    " if step.ok else "FAILED"
            if color:
                state = click.style(state, fg="green" if step.ok else "red", bold=not step.ok)
            line = f"{state}  {step.name}: {step.expected}"
            print_answer(f"{line} ({step.found})" if step.ok and step.found else line)
            if not step.ok:
                print_answer(f"        {step.found}")
    failed = sum(not step.ok for step in steps)
    if as_json:
        print_answer(
            {
                "command": words,
                "protocol": VERSION,
                "passed": len(steps) - failed,
                "failed": failed,
                "steps": [
                    {"step": s.name, "expected": s.expected, "ok": s.ok, "found": s.found}
                    for s in steps
                ],
            }
        )
    else:
        print_answer(f"{count(len(steps), 'step')}, {failed or 'none'} failed")
    if failed:
        click.get_current_context().exit(STATUS_FAILED)
