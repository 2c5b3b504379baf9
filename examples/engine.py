#!/usr/bin/env python3
"""A whole engine for Bigtop, as docs/PROTOCOL.md has it: it shows its strongest set, or scouts."""

import sys
from itertools import pairwise

NUMBER = {digit: number for number, digit in enumerate("123456789T", 1)}


def strength(numbers):
    """What a set is worth, so that the higher beats the lower; None when it is no set."""
    steps = {after - before for before, after in pairwise(numbers)}
    if len(steps) > 1 or not steps <= {-1, 0, 1}:
        return None
    return len(numbers), steps <= {0}, min(numbers)  # equal numbers beat a run


def active_numbers(row):
    """The active numbers of a row of cards such as 37.T2.19."""
    return [NUMBER[card[0]] for card in row.split(".")]


def choose(position):
    """A legal move for the seat to act."""
    seats, active, turn, _, points, *_ = position.split(" ")
    if "f" in turn:
        return "keep"
    hand = active_numbers(seats.split("/")[int(turn)])
    beaten = (0,) if active == "-" else strength(active_numbers(active.split("@")[0]))
    blocks = ((first, last) for first in range(len(hand)) for last in range(first, len(hand)))
    sets = [(strength(hand[a : b + 1]), a + 1, b + 1) for a, b in blocks]
    best, first, last = max(found for found in sets if found[0])
    if best > beaten:
        return f"S{first}" if first == last else f"S{first}-{last}"
    chips = points.split("/")[int(turn)].split("+")[1]
    return "pass" if len(seats.split("/")) == 2 and chips == "0" else "L1"


position = ""
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "bep":
        print("id name Strongest set\nid author the Bigtop contributors\nbepok 1", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "now":
        position = rest
    elif word == "go":
        print("bestmove", choose(position), flush=True)
    elif word == "quit":
        break
