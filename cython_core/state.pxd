# cython: language_level=3
"""A round: the rules of a turn, of its end and of its score.

A State is plain memory: to copy a round is to copy bytes.  Functions that play do not ask
whether the move is legal; `move_fault` does.
"""
from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from .bits cimport ensure, popcount, row_close, row_flip, row_open, set_drop
from .cards cimport (
    MAX_PLAYERS, ROW_BYTES, card_id, cards_in_hand, deck_size, fill_deck, row_set,
)
from .rng cimport Rng, RngState, rng_next, rng_shuffle_head, turned_by
from .sets cimport block_strength, set_strength

cdef enum:
    MAX_MOVES_MADE = 1000  # a round is stopped here
    NOBODY = 255
    ACTIVE_BYTES = 16      # a set has at most ten cards

cdef enum End:
    RUNNING = 0
    HAND_EMPTY = 1   # (i)
    UNBEATEN = 2     # (ii), or a pass
    CUT = 3

cdef enum Kind:
    SHOW = 0
    SCOUT = 1
    SCOUT_SHOW = 2
    PASS = 3
    KEEP = 4
    FLIP = 5

# A move in one number, so laid out that ascending numbers are the canonical order.
# Places count from 0; those of a Scout & Show's Show count after the insertion.
cdef enum:
    KIND_SHIFT = 20
    END_SHIFT = 19     # 0 left, 1 right
    PLACE_SHIFT = 13
    TURNED_SHIFT = 12
    FIRST_SHIFT = 6
    LAST_SHIFT = 0
    PLACE_MASK = 63

cdef struct State:
    uint8_t active[16]              # from left to right, zeros behind
    uint16_t captured[5]
    uint16_t chips[5]
    uint16_t made                   # moves, a Scout & Show is one, flips are none
    uint8_t size[5]                 # cards in each hand
    uint8_t players
    uint8_t turn                    # the seat that acts
    uint8_t start                   # flip phase: the seat that will move first; else NOBODY
    uint8_t owner                   # of the active set, or NOBODY
    uint8_t active_size
    uint8_t tokens                  # bit per seat that may still Scout & Show
    uint8_t forced_pass             # two players: pass only when nothing else is possible
    uint8_t end
    uint8_t row[5][64]


cdef inline int move_kind(uint32_t move) noexcept nogil:
    return move >> KIND_SHIFT


cdef inline int move_end(uint32_t move) noexcept nogil:
    return (move >> END_SHIFT) & 1


cdef inline int move_place(uint32_t move) noexcept nogil:
    return (move >> PLACE_SHIFT) & PLACE_MASK


cdef inline int move_turned(uint32_t move) noexcept nogil:
    return (move >> TURNED_SHIFT) & 1


cdef inline int move_first(uint32_t move) noexcept nogil:
    return (move >> FIRST_SHIFT) & PLACE_MASK


cdef inline int move_last(uint32_t move) noexcept nogil:
    return move & PLACE_MASK


cdef inline bint scouts_card(int kind) noexcept nogil:
    return kind == SCOUT or kind == SCOUT_SHOW


cdef inline uint32_t show_move(int first, int last) noexcept nogil:
    return <uint32_t>(first << FIRST_SHIFT | last)


cdef inline uint32_t scout_move(int end, int place, int turned) noexcept nogil:
    return <uint32_t>(SCOUT << KIND_SHIFT | end << END_SHIFT | place << PLACE_SHIFT
                      | turned << TURNED_SHIFT)


cdef inline uint32_t plain_move(int kind) noexcept nogil:
    return <uint32_t>(kind << KIND_SHIFT)


cdef inline size_t state_bytes(const State* s) noexcept nogil:
    """The bytes of a state that its players use."""
    return sizeof(State) - <size_t>(MAX_PLAYERS - s.players) * ROW_BYTES


cdef inline void state_copy(State* to, const State* source) noexcept nogil:
    memcpy(to, source, state_bytes(source))


cdef inline int active_strength(const State* s) noexcept nogil:
    return set_strength(s.active, s.active_size)


cdef inline uint8_t end_card(const State* s, int end) noexcept nogil:
    """The card at the left (0) or right (1) end of the active set, which is not empty."""
    return s.active[s.active_size - 1 if end else 0]


cdef inline void lay_out(State* s, const uint8_t* row, int n) noexcept nogil:
    """Make n cards the active set."""
    cdef uint64_t low, high
    memcpy(&low, row, 8)
    memcpy(&high, row + 8, 8)
    if n < 8:
        low &= (<uint64_t>1 << (8 * n)) - 1
        high = 0
    else:
        high &= (<uint64_t>1 << (8 * (n - 8))) - 1
    memcpy(s.active, &low, 8)
    memcpy(s.active + 8, &high, 8)
    s.active_size = <uint8_t>n


cdef inline void take_end(State* s, int end) noexcept nogil:
    """Remove the card at an end of the active set."""
    set_drop(s.active, s.active_size, end)
    s.active_size -= 1


cdef inline void put_card(State* s, int seat, int place, uint8_t card) noexcept nogil:
    row_open(s.row[seat], s.size[seat], place)
    s.row[seat][place] = card
    s.size[seat] += 1


cdef inline void do_scout(State* s, int end, int place, int turned) noexcept nogil:
    """Move a card from the active set to the hand and pay for it; the turn stays."""
    cdef int seat = s.turn
    put_card(s, seat, place, turned_by(end_card(s, end), turned))
    take_end(s, end)
    if s.players == 2:
        s.chips[seat] -= 1
    else:
        s.chips[s.owner] += 1


cdef inline void do_show(State* s, int first, int last) noexcept nogil:
    """Capture the active set and lay out a block in its place; the turn stays."""
    cdef int seat = s.turn, n = last - first + 1
    s.captured[seat] += s.active_size
    lay_out(s, s.row[seat] + first, n)
    row_close(s.row[seat], s.size[seat], first, n)
    s.size[seat] -= n
    s.owner = <uint8_t>seat
    if s.size[seat] == 0:
        s.end = HAND_EMPTY


cdef inline int seat_after(const State* s, int seat) noexcept nogil:
    seat += 1
    return 0 if seat == s.players else seat


cdef inline void play_show(State* s, int first, int last) noexcept nogil:
    do_show(s, first, last)
    s.turn = <uint8_t>seat_after(s, s.turn)
    s.made += 1
    if s.made >= MAX_MOVES_MADE and s.end == RUNNING:
        s.end = CUT


cdef inline void play_scout(State* s, int end, int place, int turned) noexcept nogil:
    do_scout(s, end, place, turned)
    s.made += 1
    if s.players > 2:
        s.turn = <uint8_t>seat_after(s, s.turn)
        if s.turn == s.owner:
            s.end = UNBEATEN
            return
    if s.active_size == 0:
        s.owner = NOBODY
    if s.made >= MAX_MOVES_MADE:
        s.end = CUT


cdef inline void play_scout_show(State* s, int end, int place, int turned, int first,
                                 int last) noexcept nogil:
    do_scout(s, end, place, turned)
    s.tokens &= <uint8_t>~(1 << s.turn)
    play_show(s, first, last)


cdef inline void play_pass(State* s) noexcept nogil:
    s.made += 1
    s.end = UNBEATEN
    s.turn = s.owner


cdef inline void play_flip(State* s, bint flip) noexcept nogil:
    """The choice of the seat to choose; after the last the round begins."""
    if flip:
        row_flip(s.row[s.turn])
    s.turn += 1
    if s.turn == s.players:
        s.turn = s.start
        s.start = NOBODY


cdef inline void state_play(State* s, uint32_t move) noexcept nogil:
    """Play a legal move."""
    cdef int kind = move_kind(move)
    ensure(s.end == RUNNING)
    if kind == SHOW:
        play_show(s, move_first(move), move_last(move))
    elif kind == SCOUT:
        play_scout(s, move_end(move), move_place(move), move_turned(move))
    elif kind == SCOUT_SHOW:
        play_scout_show(s, move_end(move), move_place(move), move_turned(move),
                        move_first(move), move_last(move))
    elif kind == PASS:
        play_pass(s)
    else:
        play_flip(s, kind == FLIP)
    ensure(state_is_ok(s))


# What everybody saw of the cards that are not active.
cdef struct Seen:
    uint64_t scouted[5]   # by seat, bit per place: the card there was scouted in this round
    uint64_t out          # cards known to be captured, by card id


cdef inline void see(Seen* seen, const State* s, uint32_t move) noexcept nogil:
    """Take in a legal move that is about to be played."""
    cdef int seat = s.turn, kind = move_kind(move), place, gone
    cdef uint64_t low
    if scouts_card(kind):
        place = move_place(move)
        low = (<uint64_t>1 << place) - 1
        seen.scouted[seat] = (seen.scouted[seat] & low | (seen.scouted[seat] & ~low) << 1
                              | <uint64_t>1 << place)
    if kind == SHOW or kind == SCOUT_SHOW:
        seen.out |= row_set(s.active, s.active_size)
        if kind == SCOUT_SHOW:  # the scouted card is not captured
            seen.out &= ~(<uint64_t>1 << card_id(end_card(s, move_end(move))))
        low = (<uint64_t>1 << move_first(move)) - 1
        gone = move_last(move) - move_first(move) + 1
        seen.scouted[seat] = seen.scouted[seat] & low | (seen.scouted[seat] >> gone) & ~low


cdef inline int state_points(const State* s, int seat) noexcept nogil:
    """Points of a seat; an unfinished round counts as cut."""
    cdef int points = s.captured[seat] + s.chips[seat]
    if not (s.end == UNBEATEN and s.owner == seat):
        points -= s.size[seat]
    return points


cdef inline bint may_scout(const State* s) noexcept nogil:
    """Whether the seat to move can Scout (without a Show)."""
    return s.active_size > 0 and (s.players > 2 or s.chips[s.turn] > 0)


cdef inline bint may_scout_show(const State* s) noexcept nogil:
    # the token first: it is what can be foreseen
    return (s.tokens >> s.turn) & 1 and s.players > 2 and s.active_size > 0


cdef inline bint state_is_ok(const State* s) noexcept nogil:
    """Recompute what must hold of every state: each known card once, rows tidy, the active
    set a set with an owner who is not to move."""
    cdef uint64_t seen = row_set(s.active, s.active_size), cards
    cdef int seat, i
    if popcount(seen) != s.active_size:
        return False
    for i in range(s.active_size, ACTIVE_BYTES):
        if s.active[i]:
            return False
    for seat in range(s.players):
        cards = row_set(s.row[seat], s.size[seat])
        if cards & seen:
            return False
        seen |= cards
        for i in range(ROW_BYTES):
            if i >= s.size[seat] and s.row[seat][i]:
                return False
    if s.active_size and not block_strength(s.active, s.active_size):
        return False
    if s.end == RUNNING and (s.active_size == 0) != (s.owner == NOBODY):
        return False
    return s.turn < s.players and (s.end != RUNNING or s.owner != s.turn)


# Why a move is not legal, for `move_fault`.
cdef enum Fault:
    LEGAL = 0
    ROUND_OVER
    NO_SUCH_MOVE
    TWO_PLAYERS
    FLIP_FIRST
    NO_FLIP_NOW
    NO_SET
    NO_CHIP
    NO_TOKEN
    NO_SUCH_PLACE
    NO_SUCH_CARD
    UNKNOWN_CARDS
    NOT_A_BLOCK
    NOT_BEATEN
    PASS_MANY
    PASS_NO_SET
    PASS_FORCED


cdef inline int show_fault(const State* s, int first, int last) noexcept nogil:
    cdef int i, strength
    cdef const uint8_t* row = s.row[s.turn]
    if last < first or last >= s.size[s.turn]:
        return NO_SUCH_CARD
    for i in range(first, last + 1):
        if row[i] == 0:
            return UNKNOWN_CARDS
    strength = block_strength(row + first, last - first + 1)
    if strength == 0:
        return NOT_A_BLOCK
    if strength <= active_strength(s):
        return NOT_BEATEN
    return LEGAL


cdef int move_fault(const State* s, uint32_t move) noexcept nogil
cdef uint32_t canonical_move(const State* s, uint32_t move) noexcept nogil


cdef inline void state_deal(State* s, int players, RngState* rng, const uint8_t* cards,
                            int n) noexcept nogil:
    """Deal from n cards at random into the flip phase; the holder of 1/2 will start (seat 0
    when nobody holds it)."""
    cdef uint8_t deck[45]
    cdef int seat, i, hand = cards_in_hand(players), at = 0
    memcpy(deck, cards, n)
    rng_shuffle_head(rng, deck, n, players * hand)
    memset(s, 0, sizeof(State))
    s.players = <uint8_t>players
    s.owner = NOBODY
    s.start = 0
    s.tokens = <uint8_t>((1 << players) - 1 if players > 2 else 0)
    for seat in range(players):
        memcpy(s.row[seat], deck + at, hand)
        s.size[seat] = <uint8_t>hand
        if players == 2:
            s.chips[seat] = 3
        for i in range(at, at + hand):
            if deck[i] == 0x12 or deck[i] == 0x21:
                s.start = <uint8_t>seat
        at += hand


cdef class Round:
    cdef State state
    cdef Seen seen
    cdef int _seat(self, int seat) except -1
    cdef int _open_turn(self) except -1
    cdef int _open_all(self) except -1
    cdef int _perft_check(self, int depth) except -1
    cdef list _listed(self, bint every)
