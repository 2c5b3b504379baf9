"""Damage to positions, and to any text: for the long random tests and for the fuzzer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from helpers import vectors

LETTERS = "0123456789Tt.x/-@+f:~SLR moveskipfl\t\n,;'\"_AXé\u0663\uff11\x00\x1f\u2028🂡"


def originals() -> list[str]:
    """Every position of the vectors, those that are refused included."""
    names = ("moves", "perft", "sequences", "good_positions", "lenient_positions", "bad_positions")
    found = [case["position"] for name in names for case in vectors(f"{name}.jsonl")]
    found += [case[key] for case in vectors("views.jsonl") for key in ("position", "full")]
    return sorted(text for text in set(found) if len(text) < 5_000)


def letters(text: str, pick: random.Random) -> str:
    """One letter put in, left out, changed, doubled, or two exchanged."""
    at = pick.randrange(len(text) + 1)
    match pick.randrange(5):
        case 0:
            return text[:at] + pick.choice(LETTERS) + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at] + pick.choice(LETTERS) + text[at + 1 :]
        case 3:
            return text[:at] + text[at : at + 1] + text[at:]
        case _:
            return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def pieces(text: str, pick: random.Random) -> str:
    """A stretch of the text cut out, doubled, or moved."""
    first, last = sorted(pick.randrange(len(text) + 1) for _ in range(2))
    match pick.randrange(3):
        case 0:
            return text[:first] + text[last:]
        case 1:
            return text[:last] + text[first:]
        case _:
            return text[last:] + text[first:last] + text[:first]


def of_fields(
    change: Callable[[list[str], random.Random], None],
) -> Callable[[str, random.Random], str]:
    def changed(text: str, pick: random.Random) -> str:
        words = text.split(" ")
        if len(words) < 6:
            return text
        change(words, pick)
        return " ".join(words)

    return changed


TEXTS = originals()


def other_field(words: list[str], pick: random.Random) -> None:
    """A field as another position has it."""
    other = pick.choice(TEXTS).split(" ")
    at = pick.randrange(len(words))
    words[at] = other[at % len(other)]


def swapped_fields(words: list[str], pick: random.Random) -> None:
    one, two = (pick.randrange(len(words)) for _ in range(2))
    words[one], words[two] = words[two], words[one]


def lost_or_doubled_field(words: list[str], pick: random.Random) -> None:
    at = pick.randrange(len(words))
    words[at : at + 1] = [words[at]] * pick.choice([0, 2])


def number(words: list[str], pick: random.Random) -> None:
    """Some number becomes another."""
    at = pick.choice([1, 2, 3, 4])
    words[at] = re.sub(
        r"\d+",
        lambda _: str(pick.choice([0, 1, 2, 3, 4, 5, 9, 10, 99, 999, 1000])),
        words[at],
        count=1,
    )


def seats(words: list[str], pick: random.Random) -> None:
    """A hand more, a hand less, or hands in another order."""
    hands = words[0].split("/")
    match pick.randrange(3):
        case 0:
            hands.insert(pick.randrange(len(hands) + 1), pick.choice(["-", "x", "x11", hands[0]]))
        case 1 if len(hands) > 1:
            del hands[pick.randrange(len(hands))]
        case _:
            pick.shuffle(hands)
    words[0] = "/".join(hands)


def captured(words: list[str], pick: random.Random) -> None:
    """The active set is captured, or a card of a hand, so that all still adds up."""
    points = words[4].split("/")
    at = pick.randrange(len(points))
    count, _, chips = points[at].partition("+")
    row, _, _ = words[1].partition("@")
    if not count.isdigit():
        return
    if pick.random() < 0.5 and row != "-":
        points[at] = f"{int(count) + row.count('.') + 1}+{chips}"
        words[1] = "-"
    else:
        hands = words[0].split("/")
        seat = pick.randrange(len(hands))
        items = hands[seat].split(".")
        if items[0][:1] == "x":
            return
        gone = items.pop(pick.randrange(len(items)))
        if gone[:1] == "x":
            return
        hands[seat] = ".".join(items) or "-"
        points[at] = f"{int(count) + 1}+{chips}"
        words[0] = "/".join(hands)
    words[4] = "/".join(points)


def a_move_more(words: list[str], pick: random.Random) -> None:
    if "moves" not in words:
        words.append("moves")
    words.append(
        pick.choice(["S1", "S2", "S1-2", "L1", "L1~", "R2", "L1+S1", "R3~+S1-2", "pass", "keep",
                     "flip", "S1:37", "S45", "L46"])
    )  # fmt: skip


def of_cards(text: str, pick: random.Random) -> str:
    """Two cards exchanged, one turned, hidden, or replaced."""
    found = [match.span() for match in re.finditer(r"\b[1-9T]{2}\b", text)]
    if len(found) < 2:
        return text
    (a, b), (c, d) = sorted(pick.sample(found, 2))
    match pick.randrange(4):
        case 0:
            return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        case 1:
            return text[:a] + text[a:b][::-1] + text[b:]
        case 2:
            return text[:a] + "x" + text[b:]
        case _:
            return text[:a] + "".join(pick.sample("123456789T", 2)) + text[b:]


CHANGES: list[Callable[[str, random.Random], str]] = [
    letters, letters, pieces, of_cards, of_cards, of_cards,
    *map(of_fields, (other_field, swapped_fields, lost_or_doubled_field, number, number, seats,
                     captured, captured, a_move_more, a_move_more)),
]  # fmt: skip


def any_word(text: str, pick: random.Random) -> str:
    """Some word of the text (what stands between spaces and punctuation) left out, doubled, or
    in the place of another."""
    found = [match.span() for match in re.finditer(r"[^\s\",:/\[\]{}]+", text)]
    if not found:
        return text
    (a, b), (c, d) = pick.choice(found), pick.choice(found)
    return text[:a] + pick.choice(["", text[a:b] + " " + text[a:b], *[text[c:d]] * 4]) + text[b:]
