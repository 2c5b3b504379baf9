"""The learned evaluation, held against the slow one, and the weights that ship."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import slow_evaluation as slow
import twin
from helpers import TABLE_NAMES, TABLES, opening, played, show, sized, tokens

from bigtop.core import ISA, ISAS
from bigtop.core.evaluate import INPUTS_VERSION, Network, inputs_after, rated_moves
from bigtop.core.policy import choose, planner_h, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import (
    FLIP,
    KEEP,
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    Round,
    move_code,
    move_parts,
)  # fmt: skip
from bigtop.weights import FOLDER, WeightsError, read_header, read_weights, shipped, write_weights

POINT = 65536
"""A point in the network's output."""
ROUNDS = sized(4, 1)

tables = pytest.mark.parametrize(("players", "forced"), TABLES, ids=TABLE_NAMES)


def network(players: int, seed: int, first: int = 300, second: int = 1500) -> Network:
    """A network of random weights of about the size that learned ones have."""
    choose_ = random.Random(seed)
    net = np.zeros(1, slow.LAYOUT)

    def fill(name: str, most: int) -> None:
        shape = net[name].shape
        numbers = [choose_.randint(-most, most) for _ in range(net[name].size)]
        net[name] = np.array(numbers).reshape(shape)

    fill("first", first)
    fill("first_bias", first)
    fill("second", second)
    fill("second_bias", second * 100)
    fill("third", second)
    fill("third_bias", second * 100)
    return Network(players, net.tobytes())


def running(players: int, forced: bool, rounds: int = ROUNDS) -> Iterator[Round]:
    """Every position of some rounds that are not over."""
    for seed in range(rounds):
        yield from (round_ for round_ in played(players, seed, forced) if not round_.end)


def some(moves: list[int], most: int, seed: int) -> list[int]:
    return random.Random(seed).sample(moves, min(most, len(moves)))


def over_after(round_: Round, move: int) -> bool:
    after = round_.copy()
    after.play(move)
    return bool(after.end)


def margin(round_: Round, seat: int) -> float:
    points = round_.points()
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


# The inputs -----------------------------------------------------------------------------------


@tables
def test_inputs_are_those_of_the_slow_twin(players: int, forced: bool) -> None:
    seen = set()
    for round_ in running(players, forced):
        for move in some(round_.moves(), 3, round_.made):
            found = sorted(inputs_after(round_, move))
            assert found == slow.numbers_on(round_, move), (show(round_), tokens([move]))
            seen |= {slow.family_of(number) for number in found}
    assert seen == set(slow.FAMILIES) - ({"turn", "chips"} if players > 2 else {"tokens"})


def test_there_are_as_many_inputs_as_the_network_has_room_for() -> None:
    assert sum(slow.FAMILIES.values()) <= slow.INPUTS
    empty = Network(3, bytes(slow.LAYOUT.itemsize))
    assert empty.output([slow.INPUTS - 1]) == 0
    with pytest.raises(ValueError, match="expected inputs from 0 to 1535: 1536"):
        empty.output([slow.INPUTS])
    with pytest.raises(ValueError, match="expected at most 448 inputs: 449"):
        empty.output([0] * 449)


def mirrored(round_: Round, move: int) -> tuple[Round, Round, int]:
    """A round without its past, the same with the acting hand from right to left, and the
    move there."""
    seats = range(round_.players)

    def again(turned: bool) -> Round:
        return Round(
            [
                round_.hand(seat)[:: -1 if turned and seat == round_.turn else 1]
                for seat in seats
            ],
            active=round_.active, owner=round_.owner, turn=round_.turn, start=round_.start,
            tokens=round_.tokens, captured=round_.captured, chips=round_.chips,
            forced_pass=round_.forced_pass, out=round_.out,
        )  # fmt: skip

    kind, end, place, over, first, last = move_parts(move)
    cards = len(round_.hand(round_.turn))
    if kind in (SCOUT, SCOUT_SHOW):
        place = cards - place
        cards += 1
    if kind in (SHOW, SCOUT_SHOW):
        first, last = cards - 1 - last, cards - 1 - first
    turned = move_code(kind, end, place, bool(over), first, last)
    return again(False), again(True), turned


def tie_in_the_peeling(values: list[int]) -> bool:
    """Whether another block than the first one taken was as strong, at some peel."""
    left = list(values)
    while left:
        a, b = slow.peel(left)
        c, d = slow.peel(left[::-1])
        if (a, b) != (len(left) - 1 - d, len(left) - 1 - c):
            return True
        left[a : b + 1] = []
    return False


@tables
def test_a_hand_read_from_right_to_left_has_the_same_inputs(players: int, forced: bool) -> None:
    ties = positions = 0
    for round_ in running(players, forced):
        for move in some(round_.moves(), 2, round_.made):
            one, other, turned = mirrored(round_, move)
            first, second = inputs_after(one, move), inputs_after(other, turned)
            positions += 1
            if tie_in_the_peeling(slow.after(one, move)[1]):
                # the peeling takes the left one of equals: all else must be the same
                ties += 1
                peeling = range(slow.FIRST["peel"], slow.FIRST["pair"])
                first = [number for number in first if number not in peeling]
                second = [number for number in second if number not in peeling]
            assert sorted(first) == sorted(second), (show(one), tokens([move, turned]))
    assert ties < positions / 2


def test_inputs_are_refused_where_there_is_no_move() -> None:
    round_ = opening(3, 1)
    with pytest.raises(ValueError, match="keep or flip"):
        inputs_after(round_, move_code(SHOW))
    with pytest.raises(ValueError, match="expected a known hand of seat 0"):
        inputs_after(round_.view(1), move_code(KEEP))
    *_, last = played(3, 1)
    with pytest.raises(ValueError, match="the round is over"):
        inputs_after(last, move_code(SHOW))


# The network ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), [(300, 1500), (8191, 8000), (20, 20), (32767, 8000), (100, 8000)]
)
def test_the_network_computes_in_whole_numbers(first: int, second: int) -> None:
    for seed in range(sized(4, 2)):
        net = network(2, seed, first, second)
        choose_ = random.Random(seed)
        for size in (0, 1, 2, 30, 90, 300):
            on = [choose_.randrange(slow.INPUTS) for _ in range(size)]
            assert net.output(on) == slow.output(net.weights, on)


@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize("second", [1, -1])
@pytest.mark.parametrize("third", [1, -1])
def test_nothing_overflows_at_the_bounds(first: int, second: int, third: int) -> None:
    # every unit at its cap, every weight at its bound: the largest sums there can be
    net = np.zeros(1, slow.LAYOUT)
    net["first"] = 2047 * first
    net["second"] = slow.MOST * second
    net["second_bias"] = slow.MOST_BIAS * second
    net["third"] = slow.MOST * third
    net["third_bias"] = slow.MOST_BIAS * third
    weights = net.tobytes()
    for on in ([], [5], [5, 6]):
        assert Network(4, weights).output(on) == slow.output(weights, on)
    most = slow.CAP2 * slow.MOST * slow.NARROW + slow.MOST_BIAS
    if first == second == 1:
        assert Network(4, weights).output([5]) == third * most


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("second", slow.MOST + 1),
        ("second", -slow.MOST - 1),
        ("third", slow.MOST + 1),
        ("second_bias", slow.MOST_BIAS + 1),
        ("third_bias", -slow.MOST_BIAS - 1),
    ],
)
def test_weights_that_could_overflow_are_refused(name: str, value: int) -> None:
    net = np.zeros(1, slow.LAYOUT)
    net[name].reshape(-1)[-1] = value
    with pytest.raises(ValueError, match="within the bounds of the network's arithmetic"):
        Network(2, net.tobytes())


@pytest.mark.parametrize("players", [0, 1, 6])
def test_no_network_for_other_tables(players: int) -> None:
    with pytest.raises(ValueError, match=f"expected 2 to 5 players: {players}"):
        Network(players, bytes(slow.LAYOUT.itemsize))


def test_a_network_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=f"expected {slow.LAYOUT.itemsize} bytes of weights: 3"):
        Network(2, b"abc")


def test_a_network_is_its_bytes() -> None:
    net = network(5, 1)
    again = pickle.loads(pickle.dumps(net))
    assert (again.players, again.weights) == (5, net.weights)


# The values of moves --------------------------------------------------------------------------


@tables
def test_a_value_is_the_margin_and_what_the_network_adds(players: int, forced: bool) -> None:
    net = network(players, players)
    over = 0
    for round_ in running(players, forced):
        for move, value in rated_moves(round_, net):
            seat = round_.turn
            after, values = slow.after(round_, move)
            points = margin(after, seat)
            assert len(values) == len(after.hand(seat))
            if after.end:
                over += 1
                assert value == pytest.approx(points, abs=1e-9)
            else:
                more = net.output(inputs_after(round_, move)) / POINT
                assert value == pytest.approx(points + more, abs=1e-9), show(round_)
    assert over


@tables
def test_the_moves_looked_at(players: int, forced: bool) -> None:
    net = network(players, 1)
    kinds = set()
    for round_ in running(players, forced):
        legal = round_.moves()
        looked = [move for move, _ in rated_moves(round_, net)]
        assert len(looked) == len(set(looked))
        assert set(looked) <= set(legal)
        by_kind = {
            kind: [move for move in legal if move_parts(move).kind == kind] for kind in range(6)
        }
        kinds |= {kind for kind in by_kind if by_kind[kind]}
        for kind in (SHOW, PASS, KEEP, FLIP):
            assert set(by_kind[kind]) <= set(looked)
        if round_.start >= 0:
            continue
        planner = dict(planner_values(round_, 0.0))
        hand = round_.hand(round_.turn)
        # what a scouted card is worth that joins nothing and parts nothing
        idle = planner_h(hand) / 4 - (len(hand) + 1)
        for kind, most in ((SCOUT, 12), (SCOUT_SHOW, 10)):
            found = [planner[move] for move in looked if move_parts(move).kind == kind]
            left = [planner[move] for move in by_kind[kind] if move not in looked]
            assert len(found) <= most
            assert not left or found
            if left and kind == SCOUT:
                assert max(left) <= max(idle, min(found) if len(found) == most else idle)
            elif left:
                assert len(found) == most
                assert max(left) <= min(found)
    assert kinds == ({SHOW, SCOUT, PASS, KEEP, FLIP} if players == 2 else
                     {SHOW, SCOUT, SCOUT_SHOW, KEEP, FLIP})  # fmt: skip


@tables
def test_the_learned_player_plays_the_best(players: int, forced: bool) -> None:
    # without weights many moves are worth the same: then the first in canonical order
    nets = [network(players, 2), Network(players, bytes(slow.LAYOUT.itemsize))]
    ties = 0
    for round_ in running(players, forced):
        for net in nets:
            rated = rated_moves(round_, net)
            best = max(value for _, value in rated)
            equals = [move for move, value in rated if value == best]
            ties += len(equals) > 1
            rng = Rng(1)
            assert choose(round_, net, rng) == min(equals)
            assert rng == Rng(1)
    assert ties


def with_other_cards(view: Round, seed: int) -> Round:
    """A view with hidden cards filled in, drawn from all that could be there."""
    players = range(view.players)
    rows = [view.hand(seat) for seat in players]
    known = {
        twin.plain((card >> 4, card & 15))
        for row in [*rows, view.active, view.out]
        for card in row
        if card
    }
    left = sorted(set(twin.deck(view.players)) - known)
    choose_ = random.Random(seed)
    choose_.shuffle(left)
    filled = view.copy()
    for seat in players:
        for place, card in enumerate(rows[seat]):
            if not card:
                a, b = choose_.sample(left.pop(), 2)
                filled.reveal(seat, place, bytes([a << 4 | b]))
    return filled


@tables
def test_nothing_hidden_is_looked_at(players: int, forced: bool) -> None:
    net = network(players, 3)
    seats, known = set(), False
    for round_ in running(players, forced):
        seats.add((round_.turn, round_.start >= 0))
        view = round_.view(round_.turn)
        rated = rated_moves(round_, net)
        assert rated_moves(view, net) == rated
        other = with_other_cards(view, round_.made)
        assert rated_moves(other, net) == rated
        known |= any(round_.scouted(seat) for seat in range(players) if seat != round_.turn)
        move = rated[0][0]
        assert inputs_after(other, move) == inputs_after(round_, move)
    assert known
    assert seats == {(seat, flip) for seat in range(players) for flip in (False, True)}


def test_a_network_for_another_number_of_players_is_refused() -> None:
    for asked in (rated_moves, lambda round_, net: choose(round_, net, Rng(1))):
        with pytest.raises(ValueError, match="expected a network for 4 players: it is for 3"):
            asked(opening(4, 1), network(3, 1))


def test_values_are_refused_where_there_is_no_move() -> None:
    *_, last = played(3, 1)
    with pytest.raises(ValueError, match="the round is over"):
        rated_moves(last, network(3, 1))
    with pytest.raises(ValueError, match="expected a known hand of seat 0"):
        rated_moves(opening(3, 1).view(1), network(3, 1))


# The same on every build ----------------------------------------------------------------------

VALUES = "807d6422a619a8af"
"""Of the values of moves by networks of random weights. It moves with the meaning of the inputs
(then `INPUTS_VERSION` must), not with the weights that ship."""


def digest() -> str:
    """What the evaluation says of some positions, as one text."""
    found = hashlib.sha256()
    for players, forced in TABLES:
        net = network(players, 4)
        for round_ in running(players, forced, 1):
            for move, value in rated_moves(round_, net):
                whole = round(value * (players - 1) * POINT)
                found.update(b"%d %d\n" % (move, whole))
    return found.hexdigest()[:16]


@pytest.mark.parametrize("isa", ISAS)
def test_every_build_computes_the_same(isa: str) -> None:
    if isa == ISA:
        assert digest() == VALUES
        return
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_evaluate as t; print(t.digest())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env=os.environ | {"BIGTOP_ISA": isa},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert ran.stdout == f"{VALUES}\n"


# Weights in files -----------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_weights_that_ship(players: int) -> None:
    file = FOLDER / f"players{players}.weights"
    assert file.stat().st_size <= 2_000_000
    header, numbers = read_header(file, file.read_bytes())
    assert (header["players"], header["inputs"]) == (players, INPUTS_VERSION)
    net = shipped(players)
    assert net is shipped(players)
    assert (net.players, net.weights) == (players, numbers)
    made = header["made"]
    assert isinstance(made, dict)
    assert made["players"] == players
    assert {"seed", "rounds", "samples", "seconds", "curve"} <= set(made)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_sums_of_the_first_layer_stay_far_from_going_round(players: int) -> None:
    weights = shipped(players).weights
    for round_ in running(players, False, sized(2, 1)):
        for move in some(round_.moves(), 2, round_.made):
            sums = slow.first_sums(weights, slow.numbers_on(round_, move))
            assert np.abs(sums).max() < 1 << 14


def test_weights_come_back_from_their_file(tmp_path: Path) -> None:
    file = tmp_path / "some.weights"
    net = network(4, 1)
    write_weights(file, net, {"seed": 7})
    again = read_weights(file)
    assert (again.players, again.weights) == (4, net.weights)
    assert json.loads(file.read_bytes().partition(b"\n")[0])["made"] == {"seed": 7}
    assert [entry.name for entry in tmp_path.iterdir()] == ["some.weights"]


def changed(content: bytes, **keys: object) -> bytes:
    """A file of weights with other words in its first line."""
    line, newline, numbers = content.partition(b"\n")
    return json.dumps(json.loads(line) | keys).encode() + newline + numbers


def bad_weights() -> dict[str, tuple[bytes, str]]:
    """Files that are refused, and the message."""
    good = (FOLDER / "players3.weights").read_bytes()
    at = good.index(b"\n")
    numbers = good[at + 1 :]
    short = numbers[:-2]
    loud = bytearray(numbers)
    third = slow.LAYOUT.fields["third"][1]  # type: ignore[index]
    loud[third : third + 2] = (30000).to_bytes(2, "little")
    damaged = "damaged: its numbers do not give the SHA-256 in its first line"
    return {
        "empty": (b"", "expected a file of weights"),
        "cut in the first line": (good[: at - 5], "expected a file of weights"),
        "cut": (good[:-1], damaged),
        "longer": (good + b"\0", damaged),
        "one bit": (good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], damaged),
        "no JSON": (b"{]\n" + numbers, "expected a file of weights"),
        "a list": (b"[]\n" + numbers, "expected a file of weights"),
        "not UTF-8": (b'{"\xff"}\n' + numbers, "expected a file of weights"),
        "another format": (changed(good, **{"bigtop-weights": 2}), "expected a file of weights"),
        "other inputs": (
            changed(good, inputs=INPUTS_VERSION + 1),
            f"expected weights for version {INPUTS_VERSION} of the inputs, these are for "
            f"{INPUTS_VERSION + 1}",
        ),
        "no checksum": (changed(good, sha256=None), damaged),
        "no players": (changed(good, players=None), "expected 2 to 5 players: 0"),
        "many players": (changed(good, players=6), "expected 2 to 5 players: 6"),
        "too short": (
            changed(good[: at + 1], sha256=hashlib.sha256(short).hexdigest()) + short,
            "bytes of weights",
        ),
        "too large": (
            changed(good[: at + 1], sha256=hashlib.sha256(loud).hexdigest()) + bytes(loud),
            "within the bounds of the network's arithmetic",
        ),
    }


@pytest.mark.parametrize("name", bad_weights())
def test_bad_weights_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, message = bad_weights()[name]
    file = tmp_path / "bad.weights"
    file.write_bytes(content)
    with pytest.raises(WeightsError) as caught:
        read_weights(file)
    assert message in str(caught.value)
    assert str(caught.value).endswith(f": {file}")
    assert "\n" not in str(caught.value)


class Trap:
    """Says so when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    file, sprung = tmp_path / "trap.weights", tmp_path / "sprung"
    file.write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(WeightsError, match="expected a file of weights"):
        read_weights(file)
    assert not sprung.exists()
    pickle.loads(file.read_bytes())
    assert sprung.exists()
