# cython: language_level=3
"""What a seat knows, and the full rounds that agree with it.

Every card that is not seen is as likely in one hidden place as in another, either side up,
or among the cards that are out of play (captured unseen, or set aside with two players).
"""
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from .cards cimport ROW_BYTES, card_id, fill_deck, row_set
from .rng cimport Rng, RngState, rng_shuffle_head
from .state cimport Round, Seen, State, state_copy


cdef struct Knowledge:
    State known                # hidden cards are 0
    Seen seen
    uint8_t unseen[45]         # low number active, ascending
    int unseen_count
    uint16_t places[45]        # hidden cards: 64 * seat + place
    int hidden


cdef inline void know(Knowledge* k, const State* s, const Seen* public_) noexcept nogil:
    """Gather what a state with hidden cards tells, and what everybody saw."""
    cdef uint8_t deck[45]
    cdef uint64_t seen = public_.out | row_set(s.active, s.active_size)
    cdef int seat, place, i, n = fill_deck(s.players, deck)
    state_copy(&k.known, s)
    k.seen = public_[0]
    k.hidden = k.unseen_count = 0
    for seat in range(s.players):
        seen |= row_set(s.row[seat], s.size[seat])
        for place in range(s.size[seat]):
            if s.row[seat][place] == 0:
                k.places[k.hidden] = <uint16_t>(ROW_BYTES * seat + place)
                k.hidden += 1
    for i in range(n):
        if not (seen >> card_id(deck[i])) & 1:
            k.unseen[k.unseen_count] = deck[i]
            k.unseen_count += 1


cdef inline void sample(const Knowledge* k, RngState* rng, State* s) noexcept nogil:
    """A full round drawn uniformly among those that agree with what is known."""
    cdef uint8_t cards[45]
    cdef uint8_t* rows = &s.row[0][0]
    cdef int i
    state_copy(s, &k.known)
    memcpy(cards, k.unseen, 45)
    rng_shuffle_head(rng, cards, k.unseen_count, k.hidden)
    for i in range(k.hidden):
        rows[k.places[i]] = cards[i]


cdef class Belief:
    cdef Knowledge knowledge
