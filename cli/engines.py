"""`bigtop engines`: who can be asked for a move."""

from __future__ import annotations

import click

from bigtop.cli.common import color_option, json_option, print_answer


@click.command()
@json_option
@color_option
def engines(as_json: bool, color: bool) -> None:
    """Lists the engines, what they play, and their options with the defaults.

    An engine is named by its name, then :key=value,... for options that shall differ.

    \b
    Examples:
      bigtop engines
      bigtop hint "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14" --engine flat:sims=500

    JSON: engines: [{name, plays, options: [{name, default, help}]}].
    """
    from bigtop.engines import ENGINES

    if as_json:
        listed = [
            {
                "name": info.name,
                "plays": info.plays,
                "options": [
                    {"name": option.name, "default": option.default, "help": option.help}
                    for option in info.options
                ],
            }
            for info in ENGINES.values()
        ]
        print_answer({"engines": listed})
        return
    from textwrap import fill

    out = []
    for info in ENGINES.values():
        out.append(click.style(info.name, bold=True) if color else info.name)
        out.append(fill(info.plays, 80, initial_indent="  ", subsequent_indent="  "))
        for option in info.options:
            head = f"{option.name}={option.default}"
            text = f"    {head:<16} {option.help}"
            out.append(fill(text, 80, subsequent_indent=" " * 21))
    print_answer("\n".join(out))
