# cython: language_level=3
"""Hidden hands weighted by how well they explain what the others did."""
from libc.stdint cimport int64_t, uint8_t, uint32_t

from .belief cimport Knowledge
from .evaluate cimport Network
from .models cimport MODELS
from .rng cimport RngState
from .state cimport Seen, State

cdef enum:
    MAX_DECISIONS = 48  # of one seat; the latest count


# A decision of another seat: the round as it stood, with what is known today of its hand.
cdef struct Decision:
    State before
    Seen seen
    uint32_t move
    bint turned             # the hand was turned over by it: hidden cards lay the other way
    int hidden
    uint8_t place[45]       # in the hand then
    uint8_t slot[45]        # which of today's hidden cards lay there


# A full round with the models of the other seats, as the walk has it.
cdef struct Particle:
    uint8_t cards[45]    # of the hidden places, in their order, then out of play
    uint8_t model[5]
    double logs[5]       # of the chance of what each seat did, and of its model beforehand


cdef struct World:
    State state
    uint8_t model[5]


cdef class Worlds:
    cdef World* worlds
    cdef readonly int count
    cdef Seen seen
    cdef readonly bint learned       # whether any seat is a learned player


cdef class Story:
    cdef Knowledge knowledge
    cdef Decision* decisions[5]
    cdef int count[5]
    cdef int first_slot[6]           # by seat: its hidden places begin here
    cdef readonly Network network
    cdef readonly int viewer
    cdef double seat_log(self, int seat, int model, const uint8_t* cards, double least,
                         uint32_t* scratch) noexcept nogil
    cdef double fill_seat(self, int seat, Particle* p, int tries, const double* chances,
                          const double* weights, double heat, RngState* rng,
                          uint32_t* scratch) noexcept nogil
    cdef bint step(self, Particle* p, double (*chances)[MODELS], double (*weights)[MODELS],
                   double heat, RngState* rng, uint32_t* scratch) noexcept nogil
