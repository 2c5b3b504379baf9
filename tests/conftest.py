"""Lets the tests import their helpers (``import twin``) in every import mode of pytest."""

import sys
from pathlib import Path

TESTS = str(Path(__file__).resolve().parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)
