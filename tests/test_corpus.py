"""What the fuzzer has collected, fed once to the same functions, without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from targets import TARGETS

CORPUS = Path(__file__).resolve().parent / "fuzz" / "corpus"


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_holds(target: str) -> None:
    inputs = sorted((CORPUS / target).iterdir())
    assert len(inputs) > 20
    for file in inputs:
        try:
            TARGETS[target](file.read_bytes())
        except Exception as wrong:
            wrong.add_note(f"input: {file}")
            raise
