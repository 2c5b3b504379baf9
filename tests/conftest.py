"""Lets the tests import their helpers (``import twin``) in every import mode of pytest."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
for folder in (str(TESTS), str(TESTS / "fuzz")):
    if folder not in sys.path:
        sys.path.insert(0, folder)
