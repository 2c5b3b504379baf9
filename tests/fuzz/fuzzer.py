"""Coverage-guided fuzzing with Atheris; see CONTRIBUTING.md.

    python tests/fuzz/fuzzer.py TARGET [what libFuzzer takes: -max_total_time=60, folders, files]

Without folders new inputs go to build/fuzz/TARGET, and tests/fuzz/corpus/TARGET is read. Guided is
it by the library and by the twin, the rules in plain Python: the compiled core shows no branches,
but where the twin takes a new one the core most likely does, too.
"""

from __future__ import annotations

import random
import shlex
import sys
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

with atheris.instrument_imports(include=["bigtop", "twin"]):
    from damage import CHANGES, any_word
    from targets import TARGETS

SLOW_SECONDS = 60
"""An input that takes longer is a fault."""


def changed(data: bytes, most: int, seed: int) -> bytes:
    """The data damaged as a text of ours, or by libFuzzer, which knows nothing of texts."""
    pick = random.Random(seed)
    if pick.random() < 0.5:
        return bytes(atheris.Mutate(data, most))
    text = data.decode("utf-8", "surrogateescape")
    change = any_word if pick.random() < 0.5 else pick.choice(CHANGES)
    return change(text, pick).encode("utf-8", "surrogateescape")[:most]


def main() -> None:
    """Run until something fails, or as long as the options say."""
    target, *words = sys.argv[1:] or [""]
    if target not in TARGETS:
        sys.exit(f"usage: fuzzer.py {'|'.join(TARGETS)} [what libFuzzer takes]")
    found = Path("build") / "fuzz" / target
    found.mkdir(parents=True, exist_ok=True)
    if all(word.startswith("-") for word in words):
        words += [str(found), str(HERE / "corpus" / target)]
    # libFuzzer starts itself anew for some options: a shell gets this first word and the others
    known = [shlex.join([sys.executable, sys.argv[0], target])]
    known += [f"-timeout={SLOW_SECONDS}", f"-artifact_prefix={found}-"]
    atheris.Setup([*known, *words], TARGETS[target], custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
