"""The root of a search: what is known, the moves, and the sums of their playouts."""
from libc.math cimport sqrt
from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .belief cimport know, sample
from .cards cimport fill_deck
from .models cimport MODEL_PLANNER, model_policy
from .moves cimport MAX_LISTED
from .planner cimport Shape, planner_flips, planner_value, shape_hand
from .policy cimport PLAY_LEARNED, PLAY_PLANNER, Policy, play_out
from .rng cimport Rng, RngState, rng_seeded, rng_split
from .state cimport (
    FLIP, KEEP, NOBODY, SCOUT, SCOUT_SHOW, SHOW, Round, Seen, State, move_kind, plain_move,
    state_copy, state_deal,
)

from .evaluate import rated_moves

# of values in `Root`; a stream of a search's generator; of the rounds in `_pool`
cdef enum:
    FINE = 1024
    STREAM_WORLDS = 2
    POOL_SEED = 1


_pools = {}


cdef bytes _pool(int players):
    """Rounds like those to come: between planners, the same ones in every search."""
    cdef uint8_t deck[45]
    cdef Ahead ahead
    cdef Policy planners[5]
    cdef RngState rng = rng_seeded(POOL_SEED), stream
    cdef State s
    cdef Seen seen
    cdef int seat, k, starter, cards = fill_deck(players, deck)
    cdef uint32_t* scratch
    if players in _pools:
        return _pools[players]
    scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
    if scratch == NULL:
        raise MemoryError
    memset(&ahead, 0, sizeof(Ahead))
    for seat in range(5):
        planners[seat] = model_policy(MODEL_PLANNER, NULL)
    with nogil:
        for k in range(POOL_ROUNDS):
            stream = rng_split(&rng, k)
            state_deal(&s, players, &stream, deck, cards)
            starter = s.start
            memset(&seen, 0, sizeof(Seen))
            play_out(&s, &seen, planners, PLAYOUT_MOVES, &stream, scratch)
            for seat in range(players):
                ahead.pool[k][(seat - starter + players) % players] = \
                    <int16_t>state_points(&s, seat)
    free(scratch)
    _pools[players] = (<uint8_t*>ahead.pool)[:sizeof(ahead.pool)]
    return _pools[players]


def _tie_rank(int kind) -> int:
    """Among moves of equal value the planner prefers a Scout, a Show, a Scout & Show."""
    return {SCOUT: 0, SHOW: 1, SCOUT_SHOW: 2}.get(kind, 3)


cdef class Root:
    """A position to search, and what its playouts have added up to.

    Playouts are played by planners, or by learned players. Sums are kept for every move of the
    acting seat, best first (see `moves_ranked`); moves are named by their index there.

    Args:
        round_: as the acting seat sees it: its own hand known, hidden cards 0.
        rng: the search's generator, not advanced.
        scout_cost: of the planners that play out, in points.
        game: (rounds left after this one, points of each seat before it); None asks for
            the chance to win the round instead of the game.
        network: its players play out and its value orders the moves it looks at, which come
            first.

    Raises:
        ValueError: the round is over, the acting hand is hidden, or fewer cards are unseen
            than hidden.
    """

    def __cinit__(self):
        self.moves = NULL
        self.values = NULL
        self.sums = NULL

    def __init__(self, Round round_ not None, Rng rng not None, double scout_cost=1.0, game=None,
                 Network network=None):
        cdef int seat
        if round_.state.end:
            raise ValueError("the round is over")
        self.seat = round_._open_turn()
        know(&self.knowledge, &round_.state, &round_.seen)
        if self.knowledge.hidden > self.knowledge.unseen_count:
            raise ValueError(f"expected an unseen card for each of {self.knowledge.hidden} hidden "
                             f"ones: {self.knowledge.unseen_count}")
        self.rng = rng_split(&rng.state, STREAM_WORLDS)
        for seat in range(round_.state.players):
            self.policies[seat].kind = PLAY_PLANNER if network is None else PLAY_LEARNED
            self.policies[seat].scout_cost = scout_cost
            self.policies[seat].net = NULL if network is None else network.net
        self.network = network
        for seat in range(MODELS):
            self.family[seat] = model_policy(seat, NULL if network is None else network.net)
        self._rank_moves(round_, scout_cost)
        self._look_ahead(game)

    def __dealloc__(self):
        free(self.moves)
        free(self.values)
        free(self.sums)

    cdef void world(self, const World* drawn, RngState* rng, State* s,
                    Policy* policies) noexcept nogil:
        """A full round to play out in, and how each seat plays there: one that was drawn, or
        (NULL) a fresh one."""
        cdef int seat
        memcpy(policies, self.policies, sizeof(self.policies))
        if drawn == NULL:
            sample(&self.knowledge, rng, s)
            return
        state_copy(s, &drawn.state)
        for seat in range(s.players):
            if seat != self.seat:
                policies[seat] = self.family[drawn.model[seat]]

    def _rank_moves(self, Round round_ not None, double scout_cost):
        """List the moves, best first."""
        cdef const State* s = &round_.state
        cdef Shape shape
        cdef int n = s.size[self.seat], i
        cdef uint32_t code
        ranked = []
        if s.start != NOBODY:
            # of equal value: h tells little of what a side is worth in points
            ranked = [(0, 0, plain_move(KEEP)), (0, 1, plain_move(FLIP))]
            if planner_flips(s.row[self.seat], n):
                ranked = [(0, 0, plain_move(FLIP)), (0, 1, plain_move(KEEP))]
        else:
            shape_hand(&shape, s.row[self.seat], n)
            for code in round_.moves():
                scouts = move_kind(code) == SCOUT or move_kind(code) == SCOUT_SHOW
                ranked.append((-(planner_value(&shape, s, code) - 8 * scout_cost * scouts),
                               _tie_rank(move_kind(code)), code))
        ranked.sort()
        if self.network is not None:
            values = dict(rated_moves(round_, self.network))
            best = sorted(values, key=lambda code: (-values[code], code))
            self.rated = len(best)
            ranked = ([(-FINE * values[code], 0, code) for code in best]
                      + [item for item in ranked if item[2] not in values])
        self.count = len(ranked)
        self.moves = <uint32_t*>malloc(self.count * sizeof(uint32_t))
        self.values = <int*>malloc(self.count * sizeof(int))
        self.sums = <Sums*>calloc(self.count, sizeof(Sums))
        if self.moves == NULL or self.values == NULL or self.sums == NULL:
            raise MemoryError
        for i in range(self.count):
            self.moves[i] = ranked[i][2]
            self.values[i] = int(-ranked[i][0])

    def _look_ahead(self, game):
        """Take the game in."""
        cdef int seat, players = self.knowledge.known.players
        memset(&self.ahead, 0, sizeof(Ahead))
        if game is None:
            return
        self.ahead.known = True
        self.ahead.rounds_left = game[0]
        for seat in range(players):
            self.ahead.scores[seat] = game[1][seat]
        if self.ahead.rounds_left:
            pool = _pool(players)
            memcpy(self.ahead.pool, <const uint8_t*>pool, sizeof(self.ahead.pool))

    cdef int _check_worlds(self, Worlds worlds) except -1:
        """Whether these can be played out in."""
        if worlds is not None:
            if worlds.count == 0:
                raise ValueError("expected at least one world")
            if worlds.worlds[0].state.players != self.knowledge.known.players:
                raise ValueError("expected worlds of this round")
            if self.network is None and worlds.learned:
                raise ValueError("expected a network for worlds with learned players")
        return 0

    def moves_ranked(self) -> list:
        """The move codes, best first: by the planner's value, or those that the network has
        looked at by its value and then the rest by the planner's."""
        return [self.moves[i] for i in range(self.count)]

    def values_ranked(self) -> list:
        """What they are ordered by, in points: the planner's value; or the network's, the final
        margin that it expects, and -inf for what it has not looked at."""
        if self.network is None:
            return [self.values[i] / 8.0 for i in range(self.count)]
        return [self.values[i] / <double>FINE if i < self.rated else -float("inf")
                for i in range(self.count)]

    def lines(self) -> list:
        """What is known of each move, in the order of `moves_ranked`.

        Returns:
            tuples (code, visits, points, standard error of points, margin, its standard
            error, share of wins), the numbers None for a move without a visit; standard
            errors None below two visits.
        """
        return [_line(self.moves[i], &self.sums[i], self.knowledge.known.players)
                for i in range(self.count)]


cdef _line(uint32_t code, const Sums* sums, int players):
    cdef double n = <double>sums.visits, unit = players - 1
    if sums.visits == 0:
        return (code, 0, None, None, None, None, None)
    return (code, sums.visits, sums.points / n, _error(n, sums.points, sums.points_squared, 1.0),
            sums.margin / n / unit, _error(n, sums.margin, sums.margin_squared, unit),
            sums.win / n / WIN_UNITS)


cdef _error(double n, int64_t total, int64_t squares, double unit):
    """Standard error of a mean from whole sums of values and squares."""
    cdef double spread
    if n < 2:
        return None
    spread = (<double>squares - <double>total * (<double>total / n)) / (n - 1)
    return sqrt(spread if spread > 0 else 0.0) / sqrt(n) / unit
