"""What the fuzzer feeds: any bytes, one function for each kind of input, judged by `oracles`.

`tests/test_corpus.py` feeds the corpus to the same functions; neither needs the fuzzer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from helpers import opening
from oracles import Table, assert_answered, assert_conversation, assert_records, assert_told

from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import Round
from bigtop.engines import make_engine
from bigtop.notation import Position

ENGINE: Final = make_engine("bigtop", sims=4)
MOST_WORDS: Final = 300
"""Words of an input of `moves` that are obeyed, so that none takes long."""


def position(data: bytes) -> None:
    """The text of a position, as a shell would give it."""
    assert_answered(data.decode("utf-8", "surrogateescape"), ENGINE, 1)


def moves(data: bytes) -> None:
    """A table in the first line, and words that say what happens on it.

    The table is `PLAYERS SEED` (a deal; `2f` is the edition with the forced pass) or the text of a
    position. `17` plays that legal move (modulo their number), `a17` that one of all tokens, `r` a
    random one; `#17` tries a code, `v3` looks with the eyes of a seat, `w` goes on in a world that
    the acting seat imagines, `c` with a copy. Any other word is tried as the token of a move.
    """
    first, _, rest = data.decode("latin-1").partition("\n")
    round_ = _round(first)
    if round_ is None:
        return
    table = Table(round_, 1)
    table.assert_holds()
    for word in rest.split()[:MOST_WORDS]:
        _obey(table, word)
        table.assert_holds()


def _round(text: str) -> Round | None:
    words = text.split()
    if len(words) <= 2:
        table, seed = (*words, "", "")[:2]
        players = int(table) if table in ("3", "4", "5") else 2
        return opening(players, _number(seed), table == "2f")
    try:
        found = Position.parse(text).round
        full = Belief(found).sample(Rng(1))
    except ValueError:
        return None
    # With cards in no place that is known, what the oracles add up does not add up.
    return full if len(full.out) == sum(full.captured) and full.end != "ii" else None


def _number(text: str) -> int:
    return int(text[:9]) if text.isascii() and text.isdecimal() else 0


def _obey(table: Table, word: str) -> None:
    number = _number(word.lstrip("a#v"))
    over = bool(table.round.end)
    if word[0] == "#":
        table.try_code(number)
    elif word[0] == "v":
        table.look(number % table.round.players)
    elif word == "c":
        table.go_on_with_a_copy()
    elif word == "w" and not over:
        table.imagine()
    elif word == "r" and not over:
        table.play_at_random()
    elif word[0] == "a" and not over:
        table.play_another_with_the_same_outcome(number)
    elif word[0] in "0123456789" and not over:
        legal = table.round.moves()
        table.play(legal[number % len(legal)])
    elif not over or table.round.end == "i":  # no text tells the others without their last move
        table.try_token(word)


def record(data: bytes) -> None:
    """Lines of a file of game records."""
    assert_records(data)


def protocol(data: bytes) -> None:
    """What a host says to `bigtop engine`; each line is also what an engine says to a host."""
    for line in data.decode("utf-8", "backslashreplace").split("\n"):
        assert_told(line)
    assert_conversation(data)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "position": position,
    "moves": moves,
    "record": record,
    "protocol": protocol,
}
