"""Engines by name: what each plays, its options, and how it answers a position.

An engine is named by a spec, a name and then `:key=value,…`; `make_engine` reads it. What
an engine is given is a position as its own seat sees it; it never looks at more.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bigtop.core.policy import choose, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import Round
from bigtop.notation import format_move

if TYPE_CHECKING:
    from bigtop.core.chain import Worlds
    from bigtop.core.flat import Flat
    from bigtop.core.ismcts import Ismcts
    from bigtop.core.search import Root
    from bigtop.notation import Position

DEFAULT_SIMS = 10_000
MEGABYTE = 1 << 20
CHUNK_SIMS = 256  # simulations between two looks at the clock and at interrupts
TIMED_CHUNK_SIMS = 16  # the same under a time budget: well below a millisecond each
HALVING_PLAYOUTS = 4  # at least so many of each move in flat's first phase


class EngineSpecError(ValueError):
    """A spec that names no engine, or an option that the engine does not have."""


@dataclass(frozen=True)
class Line:
    """One move with what the engine found out about it.

    Numbers are None where an engine has none (a player that decides at once, or a move
    that was not looked at).
    """

    move: str
    """The token of the move."""
    visits: int
    """Simulations that began with it."""
    points: float | None = None
    """Expected points of the seat in this round."""
    points_se: float | None = None
    """Standard error of `points`."""
    margin: float | None = None
    """Expected points minus the mean of the other seats'."""
    margin_se: float | None = None
    """Standard error of `margin`."""
    win: float | None = None
    """Chance to be first, ties shared: in the game if the position has one, else the round."""
    pv: tuple[str, ...] = ()
    """The line expected, this move first."""
    value: float | None = None
    """The planner's value in points, for `planner`."""


@dataclass(frozen=True)
class Answer:
    """What an engine says to a position."""

    engine: str
    """The canonical spec, its budget included."""
    seat: int
    """Whose move it is."""
    move: str
    """The chosen move, the first of `lines`."""
    sims: int
    """Simulations made."""
    worlds: int
    """Samples of the hidden hands that were drawn."""
    seconds: float
    """Wall time."""
    lines: tuple[Line, ...]
    """Every legal move, one per outcome, best first."""


@dataclass(frozen=True)
class Option:
    """An option of an engine, as a spec sets it."""

    name: str
    default: str
    help: str
    parse: Callable[[str], float | int] = field(repr=False, default=float)


@dataclass(frozen=True)
class EngineInfo:
    """An engine that can be named."""

    name: str
    plays: str
    options: tuple[Option, ...]
    answer: Callable[[Search], Answer] = field(repr=False)


@dataclass(frozen=True)
class Search:
    """One question to an engine, with everything that its answer depends on."""

    spec: str
    options: dict[str, float | int]
    position: Position
    round: Round
    seed: int
    threads: int
    memory: int  # bytes
    stop: threading.Event  # set when the answer is wanted at once

    def answer(
        self, started: float, lines: Sequence[Line], sims: int = 0, worlds: int = 0
    ) -> Answer:
        """The answer with these lines, best first."""
        return Answer(
            self.spec,
            self.round.turn,
            lines[0].move,
            sims,
            worlds,
            time.perf_counter() - started,
            tuple(lines),
        )

    @property
    def game(self) -> tuple[int, tuple[int, ...]] | None:
        """Rounds left after this one and the points before it, if the position has a game."""
        game = self.position.game
        return None if game is None else (self.position.players - game.round, game.scores)


class Engine:
    """An engine with its options set.

    Args:
        info: which one.
        options: the value of each of its options.
    """

    def __init__(self, info: EngineInfo, options: dict[str, float | int]) -> None:
        self.info = info
        self.options = options

    @property
    def spec(self) -> str:
        """The canonical spec: the name, and every option that is not at its default, with the
        budget always given."""
        said = [
            f"{option.name}={_number(self.options[option.name])}"
            for option in self.info.options
            if option.name in self.options
            and (
                option.name in ("sims", "time")
                or self.options[option.name] != option.parse(option.default)
            )
        ]
        return ":".join(filter(None, (self.info.name, ",".join(said))))

    def answer(
        self,
        position: Position,
        seed: int,
        threads: int = 1,
        memory: int = 256,
        stop: threading.Event | None = None,
    ) -> Answer:
        """The best move of a position, and what is known of the others.

        The same position and seed give the same answer on any number of threads, unless
        the budget is a time.

        Args:
            position: as the acting seat sees it; a position without hidden cards is taken
                as it is.
            seed: 0 to 2**64 - 1.
            threads: how many may work at a time.
            memory: megabytes that a search may use.
            stop: when another thread sets it, the search ends soon, with what it knows by then.

        Raises:
            ValueError: the round is over, or the acting hand is hidden.
            EngineSpecError: too little memory for the trees.
        """
        if threads < 1:
            raise ValueError(f"expected at least 1 thread: {threads}")
        round_ = position.round
        if round_.end:
            raise ValueError("the round is over: there is no move to choose")
        if round_.hidden(round_.turn):
            raise ValueError(
                f"expected a known hand of seat {round_.turn}, which is to act: "
                f"{round_.hidden(round_.turn)} of its cards are hidden"
            )
        return self.info.answer(
            Search(
                self.spec,
                self.options,
                position,
                round_,
                seed,
                threads,
                memory * MEGABYTE,
                stop or threading.Event(),
            )
        )

    def __repr__(self) -> str:
        return f"make_engine({self.spec!r})"


def _number(value: float) -> str:
    """A number as specs write it: plain decimals, as few as tell it."""
    return str(value) if isinstance(value, int) else f"{value:.9f}".rstrip("0").rstrip(".")


def _decide(search: Search, name: str) -> Answer:
    """The answer of a player that decides at once: its move, then the rest."""
    started = time.perf_counter()
    scout = float(search.options.get("scout", 1.0))
    values: dict[int, float] = {}
    if name == "learned":
        from bigtop.core.evaluate import rated_moves
        from bigtop.weights import shipped

        network = shipped(search.round.players)
        move = choose(search.round, network, Rng(search.seed))
        values = dict(rated_moves(search.round, network))
    else:
        move = choose(search.round, name, Rng(search.seed), scout)
    if name == "planner" and search.round.start < 0:
        values = dict(planner_values(search.round, scout))
    codes = sorted(
        search.round.moves(),
        key=lambda code: (code != move, -values.get(code, -math.inf if values else 0.0), code),
    )
    tokens = [search.position.token(code) for code in codes]
    return search.answer(
        started,
        [
            Line(token, 0, pv=(token,), value=values.get(code))
            for code, token in zip(codes, tokens, strict=True)
        ],
    )


def _ranked(search: Search, root: Root) -> list[Line]:
    """The lines of a search: the most visited first, then the higher margin, then the planner's
    better move. The two choices of the flip phase are visited alike: there the margin decides."""
    lines = []
    for code, visits, points, points_se, margin, margin_se, win in root.lines():
        token = search.position.token(code)
        lines.append(Line(token, visits, points, points_se, margin, margin_se, win, pv=(token,)))
    flipping = search.round.start >= 0
    return sorted(
        lines,
        key=lambda line: (
            (line.visits == 0) if flipping else -line.visits,
            -line.margin if line.margin is not None else 0.0,
        ),
    )


class _Stop:
    """Whether the work of the threads is no longer wanted, by the caller or by themselves."""

    def __init__(self, asked: threading.Event) -> None:
        self._asked = asked
        self._broken = False

    def set(self) -> None:
        self._broken = True

    def is_set(self) -> bool:
        return self._broken or self._asked.is_set()


def _on_threads(
    threads: int, work: Sequence[Callable[[_Stop], None]], asked: threading.Event
) -> None:
    """Run every piece of work, on so many threads; an interrupt ends them all soon."""
    stop = _Stop(asked)
    if threads <= 1 or len(work) == 1:
        for piece in work:
            piece(stop)
        return
    with ThreadPoolExecutor(min(threads, len(work))) as pool:
        try:
            for done in [pool.submit(piece, stop) for piece in work]:
                done.result()
        finally:
            stop.set()


def _flat(search: Search) -> Answer:
    """Sequential halving over the moves that the planner likes best."""
    from bigtop.core.flat import Flat

    started = time.perf_counter()
    options = search.options
    root = Flat(search.round, Rng(search.seed), float(options["scout"]), search.game)
    sims = int(options["sims"]) if "sims" in options else None
    arms = list(range(min(len(root.moves_ranked()), int(options["moves"]))))
    while (
        sims is not None and len(arms) > 2 and HALVING_PLAYOUTS * len(arms) * _phases(arms) > sims
    ):
        arms.pop()
    arms = arms[:sims]
    phases, worlds, done = _phases(arms), 0, 0
    for phase in range(phases):
        if sims is None:
            deadline = started + float(options["time"]) * (phase + 1) / phases
            first = worlds
            while worlds == first or (time.perf_counter() < deadline and not search.stop.is_set()):
                step = search.threads
                _play_worlds(search, root, arms, worlds, worlds + step)
                worlds += step
        else:
            step = max(1, (sims - done) // (phases - phase) // len(arms))
            _play_worlds(search, root, arms, worlds, worlds + step)
            worlds += step
        done = sum(line[1] for line in root.lines())
        margins = root.lines()
        arms.sort(key=lambda arm: (-(margins[arm][4] or 0.0), arm))
        if phase + 1 < phases:
            arms = arms[: (len(arms) + 1) // 2]
        if search.stop.is_set():
            break
    return search.answer(started, _ranked(search, root), done, worlds)


BIGTOP_SIMS = 1000
ENDING_SIMS = 10
"""Simulations of an open ending in the time of one elsewhere, and less."""
GROUP = 50
"""Hands that `bigtop` draws together."""
TIMED_GROUPS = 500
"""The same for each second of a time budget, if that is less: about a tenth of the time."""
TRIES, STEPS = 4, 20
"""Of each hand drawn: hands dealt to each seat, steps of the walk at the end."""


def _bigtop(search: Search) -> Answer:
    """The evaluation's best few moves, played out side by side on hands drawn by the weighted
    belief, the evaluation counting as so many playouts of its own."""
    from bigtop.core.flat import Flat
    from bigtop.weights import shipped

    if search.position.is_open and not search.position.flipping:
        # nothing is hidden: a tree looks deeper
        plain = {option.name: option.parse(option.default) for option in TREE_OPTIONS[2:]}
        plain |= search.options
        if "sims" in plain and _is_open_ending(search.round):
            plain["sims"] *= ENDING_SIMS
        return _ismcts(replace(search, options=plain))
    started = time.perf_counter()
    options = search.options
    root = Flat(search.round, Rng(search.seed), 1.0, search.game, shipped(search.round.players))
    moves, values = root.moves_ranked(), root.values_ranked()
    sims = int(options["sims"]) if "sims" in options else None
    seconds = float(options["time"]) if sims is None else 0.0
    arms = list(range(min(len(moves), int(options["moves"]), sims or len(moves))))
    hands = _Hands(search, GROUP if sims else max(2, min(GROUP, int(seconds * TIMED_GROUPS))))
    phases = _phases(arms) if len(arms) > 1 else 1
    played, done = 0, 0
    for phase in range(phases):
        if sims is not None:
            last = played + max(1, (sims - done) // (phases - phase) // len(arms))
            groups = hands.groups(played, last)
            _on_threads(
                search.threads, [hands.played(root, arms, group) for group in groups], search.stop
            )
            played = last
        else:
            deadline = started + seconds * (phase + 1) / phases
            while time.perf_counter() < deadline and not search.stop.is_set():
                groups = [
                    (played + k * hands.size, played + (k + 1) * hands.size)
                    for k in range(search.threads)
                ]
                _on_threads(
                    search.threads,
                    [hands.played(root, arms, group) for group in groups],
                    search.stop,
                )
                played = groups[-1][1]
        lines = root.lines()
        done = sum(line[1] for line in lines)
        shrunk = {
            arm: _shrunk(lines[arm], values[arm], float(options["trust"]) * played) for arm in arms
        }
        arms.sort(key=lambda arm: (-shrunk[arm], arm))
        if phase + 1 < phases:
            arms = arms[: (len(arms) + 1) // 2]
        if search.stop.is_set():
            break
    best = search.position.token(moves[arms[0]])
    ranked = sorted(_ranked(search, root), key=lambda line: line.move != best)
    return search.answer(started, ranked, done, played)


def _shrunk(line: tuple[Any, ...], value: float, weight: float) -> float:
    """The mean margin of a move's playouts, with its evaluation counted `weight` times."""
    visits, margin = line[1], line[4] or 0.0
    return float((visits * margin + weight * value) / (visits + weight)) if visits else value


class _Hands:
    """The hands that a search plays in, by number: drawn in groups, each from a stream of its
    own, so that it does not matter which thread draws which.

    Args:
        size: of a group.
    """

    def __init__(self, search: Search, size: int) -> None:
        from bigtop.core.chain import Story
        from bigtop.weights import shipped

        position = search.position
        self.size = size
        self._players = position.players
        self._rng = Rng(search.seed).split(1)
        self._story = None
        # before the round begins nobody has done anything, and open hands need no belief
        if not position.flipping and not position.is_open:
            self._story = Story(
                position.first, position.plies, search.round, shipped(position.players)
            )

    def groups(self, first: int, last: int) -> list[tuple[int, int]]:
        """The pieces of a range of hands, cut where its groups would end."""
        return [(at, min(at + self.size, last)) for at in range(first, last, self.size)]

    def draw(self, first: int, count: int, prior: tuple[float, ...] | None = None) -> Worlds | None:
        """So many hands from a number on, None where nothing tells more than chance.

        Args:
            prior: weights of the models of each other seat; None: the core's.
        """
        if self._story is None:
            return None
        by_seat = None if prior is None else [prior] * self._players
        return self._story.draw(self._rng.split(first), count, TRIES, (1.0,), STEPS, by_seat)

    def played(
        self, root: Flat, arms: list[int], group: tuple[int, int]
    ) -> Callable[[_Stop], None]:
        """The work of drawing a group and playing the moves out in it."""
        first, last = group

        def run(stop: _Stop) -> None:
            if first and stop.is_set():  # each move is played out once in any case
                return
            root.run(arms, first, last, self.draw(first, last - first))

        return run


def _phases(arms: Sequence[int]) -> int:
    return max(1, math.ceil(math.log2(len(arms))))


def _play_worlds(search: Search, root: Flat, arms: list[int], first: int, last: int) -> None:
    """Play the arms out in these worlds, shared out among the threads."""
    chunk = max(1, CHUNK_SIMS // len(arms))
    workers = min(search.threads, -(-(last - first) // chunk))

    def share(worker: int) -> Callable[[_Stop], None]:
        def run(stop: _Stop) -> None:
            for start in range(first + worker * chunk, last, workers * chunk):
                if start > 0 and stop.is_set():  # each move is played out once in any case
                    return
                root.run(arms, start, min(start + chunk, last))

        return run

    _on_threads(search.threads, [share(worker) for worker in range(workers)], search.stop)


def _ismcts(search: Search) -> Answer:
    """The sum of several trees; the most visited move is the best."""
    from bigtop.core.ismcts import Ismcts
    from bigtop.weights import shipped

    if _is_open_ending(search.round):
        return _maxn(search)
    started = time.perf_counter()
    options = search.options
    trees = int(options["trees"])
    if search.memory < trees * MEGABYTE // 4:
        raise EngineSpecError(f"expected at least 1 MB for 4 trees, there are {trees}")
    root = Ismcts(
        search.round,
        Rng(search.seed),
        scout_cost=float(options["scout"]),
        game=search.game,
        trees=trees,
        memory=search.memory,
        explore=float(options["explore"]),
        widen=float(options["widen"]),
        worlds=_weighted(search, int(options["hands"])),
        network=shipped(search.round.players) if options["learned"] else None,
    )

    def counted(tree: int, sims: int) -> Callable[[_Stop], None]:
        def run(stop: _Stop) -> None:
            left = sims
            while left > 0 and (left == sims or not stop.is_set()):
                root.run(tree, min(left, CHUNK_SIMS))
                left -= CHUNK_SIMS

        return run

    def timed(mine: Sequence[int], deadline: float) -> Callable[[_Stop], None]:
        def run(stop: _Stop) -> None:
            while True:
                for tree in mine:
                    root.run(tree, TIMED_CHUNK_SIMS)
                    if time.perf_counter() >= deadline or stop.is_set():
                        return

        return run

    if "sims" in options:
        each, more = divmod(int(options["sims"]), trees)
        _on_threads(
            search.threads,
            [counted(tree, each + (tree < more)) for tree in range(trees)],
            search.stop,
        )
    else:
        deadline = started + float(options["time"])
        workers = min(search.threads, trees)
        _on_threads(
            workers,
            [timed(range(first, trees, workers), deadline) for first in range(workers)],
            search.stop,
        )
    lines = _ranked(search, root)
    lines = [_with_variation(search, root, line) for line in lines]
    return search.answer(started, lines, root.done, root.done)


ENDING_CARDS = 14
"""Cards left with which an open position is an ending."""


def _is_open_ending(round_: Round) -> bool:
    """Whether few cards are left, in the hands and in the active set, and none is hidden."""
    seats = range(round_.players)
    left = len(round_.active) + sum(len(round_.hand(seat)) for seat in seats)
    return round_.start < 0 and left <= ENDING_CARDS and not any(map(round_.hidden, seats))


def _maxn(search: Search) -> Answer:
    """One tree of an open ending, in which each seat plays the best that was found for it; the
    search is over as soon as that is proven."""
    from bigtop.core.maxn import Maxn

    started = time.perf_counter()
    options = search.options
    root = Maxn(
        search.round,
        Rng(search.seed),
        scout_cost=float(options["scout"]),
        game=search.game,
        memory=search.memory,
        explore=float(options["explore"]),
        widen=float(options["widen"]),
    )
    more, left = True, int(options.get("sims", 0))
    deadline = started + float(options.get("time", 0))
    while more and not (root.done and search.stop.is_set()):
        if "sims" in options:
            more = left > 0 and root.run(min(left, CHUNK_SIMS))
            left -= CHUNK_SIMS
        else:
            more = root.run(TIMED_CHUNK_SIMS) and time.perf_counter() < deadline
    best = root.best()
    lines = []
    for code, visits, points, _, margin, _, win in root.lines():
        token = search.position.token(code)
        position, pv = search.position, [token]
        for after in root.variation(code):
            position = position.play(pv[-1])
            pv.append(position.token(after))
        line = Line(token, visits, points, None, margin, None, win, pv=tuple(pv))
        lines.append(((code != best, visits == 0, -(margin or 0.0)), line))
    lines.sort(key=lambda item: item[0])
    return search.answer(started, [line for _, line in lines], root.done, 1)


PLAIN_PRIOR = (0.6, 0.25, 0.15, 0.0)
"""Of the models of `ismcts` without the evaluation, which knows no learned player."""


def _weighted(search: Search, count: int) -> Worlds | None:
    """Hands drawn by the weighted belief, None for a count of 0."""
    hands = _Hands(search, count)
    prior = None if search.options["learned"] else PLAIN_PRIOR
    return hands.draw(0, count, prior) if count else None


def _with_variation(search: Search, root: Ismcts, line: Line) -> Line:
    """The line with the moves that the search expects after its first."""
    if not line.visits:
        return line
    code = search.position.code(line.move)
    position, pv = search.position, [line.move]
    for after, cards in root.variation(code):
        position = position.play(pv[-1])
        while position.flipping:  # the others' choices are no nodes of the tree
            position = position.play(_others_choice(position))
        pv.append(format_move(after, b"" if position.is_open else cards))
    return Line(
        line.move,
        line.visits,
        line.points,
        line.points_se,
        line.margin,
        line.margin_se,
        line.win,
        tuple(pv),
    )


def _others_choice(position: Position) -> str:
    """What the tree took for another seat's choice: the planner's, where the hand is known."""
    round_ = position.round
    if round_.hidden(round_.turn):
        return "keep"
    return position.token(choose(round_, "planner", Rng(0)))


def _count(text: str) -> int:
    """A whole number of at least 1."""
    if not re.fullmatch(r"[1-9][0-9]{0,11}", text):
        raise ValueError("a whole number from 1")
    return int(text)


def _trees(text: str) -> int:
    """A whole number from 1 to 256."""
    if not re.fullmatch(r"[1-9][0-9]{0,2}", text) or int(text) > 256:
        raise ValueError("a whole number from 1 to 256")
    return int(text)


def _hands(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,5}", text):
        raise ValueError("a whole number from 0")
    return int(text)


def _switch(text: str) -> int:
    """0 or 1."""
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return int(text)


def _amount(text: str) -> float:
    """A plain decimal number above 0."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text) or float(text) == 0:
        raise ValueError("a decimal number above 0, as in 1.5")
    return float(text)


def _cost(text: str) -> float:
    """A plain decimal number."""
    if not re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{1,9})?", text):
        raise ValueError("a decimal number, as in 1.5")
    return float(text)


def _share(text: str) -> float:
    """A plain decimal number from 0."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", text):
        raise ValueError("a decimal number from 0, as in 1.5")
    return float(text)


SIMS = Option("sims", str(DEFAULT_SIMS), "simulations a move", _count)
TIME = Option("time", "none", "seconds a move, instead of sims", _amount)
SCOUT = Option("scout", "1", "what the planner takes off for a Scout, in points", _cost)
TREE_OPTIONS = (
    SIMS,
    TIME,
    Option("trees", "4", "independent trees whose visits are added", _trees),
    Option("explore", "1", "weight of the prior against the mean", _amount),
    Option("widen", "0.5", "a node looks at 2 + widen * sqrt(visits) moves", _amount),
    Option("hands", "0", "hands drawn by the weighted belief, 0: uniformly", _hands),
    Option("learned", "0", "1: the evaluation orders the moves and plays on, not planner", _switch),
    SCOUT,
)

ENGINES: dict[str, EngineInfo] = {
    info.name: info
    for info in (
        EngineInfo(
            "random",
            "uniformly among the moves, one per outcome",
            (),
            lambda search: _decide(search, "random"),
        ),
        EngineInfo(
            "greedy",
            "sheds as many cards as it can",
            (),
            lambda search: _decide(search, "greedy"),
        ),
        EngineInfo(
            "planner",
            "one move deep, by a fixed formula over the blocks left in the hand",
            (SCOUT,),
            lambda search: _decide(search, "planner"),
        ),
        EngineInfo(
            "learned",
            "one move deep, by the learned evaluation",
            (),
            lambda search: _decide(search, "learned"),
        ),
        EngineInfo(
            "flat",
            "Monte Carlo over sampled hidden hands, budget shared out by sequential halving",
            (
                SIMS,
                TIME,
                Option("moves", "24", "moves looked at, the planner's best", _count),
                SCOUT,
            ),
            _flat,
        ),
        EngineInfo("ismcts", "information-set Monte Carlo tree search", TREE_OPTIONS, _ismcts),
        EngineInfo(
            "bigtop",
            "the evaluation's best moves, played out on hands drawn by a weighted belief",
            (
                Option("sims", str(BIGTOP_SIMS), "simulations a move", _count),
                TIME,
                Option("moves", "6", "moves looked at, the evaluation's best", _count),
                Option("trust", "1.5", "playouts that the evaluation counts for, each", _share),
            ),
            _bigtop,
        ),
    )
}
"""Every engine by its name."""


def make_engine(spec: str, sims: int | None = None, time: float | None = None) -> Engine:
    """The engine that a spec names.

    Args:
        spec: a name from `ENGINES`, then `:key=value,…`.
        sims: simulations a move, instead of the spec's budget.
        time: seconds a move, instead of the spec's budget.

    Raises:
        EngineSpecError: no such engine or option, or a value that it cannot have.
    """
    name, colon, rest = spec.partition(":")
    if name not in ENGINES:
        raise EngineSpecError(f"expected an engine ({', '.join(ENGINES)}): {_quoted(name)}")
    info = ENGINES[name]
    known = {option.name: option for option in info.options}
    said: dict[str, float | int] = {}
    for item in rest.split(",") if colon else ():
        key, equals, text = item.partition("=")
        if key not in known or not equals:
            raise EngineSpecError(
                f"expected options of {name} "
                f"({', '.join(f'{key}=…' for key in known) or 'it has none'}): {_quoted(item)}"
            )
        if key in said:
            raise EngineSpecError(f"expected {key} once: {_quoted(spec)}")
        try:
            said[key] = known[key].parse(text)
        except ValueError as wrong:
            raise EngineSpecError(f"expected {wrong} for {key}: {_quoted(text)}") from None
    if (sims is not None and time is not None) or {"sims", "time"} <= said.keys():
        raise EngineSpecError("expected one budget, sims or time, not both")
    for key, budget in (("sims", sims), ("time", time)):
        if budget is not None:
            if key not in known:
                raise EngineSpecError(f"{name} decides at once: it has no {key} budget")
            try:
                budget = known[key].parse(_number(budget))
            except ValueError as wrong:
                raise EngineSpecError(f"expected {wrong} for {key}: {budget}") from None
            said.pop("sims", None)
            said.pop("time", None)
            said[key] = budget
    options = {
        option.name: option.parse(option.default)
        for option in info.options
        if option.name not in ("sims", "time")
    }
    if "sims" in known and "time" not in said:
        options["sims"] = known["sims"].parse(known["sims"].default)
    return Engine(info, options | said)


def _quoted(text: str) -> str:
    """The input in a message: one line, shortened."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


__all__ = [
    "ENGINES",
    "Answer",
    "Engine",
    "EngineInfo",
    "EngineSpecError",
    "Line",
    "Option",
    "make_engine",
]
