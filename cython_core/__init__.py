"""The compiled core of Bigtop.

The modules here are built several times, once for each level of the x86-64 instruction
set (`v3`: AVX2 and BMI2; `v4`: AVX-512), and the best that the machine has is loaded.
`BIGTOP_ISA=v1`, `v3` or `v4` in the environment forces one. All of them give the same
answers. `ISA` says which one is in use, `ISAS` which ones this machine can load, the best
first; "native" and "checked" are builds of their own.
"""

import os
from pathlib import Path

from .cpu import flavour, level

HERE = Path(__file__).parent


def _usable() -> tuple[str, ...]:
    """The builds that are here and that this machine can run, the best first."""
    if flavour():
        return (flavour(),)
    wide = [f"v{n}" for n in (4, 3) if n <= level() and (HERE / f"v{n}").is_dir()]
    return (*wide, "v1")


def _choose() -> str:
    """Put the folder of the chosen build first on this package's path; return its name."""
    choice = os.environ.get("BIGTOP_ISA") or ISAS[0]
    if choice not in ISAS:
        raise ImportError(f"BIGTOP_ISA: expected {' or '.join(ISAS)}: {choice!r}")
    if (HERE / choice).is_dir():
        __path__.insert(0, str(HERE / choice))
    return choice


ISAS: tuple[str, ...] = _usable()
ISA: str = _choose()
