"""Flat Monte Carlo: moves compared on the same sampled hands.

Each world is one sample of the hidden hands with one stream of random numbers; every move
that is still in the race is played out in it. How the budget is shared out is decided by
the caller (sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in
multi-armed bandits", 2013).
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from .chain cimport World, Worlds
from .moves cimport MAX_LISTED
from .policy cimport Policy, play_out
from .rng cimport RngState, rng_split
from .search cimport PLAYOUT_MOVES, WIN_UNITS, Root, Sums, add_outcome, merge_sums
from .state cimport Seen, State, see, state_copy, state_play


# Sums over the drawn worlds of one move, group by group: worlds that were drawn together are
# alike, so that their outcomes tell less than as many outcomes alone.
cdef struct Groups:
    int64_t count
    int64_t sizes_squared
    int64_t points_squared     # of the sum of a group
    int64_t points_sizes       # its product with the size
    int64_t margin_squared
    int64_t margin_sizes


cdef inline void add_group(Groups* to, const Sums* group) noexcept nogil:
    to.count += 1
    to.sizes_squared += group.visits * group.visits
    to.points_squared += group.points * group.points
    to.points_sizes += group.points * group.visits
    to.margin_squared += group.margin * group.margin
    to.margin_sizes += group.margin * group.visits


cdef inline double alone(const Sums* sums, int64_t total, int64_t squares) noexcept nogil:
    """What the variance of a sum would be if no outcome told of another."""
    cdef double n = <double>sums.visits
    return (squares - total * (total / n)) * n / (n - 1)


cdef inline double grouped(const Groups* groups, const Sums* sums, int64_t total, int64_t squares,
                           int64_t products) noexcept nogil:
    """The variance of a sum as its groups tell it."""
    cdef double mean = total / <double>sums.visits, n = effective(groups, sums)
    return (squares - 2 * mean * products + mean * mean * groups.sizes_squared) * n / (n - 1)


cdef inline double effective(const Groups* groups, const Sums* sums) noexcept nogil:
    """How many groups of one size would tell as much."""
    cdef double whole = <double>sums.visits
    return whole * whole / groups.sizes_squared


cdef inline double student(double n) noexcept nogil:
    """By how much a 95% interval is wider where the spread is known from n values only: Student's
    quantile over the normal one, by the first terms of its expansion (Fisher and Cornish 1960)."""
    cdef double freedom = n - 1 if n > 2 else 1
    return 1 + (1.21 + (1.44 + 1.31 / freedom) / freedom) / freedom


cdef class Flat(Root):
    """A root whose moves are played out side by side; see Root."""
    cdef Groups* groups    # by move; NULL until worlds were drawn

    def __cinit__(self):
        self.groups = NULL

    def __dealloc__(self):
        free(self.groups)

    def run(self, arms, uint64_t first_world, uint64_t last_world, Worlds worlds=None) -> None:
        """Play the moves out in the worlds from first to last (not included).

        May run on several threads at a time, for different worlds.

        Args:
            arms: indices of moves in the order of `moves_ranked`.
            worlds: those from `first_world` on, at least as many, drawn together; None: drawn
                uniformly, each by itself.

        Raises:
            IndexError: no such move.
            ValueError: too few worlds, or of another round.
            MemoryError: no room for the sums.
        """
        cdef int n = len(arms), k
        cdef const World* drawn = NULL
        cdef int* chosen = <int*>malloc(n * sizeof(int))
        cdef Sums* sums = <Sums*>calloc(n, sizeof(Sums))
        cdef uint32_t* scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        try:
            self._check_worlds(worlds)
            if worlds is not None and <uint64_t>worlds.count < last_world - first_world:
                raise ValueError(f"expected {last_world - first_world} worlds: {worlds.count}")
            if chosen == NULL or sums == NULL or scratch == NULL:
                raise MemoryError
            for k in range(n):
                if not 0 <= arms[k] < self.count:
                    raise IndexError(f"expected moves 0 to {self.count - 1}: {arms[k]}")
                chosen[k] = arms[k]
            if worlds is not None:
                drawn = worlds.worlds
                if self.groups == NULL:
                    self.groups = <Groups*>calloc(self.count, sizeof(Groups))
                if self.groups == NULL:
                    raise MemoryError
            with nogil:
                self.play_worlds(chosen, n, first_world, last_world,
                                 drawn, sums, scratch)
            for k in range(n):
                merge_sums(&self.sums[chosen[k]], &sums[k])
                if worlds is not None:
                    add_group(&self.groups[chosen[k]], &sums[k])
        finally:
            free(chosen)
            free(sums)
            free(scratch)

    cdef void play_worlds(self, const int* arms, int n, uint64_t first_world,
                          uint64_t last_world, const World* worlds, Sums* sums,
                          uint32_t* scratch) noexcept nogil:
        cdef State world, s
        cdef Policy policies[5]
        cdef Seen seen
        cdef RngState stream, rng
        cdef uint64_t w
        cdef int k
        for w in range(first_world, last_world):
            stream = rng_split(&self.rng, w)
            self.world(NULL if worlds == NULL else &worlds[w - first_world], &stream, &world,
                       policies)
            for k in range(n):
                rng = stream
                state_copy(&s, &world)
                seen = self.knowledge.seen
                see(&seen, &s, self.moves[arms[k]])
                state_play(&s, self.moves[arms[k]])
                play_out(&s, &seen, policies, PLAYOUT_MOVES, &rng, scratch)
                add_outcome(&sums[k], &s, self.seat, &self.ahead, &rng)

    def lines(self) -> list:
        """As `Root.lines`, with standard errors that take the groups into account: by how much
        the variance grows is taken from all moves together, since all are played out in the
        same worlds. It is 1 or more, and 1 below two groups. Few groups tell the spread
        badly: 1.96 standard errors are made as wide as a 95% interval is then."""
        cdef double points = 1, margin = 1, points_alone = 0, margin_alone = 0, most = 0
        cdef double points_grouped = 0, margin_grouped = 0
        cdef const Groups* g
        cdef const Sums* s
        cdef int k
        for k in range(self.count if self.groups != NULL else 0):
            g = &self.groups[k]
            s = &self.sums[k]
            if g.count > 1:
                most = max(most, effective(g, s))
                points_alone += alone(s, s.points, s.points_squared)
                margin_alone += alone(s, s.margin, s.margin_squared)
                points_grouped += grouped(g, s, s.points, g.points_squared, g.points_sizes)
                margin_grouped += grouped(g, s, s.margin, g.margin_squared, g.margin_sizes)
        if points_alone > 0:
            points = sqrt(max(1.0, points_grouped / points_alone)) * student(most)
        if margin_alone > 0:
            margin = sqrt(max(1.0, margin_grouped / margin_alone)) * student(most)
        return [(code, visits, own, None if own_error is None else own_error * points, change,
                 None if error is None else error * margin, win)
                for code, visits, own, own_error, change, error, win in Root.lines(self)]

    def win_fit(self) -> tuple:
        """How the share of wins goes with the margin, over the playouts of each move.

        Returns:
            how much it grows with a point of margin, all moves together, 0 where the margin does
            not differ; and for each move, in the order of `moves_ranked`, the variance of what
            this leaves unexplained in one playout, 0 without a playout.
        """
        cdef double both = 0, squares = 0, slope = 0, n, wins
        cdef double unit = self.knowledge.known.players - 1
        cdef const Sums* s
        cdef int k
        for k in range(self.count):
            s = &self.sums[k]
            if s.visits:
                n = <double>s.visits
                both += s.win_margin - s.win * (s.margin / n)
                squares += s.margin_squared - s.margin * (s.margin / n)
        if squares > 0:
            slope = both / squares  # in their units
        left = []
        for k in range(self.count):
            s = &self.sums[k]
            n = <double>max(1, s.visits)
            both = s.win_margin - s.win * (s.margin / n)
            squares = s.margin_squared - s.margin * (s.margin / n)
            wins = s.win_squared - s.win * (s.win / n)
            left.append(max(0.0, wins - 2 * slope * both + slope * slope * squares) / n
                        / WIN_UNITS / WIN_UNITS)
        return slope * unit / WIN_UNITS, left
