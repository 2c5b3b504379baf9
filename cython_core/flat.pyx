"""Flat Monte Carlo: moves compared on the same sampled hands.

Each world is one sample of the hidden hands with one stream of random numbers; every move
that is still in the race is played out in it. How the budget is shared out is decided by
the caller (sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in
multi-armed bandits", 2013).
"""
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from .chain cimport World, Worlds
from .moves cimport MAX_LISTED
from .policy cimport Policy, play_out
from .rng cimport RngState, rng_split
from .search cimport PLAYOUT_MOVES, Root, Sums, add_outcome, merge_sums
from .state cimport Seen, State, see, state_copy, state_play


cdef class Flat(Root):
    """A root whose moves are played out side by side; see Root."""

    def run(self, arms, uint64_t first_world, uint64_t last_world, Worlds worlds=None) -> None:
        """Play the moves out in the worlds from first to last (not included).

        May run on several threads at a time, for different worlds.

        Args:
            arms: indices of moves in the order of `moves_ranked`.
            worlds: those from `first_world` on, at least as many; None: drawn uniformly.

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
            with nogil:
                self.play_worlds(chosen, n, first_world, last_world,
                                 drawn, sums, scratch)
            for k in range(n):
                merge_sums(&self.sums[chosen[k]], &sums[k])
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
