# cython: language_level=3
"""Cards and decks.

A card is one byte: the active number in the high half, the other in the low half.  0 is
a card that the viewer has not seen.
"""
from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    MAX_PLAYERS = 5
    DECK_MAX = 45
    ROW_BYTES = 64  # a row of cards, zeros behind the last


cdef inline int card_id(uint8_t card) noexcept nogil:
    """0 .. 44 for the unordered pair of numbers of a known card."""
    cdef int a = card >> 4, b = card & 15
    if a < b:
        a, b = b, a
    return (a - 1) * (a - 2) // 2 + b - 1


cdef inline uint64_t row_set(const uint8_t* row, int n) noexcept nogil:
    """The known cards of a row as a set of card ids."""
    cdef uint64_t cards = 0
    cdef int i
    for i in range(n):
        if row[i]:
            cards |= <uint64_t>1 << card_id(row[i])
    return cards


cdef inline int deck_size(int players) noexcept nogil:
    return 45 if players == 5 else 36 if players == 3 else 44


cdef inline int cards_in_hand(int players) noexcept nogil:
    """Cards dealt to each seat."""
    return 9 if players == 5 else 12 if players == 3 else 11


cdef inline int fill_deck(int players, uint8_t* cards) noexcept nogil:
    """Write the deck, low number active, in ascending order; return its size."""
    cdef int low, high, n = 0
    cdef int top = 9 if players == 3 else 10
    for low in range(1, top):
        for high in range(low + 1, top + 1):
            if low == 9 and high == 10 and players != 5:
                continue
            cards[n] = <uint8_t>(low << 4 | high)
            n += 1
    return n
