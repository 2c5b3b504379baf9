# cython: language_level=3
"""The learned evaluation: what a position is worth to the seat that has just moved.

A network (network.h) says how much its margin, its points minus the mean of the others,
is going to change until the round ends.  A player that looks one move deep adds the margin
as it stands after the move and takes the best.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t

from .features cimport Eyes
from .sets cimport MAX_BLOCKS
from .state cimport Seen, State

cdef extern from "network.h" nogil:
    enum:
        WIDE "BIGTOP_WIDE"
        NARROW "BIGTOP_NARROW"
        INPUTS "BIGTOP_INPUTS"

    ctypedef struct Net "bigtop_net":
        pass

cdef enum:
    POINT = 65536          # one point in the network's output
    CANDIDATE_SCOUTS = 12  # of each kind only the planner's best are looked at
    CANDIDATE_BOTH = 10
    MAX_CANDIDATES = MAX_BLOCKS + CANDIDATE_SCOUTS + CANDIDATE_BOTH + 1


# A move and its value: the expected final margin, (players - 1) * POINT to a point.
cdef struct Rated:
    int64_t value
    uint32_t move


cdef int candidates(const State* s, uint32_t* moves) noexcept nogil
cdef void apply(State* after, const State* s, uint32_t move) noexcept nogil
cdef int rate_moves(const Net* net, const State* s, const Seen* seen,
                    Rated* rated) noexcept nogil
cdef uint32_t learned_move(const Net* net, const State* s, const Seen* seen) noexcept nogil

cdef double learned_chance(const Net* net, const State* s, const Seen* seen, uint32_t move,
                           double temperature, double least) noexcept nogil
cdef double plain_exp(double x) noexcept nogil
cdef double plain_log(double x) noexcept nogil


cdef class Network:
    cdef Net* net
    cdef readonly int players
    cdef int must_fit(self, int players) except -1
