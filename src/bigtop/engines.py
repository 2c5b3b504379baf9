"""Engines by name: what each plays, its options, and how it answers a position.

An engine is named by a spec, a name and then `:key=value,…`; `make_engine` reads it. What
an engine is given is a position as its own seat sees it; it never looks at more.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from bigtop.core.policy import choose, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import Round
from bigtop.interrupts import held
from bigtop.notation import format_move

if TYPE_CHECKING:
    from bigtop.core.chain import Worlds
    from bigtop.core.flat import Flat
    from bigtop.core.ismcts import Ismcts
    from bigtop.core.search import Root
    from bigtop.notation import Game, Position

DEFAULT_SIMS = 10_000
MEGABYTE = 1 << 20
CHUNK_SIMS = 256  # simulations between two looks at the clock and at interrupts
HAND_BYTES = 1 << 10  # what a drawn hand takes while it is drawn, at the most
TIMED_CHUNK_SIMS = 16  # the same under a time budget: well below a millisecond each
HALVING_PLAYOUTS = 4  # at least so many of each move in flat's first phase


Seats = tuple[tuple[float, ...], ...]
"""By seat: the chances that its player is like each of the models MODELS, together 1."""
MODELS = ("planner", "greedy", "random", "learned", "like a planner")
"""The kinds of players that `bigtop` reckons with."""


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
    seats: Seats | None = None
    """Who the others seem to be, from what they did in this round and what was known of them
    before; None from an engine that does not ask. The own seat has no meaning."""


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
    cheats: bool = False
    """Whether it is to see hidden cards."""


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
    seats: Seats | None  # what is known of the players beforehand

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
        seats: Seats | None = None,
    ) -> Answer:
        """The best move of a position, and what is known of the others.

        The same position, seed and knowledge of the others give the same answer on any number
        of threads, unless the budget is a time.

        Args:
            position: as the acting seat sees it; a position without hidden cards is taken
                as it is.
            seed: 0 to 2**64 - 1.
            threads: how many may work at a time.
            memory: megabytes that a search may use.
            stop: when another thread sets it, the search ends soon, with what it knows by then.
            seats: what is known of the players beforehand, for an engine that asks; None: what
                is true of players in general.

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
                seats,
            )
        )

    def __repr__(self) -> str:
        return f"make_engine({self.spec!r})"


class Memory:
    """What an engine gets to know of the others over the rounds of one game.

    Positions with a GAME field tell by themselves whether they belong together: the same seat, in
    the same round or in the one after it. Anything else is a game with strangers.
    """

    def __init__(self) -> None:
        self._seat = -1
        self._game: Game | None = None
        self._before: Seats | None = None
        self._latest: Seats | None = None

    def recall(self, position: Position) -> Seats | None:
        """What was known of the others before this round, None for nothing."""
        game, last = position.game, self._game
        if game is None or last is None or position.turn != self._seat:
            self._before = None
        elif game.round == last.round + 1 and len(game.scores) == len(last.scores):
            self._before = _faded(self._latest)
        elif game != last:
            self._before = None
        if game != last or position.turn != self._seat:
            self._game, self._seat, self._latest = game, position.turn, self._before
        return self._before

    def learn(self, answer: Answer) -> None:
        """Take in what the last position asked about has told."""
        self._latest = answer.seats or self._latest


FADED = 0.1
"""The share of what is known of a player that is forgotten between two rounds."""


def _faded(seats: Seats | None) -> Seats | None:
    from bigtop.core.chain import PRIOR

    if seats is None:
        return None
    return tuple(
        tuple(
            (1 - FADED) * found + FADED * prior for found, prior in zip(models, PRIOR, strict=True)
        )
        for models in seats
    )


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


class _Clock:
    """Tells when to end work that is done piece by piece, so that no piece is likely to end
    after the deadline: there must be time left for the longest one so far. That takes in how long
    the system lets other processes run in between."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._longest = 0.0

    def allows(self, deadline: float) -> bool:
        """Whether another piece may begin; to be asked before each."""
        now = time.perf_counter()
        self._longest = max(self._longest, now - self._last)
        self._last = now
        return now + self._longest < deadline


class _Stop:
    """Whether the work of the threads is no longer wanted, by the caller or by themselves."""

    def __init__(self, asked: threading.Event) -> None:
        self._asked = asked
        self.broken = False  # by themselves or by an interrupt: nobody will look at the rest

    def set(self) -> None:
        self.broken = True

    def is_set(self) -> bool:
        return self.broken or self._asked.is_set()


def _on_threads(
    threads: int, work: Iterable[Callable[[_Stop], None]], asked: threading.Event
) -> None:
    """Run every piece of work, on so many threads, which should be no more than the pieces; an
    interrupt ends them all soon. Pieces are asked for one by one: there may be millions."""
    stop = _Stop(asked)
    if threads <= 1:
        for piece in work:
            piece(stop)
        return
    pieces, lock = iter(work), threading.Lock()

    def take() -> None:
        try:
            while not stop.broken:
                with lock:
                    piece = next(pieces, None)
                if piece is None:
                    return
                piece(stop)
        except BaseException:
            stop.set()
            raise

    with held(stop.set), ThreadPoolExecutor(threads) as pool:
        try:
            for done in [pool.submit(take) for _ in range(threads)]:
                done.result()
        finally:
            stop.set()  # those that began before one could not be started


def _flat(search: Search) -> Answer:
    """Sequential halving over the moves that the planner likes best."""
    from bigtop.core.flat import Flat

    started = time.perf_counter()
    options = search.options
    root = Flat(search.round, Rng(search.seed), float(options["scout"]), search.game)
    sims = int(options["sims"]) if "sims" in options else None
    arms = list(range(min(len(root.moves_ranked()), int(options["moves"]))))
    arms = _afforded(arms, sims, HALVING_PLAYOUTS, 2)[:sims]
    phases, worlds, done, clock = _phases(arms), 0, 0, _Clock()
    for phase in range(phases):
        if sims is None:
            deadline = started + float(options["time"]) * (phase + 1) / phases
            first = worlds
            while worlds == first or (clock.allows(deadline) and not search.stop.is_set()):
                step = search.threads * max(1, TIMED_CHUNK_SIMS // len(arms))
                _play_fresh(search, root, arms, worlds, worlds + step)
                worlds += step
        else:
            step = max(1, (sims - done) // (phases - phase) // len(arms))
            _play_fresh(search, root, arms, worlds, worlds + step)
            worlds += step
        lines = root.lines()
        done = sum(line[1] for line in lines)
        arms.sort(key=lambda arm: (-(lines[arm][4] or 0.0), arm))
        if phase + 1 < phases:
            arms = arms[: (len(arms) + 1) // 2]
        if search.stop.is_set():
            break
    return search.answer(started, _ranked(search, root), done, worlds)


BIGTOP_SIMS = 1500
ENDING_SIMS = 10
"""Simulations of an open ending in the time of one elsewhere, and less."""
GROUP = 50
"""Hands that `bigtop` draws together, at most."""
FIRST_HANDS = 24
"""Hands that first tell who the others are: the rest need not try what they surely are not."""
TIMED_GROUPS = 250
"""The same for each second of a time budget, if that is less: some hundredths of the time."""
LEAST_GROUP = 8
"""The same at the least: few hands drawn together explain little."""
TRIES, HEATS, STEPS = 4, (0.3, 1.0), 12
"""Of each hand drawn: hands dealt to each seat, powers of the likelihood that it goes through,
steps of the walk at each of them."""
DOUBT = 0.1
"""The share of the tries of a model for a seat that go by what was taken to be true beforehand,
and not by what the hands before them have shown."""
ITSELF = (0.0, 0.0, 0.0, 1.0, 0.0)
"""The chances of the models of a player that is taken for a learned one."""
LIKELY, LEAST_TRUST = 0.3, 0.25
"""The evaluation has its full weight where others are learned players with this chance on the
average, and this share of it where they surely are not."""
FIRST_SAY = 30
"""Playouts that the evaluation counts for at the least: it tells more than a few hands do."""
APART = 0.008
"""How far the chances of winning of two moves of equal margin lie apart, typically."""
SURE = 2
"""Standard errors beyond which chances are taken to lie apart further than that."""
MARGIN_WIN = 1e-4
"""What a point of margin weighs beside the chance of winning the game, so that margin decides
where the game is decided."""


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
    moves = root.moves_ranked()
    sims = int(options["sims"]) if "sims" in options else None
    seconds = float(options["time"]) if sims is None else 0.0
    # a move that the evaluation has not looked at has no value to be counted with
    arms = list(range(min(root.rated, int(options["moves"]))))
    arms = _afforded(arms, sims, 1, 1)
    timed = max(LEAST_GROUP, min(GROUP, int(seconds * TIMED_GROUPS)))
    hands = _Hands(search, GROUP if sims else timed)
    phases = _phases(arms)
    played, done, clock = 0, 0, _Clock()
    for phase in range(phases):
        if sims is not None:
            last = played + max(1, (sims - done) // (phases - phase) // len(arms))
            while played < last:
                stop = last if played else min(last, FIRST_HANDS)
                groups = hands.groups(played, stop)
                _play_worlds(search, root, arms, groups, hands.pieces(stop - played), hands.draw)
                played = stop
                hands.settle()
                if search.stop.is_set():
                    break
        else:
            deadline = started + seconds * (phase + 1) / phases
            while played == 0 or (clock.allows(deadline) and not search.stop.is_set()):
                stop = played + search.threads * hands.size
                groups = _pieces(played, stop, hands.size)
                _play_worlds(search, root, arms, groups, search.threads, hands.draw)
                played = stop
                hands.settle()
        lines = root.lines()
        done = sum(line[1] for line in lines)
        trust = hands.trust(float(options["trust"]))
        worth = _worth(search, root, lines, trust, arms)
        arms.sort(key=lambda arm: (-worth[arm], arm))
        if phase + 1 < phases:
            arms = arms[: (len(arms) + 1) // 2]
        if search.stop.is_set():
            break
    best = search.position.token(moves[arms[0]])
    ranked = sorted(_ranked(search, root), key=lambda line: line.move != best)
    worlds = max(line.visits for line in ranked)  # fewer than asked for, after a stop
    return replace(search.answer(started, ranked, done, worlds), seats=hands.seats())


def _clairvoyant(search: Search) -> Answer:
    """Every move played out once on the true cards, by the rules that the others are taken to
    have: what cannot be reached without seeing them."""
    from bigtop.core.chain import Story
    from bigtop.core.flat import Flat
    from bigtop.weights import shipped

    position = search.position
    if not position.is_open:
        raise EngineSpecError("clairvoyant expects a position without hidden cards")
    started = time.perf_counter()
    network = shipped(position.players)
    root = Flat(search.round, Rng(search.seed), 1.0, search.game, network)
    arms = list(range(len(root.moves_ranked())))
    worlds = None
    if search.options["planners"] and not position.flipping:
        story = Story(position.first, position.plies, search.round, network)
        planners = ((1.0, 0.0, 0.0, 0.0, 0.0),) * position.players
        worlds = story.draw(Rng(search.seed), 1, 1, (1.0,), 0, planners)
    root.run(arms, 0, 1, worlds)
    lines = sorted(_ranked(search, root), key=lambda line: -(line.margin or 0.0))
    return search.answer(started, lines, len(arms), 1)


def _worth(
    search: Search,
    root: Flat,
    lines: Sequence[tuple[Any, ...]],
    trust: float,
    arms: Sequence[int],
) -> dict[int, float]:
    """What the moves are chosen by: the mean margin of the playouts, with the evaluation of the
    move counted as `trust` more for each, and some more; in a game the chance of winning it.

    Wins tell less than margins: the chance is what goes with the margin by all playouts, and a
    move departs from that as far as its own playouts show it with some certainty.
    """
    values = root.values_ranked()
    found = [(visits, margin or 0.0, win or 0.0) for _, visits, _, _, margin, _, win in lines]
    tried = [arm for arm in arms if found[arm][0]]
    worth = dict.fromkeys(arms, -math.inf)
    for arm in tried:
        visits, margin, _ = found[arm]
        weight = trust * visits + FIRST_SAY
        worth[arm] = (visits * margin + weight * values[arm]) / (visits + weight)
    if search.game is None or not search.options["win"] or not tried:
        return worth
    slope, unexplained = root.win_fit()
    whole = sum(found[arm][0] for arm in tried)
    mean_margin = sum(found[arm][0] * found[arm][1] for arm in tried) / whole
    mean_win = sum(found[arm][0] * found[arm][2] for arm in tried) / whole
    departs = {
        arm: found[arm][2] - mean_win - slope * (found[arm][1] - mean_margin) for arm in tried
    }
    noise = {arm: unexplained[arm] / found[arm][0] for arm in tried}
    # moves may lie apart further than most do: as when one ends a game that it loses
    beyond = sum(departs[arm] ** 2 - SURE**2 * noise[arm] for arm in tried) / len(tried)
    apart = max(APART * APART, beyond)
    for arm in tried:
        certain = apart / (apart + noise[arm])
        chance = mean_win + slope * (worth[arm] - mean_margin) + certain * departs[arm]
        worth[arm] = chance + MARGIN_WIN * worth[arm]
    return worth


class _Hands:
    """The hands that a search plays in, by number: drawn in groups, each from a stream of its
    own, so that it does not matter which thread draws which.

    Args:
        size: of a group, at most.
    """

    def __init__(self, search: Search, size: int) -> None:
        from bigtop.core.chain import PRIOR, Story
        from bigtop.weights import shipped

        position = search.position
        self.size = size
        self._rng = Rng(search.seed).split(1)
        self._seat = search.round.turn
        self._story = None
        self._prior = search.seats or (PRIOR,) * position.players
        if not search.options.get("models", 1):
            self._prior = (ITSELF,) * position.players
        self._proposed = self._prior
        self._found: dict[int, tuple[int, list[list[float]]]] = {}
        # before the round begins nobody has done anything, and open hands need no belief
        weighs = search.options.get("belief", 1)
        if weighs and not position.flipping and not position.is_open:
            self._story = Story(
                position.first, position.plies, search.round, shipped(position.players)
            )

    def pieces(self, hands: int) -> int:
        """In how many groups so many hands are drawn: few, but if it can be an even number, so that
        two threads end together."""
        return min(hands, 2 * -(-hands // (2 * self.size)))

    def groups(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The pieces of a range of hands, nearly equal."""
        count = self.pieces(last - first)
        for k in range(count):
            yield first + (last - first) * k // count, first + (last - first) * (k + 1) // count

    def draw(self, first: int, count: int) -> Worlds | None:
        """So many hands from a number on, None where nothing tells more than chance."""
        if self._story is None:
            return None
        rng = self._rng.split(first)
        worlds = self._story.draw(rng, count, TRIES, HEATS, STEPS, self._prior, self._proposed)
        self._found[first] = count, worlds.models()
        return worlds

    def seats(self) -> Seats:
        """By seat: how likely it plays by each model, from all hands drawn; before the first
        of them as it was taken to be beforehand."""
        drawn = [self._found[first] for first in sorted(self._found)]  # in one order: floats
        whole = sum(count for count, _ in drawn)
        if not whole:
            return self._prior
        return tuple(
            tuple(
                sum(count * models[seat][model] for count, models in drawn) / whole
                for model in range(len(self._prior[seat]))
            )
            for seat in range(len(self._prior))
        )

    def settle(self) -> None:
        """Let what was found out about the others so far tell what is tried from here on; to be
        called while nothing is drawn, at the same hands whatever the number of threads."""
        self._proposed = tuple(
            tuple(
                (1 - DOUBT) * found + DOUBT * before
                for found, before in zip(models, prior, strict=True)
            )
            for models, prior in zip(self.seats(), self._prior, strict=True)
        )

    def trust(self, most: float) -> float:
        """How many playouts the evaluation counts for, each: `most` where the others may well
        play by it, less where they hardly do."""
        learned = MODELS.index("learned")
        others = [models[learned] for seat, models in enumerate(self.seats()) if seat != self._seat]
        alike = min(1.0, sum(others) / len(others) / LIKELY)
        return most * (LEAST_TRUST + (1 - LEAST_TRUST) * alike)


def _phases(arms: Sequence[int]) -> int:
    return max(1, math.ceil(math.log2(len(arms))))


def _afforded(arms: list[int], sims: int | None, playouts: int, least: int) -> list[int]:
    """As many of the moves as get so many playouts in every phase, but not fewer than `least`."""
    arms = list(arms)
    while sims is not None and len(arms) > least and playouts * len(arms) * _phases(arms) > sims:
        arms.pop()
    return arms


def _pieces(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    """A range cut into pieces of a size, the last one perhaps smaller."""
    for start in range(first, last, size):
        yield start, min(start + size, last)


def _play_worlds(
    search: Search,
    root: Flat,
    arms: list[int],
    pieces: Iterable[tuple[int, int]],
    count: int,
    draw: Callable[[int, int], Worlds | None],
) -> None:
    """Play the moves out in these worlds, so many pieces of them, shared out among the threads;
    `draw` makes the worlds from a number on, or None for fresh ones."""

    def played(first: int, last: int) -> Callable[[_Stop], None]:
        def run(stop: _Stop) -> None:
            if first and stop.is_set():  # each move is played out once in any case
                return
            root.run(arms, first, last, draw(first, last - first))

        return run

    # there may be millions: after a stop none is asked for any more
    wanted = takewhile(lambda piece: piece[0] == 0 or not search.stop.is_set(), pieces)
    work = (played(first, last) for first, last in wanted)
    _on_threads(min(search.threads, count), work, search.stop)


def _play_fresh(search: Search, root: Flat, arms: list[int], first: int, last: int) -> None:
    """Play the moves out in worlds that are drawn as they are played."""
    size = max(1, min(CHUNK_SIMS // len(arms), -(-(last - first) // search.threads)))
    count = -(-(last - first) // size)
    _play_worlds(search, root, arms, _pieces(first, last, size), count, lambda *_: None)


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
    hands = int(options["hands"])
    memory = search.memory - hands * HAND_BYTES
    if memory < trees * MEGABYTE // 4:
        raise EngineSpecError(
            f"expected at least 1 MB for 4 trees and 1 for {MEGABYTE // HAND_BYTES} hands, "
            f"there are {trees} trees and {hands} hands"
        )
    root = Ismcts(
        search.round,
        Rng(search.seed),
        scout_cost=float(options["scout"]),
        game=search.game,
        trees=trees,
        memory=memory,
        explore=float(options["explore"]),
        widen=float(options["widen"]),
        worlds=_weighted(search, hands),
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
            clock = _Clock()
            while True:
                for tree in mine:
                    root.run(tree, TIMED_CHUNK_SIMS)
                    if not clock.allows(deadline) or stop.is_set():
                        return

        return run

    if "sims" in options:
        each, more = divmod(int(options["sims"]), trees)
        _on_threads(
            min(search.threads, trees),
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
    deadline, clock = started + float(options.get("time", 0)), _Clock()
    while more and not (root.done and search.stop.is_set()):
        if "sims" in options:
            more = left > 0 and root.run(min(left, CHUNK_SIMS))
            left -= CHUNK_SIMS
        else:
            more = root.run(TIMED_CHUNK_SIMS) and clock.allows(deadline)
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


PLAIN_PRIOR = (0.4, 0.2, 0.1, 0.0, 0.3)
"""Of the models of `ismcts` without the evaluation, which knows no learned player."""


def _weighted(search: Search, count: int) -> Worlds | None:
    """Hands drawn by the weighted belief, None for a count of 0."""
    if not search.options["learned"]:
        search = replace(search, seats=(PLAIN_PRIOR,) * search.position.players)
    return _Hands(search, count).draw(0, count) if count else None


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
                Option("trust", "2", "playouts that the evaluation counts for, each", _share),
                Option("win", "1", "in a game: 1 its chances decide, 0 the margin", _switch),
                Option("belief", "1", "hands by what the others did; 0: any alike", _switch),
                Option("models", "1", "who the others are is found out; 0: as itself", _switch),
            ),
            _bigtop,
        ),
    )
}
"""Every engine by its name."""

CLAIRVOYANT = EngineInfo(
    "clairvoyant",
    "sees all cards: a ceiling for studies",
    (Option("planners", "1", "1: the others are planners, 0: learned players", _switch),),
    _clairvoyant,
    cheats=True,
)
"""No player of the game; `make_engine` makes it for who says so."""


def make_engine(
    spec: str, sims: int | None = None, time: float | None = None, cheats: bool = False
) -> Engine:
    """The engine that a spec names.

    Args:
        spec: a name from `ENGINES`, then `:key=value,…`.
        sims: simulations a move, instead of the spec's budget.
        time: seconds a move, instead of the spec's budget.
        cheats: whether `clairvoyant` may be named, too, which has to be asked with all cards open.

    Raises:
        EngineSpecError: no such engine or option, or a value that it cannot have.
    """
    name, colon, rest = spec.partition(":")
    if name == CLAIRVOYANT.name and not cheats:
        raise EngineSpecError("clairvoyant sees hidden cards: it plays in studies only")
    if name not in ENGINES and name != CLAIRVOYANT.name:
        raise EngineSpecError(f"expected an engine ({', '.join(ENGINES)}): {_quoted(name)}")
    info = ENGINES.get(name, CLAIRVOYANT)
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
    "CLAIRVOYANT",
    "ENGINES",
    "MODELS",
    "Answer",
    "Engine",
    "EngineInfo",
    "EngineSpecError",
    "Line",
    "Memory",
    "Option",
    "make_engine",
]
