# cython: language_level=3
"""Players that decide at once: `random`, `greedy`, `planner`.

The planner's value of a move is 0.25 h(hand after) - cards in hand after + (cards of the
active set before, if it shows) - (`scout`, if it scouts), where h sums over all blocks of
at least two neighbours, those inside longer ones included, their length (and a half more
for equal numbers).  Here h is kept in halves, the value in eighths and without the cost
of a Scout.  No hand is evaluated anew: what a card joins or parts at a place follows from
the lengths of the chains that meet there.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .bits cimport Links, lowest, row_flip, row_links, select
from .cards cimport ROW_BYTES
from .moves cimport (
    NO_STEP, Arms, Pickup, arm_before, arm_from, arms_at, ends_to_scout, joined_beats,
    joining_places, links_of_step, list_moves, may_pass, number_of, pickup, random_move, nth_scout,
    step_between,
)
from .rng cimport RngState, rng_below, rng_next
from .sets cimport MAX_BLOCKS, Beaters, beaters, list_beaters
from .state cimport (
    END_SHIFT, FLIP, KEEP, KIND_SHIFT, NOBODY, PASS, PLACE_SHIFT, RUNNING, SCOUT, SCOUT_SHOW, SHOW,
    State, TURNED_SHIFT, active_strength, end_card, may_scout, may_scout_show, move_end, move_first,
    move_kind, move_last, move_place, move_turned, plain_move, scout_move, show_move, state_play,
)

cdef enum PolicyKind:
    PLAY_RANDOM = 0
    PLAY_GREEDY = 1
    PLAY_PLANNER = 2

cdef struct Policy:
    int kind
    double scout_cost  # points; the planner's


# A hand with what the planner knows of it; `before[p]` and `after[p]` are h, in halves, of
# the cards before and from place p.
cdef struct Shape:
    const uint8_t* row
    int n
    Links links
    int h
    int32_t before[46]
    int32_t after[46]


cdef inline int grown_by(int chain, int step) noexcept nogil:
    """What a card adds to h, in halves, that joins the end of a chain of so many cards."""
    return chain * (chain + 3 + (step == 0))


cdef inline int bridged(int left, int right, int step) noexcept nogil:
    """h, in halves, of the blocks that span the joint of two chains of one kind."""
    return left * right * (left + right + 2 + (step == 0))


cdef inline void shape_hand(Shape* s, const uint8_t* row, int n) noexcept nogil:
    cdef int place, step, chain = 0, last = NO_STEP
    s.row = row
    s.n = n
    s.links = row_links(row, n)
    s.before[0] = s.after[n] = 0
    for place in range(1, n + 1):
        s.before[place] = s.before[place - 1]
        if place > 1:
            step = step_between(row[place - 2] >> 4, row[place - 1] >> 4)
            chain = chain + 1 if step == last else 1
            if step != NO_STEP:
                s.before[place] += grown_by(chain, step)
            last = step
    last = NO_STEP
    for place in range(n - 1, -1, -1):
        s.after[place] = s.after[place + 1]
        if place < n - 1:
            step = step_between(row[place] >> 4, row[place + 1] >> 4)
            chain = chain + 1 if step == last else 1
            if step != NO_STEP:
                s.after[place] += grown_by(chain, step)
            last = step
    s.h = s.after[0]


cdef inline int cut_step(const Shape* s, int first, int last) noexcept nogil:
    """How the cards beside a block stand to each other once it has left."""
    if first == 0 or last + 1 >= s.n:
        return NO_STEP
    return step_between(s.row[first - 1] >> 4, s.row[last + 1] >> 4)


cdef inline int h_without(const Shape* s, int first, int last) noexcept nogil:
    """h, in halves, of the hand without the cards from first to last (none if last < first)."""
    cdef int step = cut_step(s, first, last)
    cdef int h = s.before[first] + s.after[last + 1]
    cdef uint64_t mask
    if step != NO_STEP:
        mask = links_of_step(&s.links, step)
        h += bridged(arm_before(mask, first), arm_from(mask, last + 1), step)
    return h


cdef inline int left_chain(const Shape* s, int first, int last, int place, int step) noexcept nogil:
    """Cards of the chain that ends before `place` when the block is gone; place > 0."""
    cdef uint64_t mask = links_of_step(&s.links, step)
    cdef int chain = arm_before(mask, place)
    if place > last and place - 1 - last <= chain:
        chain = place - 1 - last
        if cut_step(s, first, last) == step:
            chain += arm_before(mask, first)
    return chain


cdef inline int right_chain(const Shape* s, int first, int last, int place, int step) noexcept nogil:
    """Cards of the chain that starts at `place` when the block is gone."""
    cdef uint64_t mask = links_of_step(&s.links, step)
    cdef int chain = arm_from(mask, place)
    if place < first and first - place <= chain:
        chain = first - place
        if cut_step(s, first, last) == step:
            chain += arm_from(mask, last + 1)
    return chain


cdef inline int h_gained(const Shape* s, int first, int last, int place, int number) noexcept nogil:
    """What a new card changes of h, in halves, put at a place of the hand without the block
    from first to last; place <= first or place > last + 1.

    With no block (first > n, last >= n) the hand is whole.
    """
    cdef int right = last + 1 if place == first else place
    cdef int left_step = NO_STEP, right_step = NO_STEP, parted = NO_STEP, a = 0, b = 0, gained
    if place > 0:
        left_step = step_between(s.row[place - 1] >> 4, number)
        if left_step != NO_STEP:
            a = left_chain(s, first, last, place, left_step)
    if right < s.n:
        right_step = step_between(number, s.row[right] >> 4)
        if right_step != NO_STEP:
            b = right_chain(s, first, last, right, right_step)
        if place > 0:
            parted = step_between(s.row[place - 1] >> 4, s.row[right] >> 4)
    gained = grown_by(a, left_step) + grown_by(b, right_step)
    if left_step == right_step:  # and the blocks with cards on both sides
        gained += a * b * (a + b + 4 + (left_step == 0))
    if parted != NO_STEP:
        gained -= bridged(left_chain(s, first, last, place, parted),
                          right_chain(s, first, last, right, parted), parted)
    return gained


cdef inline uint8_t scouted_card(const State* s, uint32_t move) noexcept nogil:
    """The card that a move scouts."""
    return end_card(s, move_end(move))


cdef inline int planner_value(const Shape* shape, const State* s, uint32_t move) noexcept nogil:
    """The planner's value of a legal move in eighths of a point, without the cost of a Scout."""
    cdef int n = shape.n, kind = move_kind(move), place = move_place(move)
    cdef int first = move_first(move), last = move_last(move), h
    if kind == SHOW:
        return h_without(shape, first, last) + 8 * (s.active_size - (n - (last - first + 1)))
    if kind == SCOUT:
        h = shape.h + h_gained(shape, n + 1, n, place,
                               number_of(scouted_card(s, move), move_turned(move)))
        return h - 8 * (n + 1)
    if kind == SCOUT_SHOW:
        if first <= place <= last:
            h = h_without(shape, first, last - 1)
        else:
            if place < first:  # to places of the hand before the Scout
                first -= 1
                last -= 1
            elif place == last + 1:
                place = first
            h = h_without(shape, first, last) + h_gained(
                shape, first, last, place, number_of(scouted_card(s, move), move_turned(move)))
        return h + 8 * (s.active_size - (n + 1 - (move_last(move) - move_first(move) + 1)))
    return -8 * n  # pass


# The best move of one kind: the value in eighths above, the code reversed below, so that
# the greatest key is the highest value and then the first move in canonical order.
cdef enum:
    NO_KEY = -0x7FFFFFFFFFFFFFFF


cdef inline int64_t move_key(int value, uint32_t move) noexcept nogil:
    return <int64_t>value * <int64_t>0x100000000 + (<int64_t>0xFFFFFFFF - <int64_t>move)


cdef inline uint32_t key_move(int64_t key) noexcept nogil:
    return <uint32_t>0xFFFFFFFF - <uint32_t>(key & <int64_t>0xFFFFFFFF)


cdef inline int key_value(int64_t key) noexcept nogil:
    return <int>(key >> 32)


cdef inline int64_t best_show(const Shape* shape, const State* s) noexcept nogil:
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef Beaters b = beaters(shape.row, shape.n, &shape.links, active_strength(s))
    cdef int k, value, blocks = list_beaters(&b, &shape.links, firsts, lasts)
    cdef int64_t key, best = NO_KEY
    for k in range(blocks):
        value = (h_without(shape, firsts[k], lasts[k])
                 + 8 * (s.active_size - (shape.n - (lasts[k] - firsts[k] + 1))))
        key = move_key(value, show_move(firsts[k], lasts[k]))
        best = key if key > best else best
    return best


cdef inline int64_t best_scout(const Shape* shape, const State* s) noexcept nogil:
    """Place 0 parts nothing: only places where the card joins a neighbour can be better."""
    cdef int end, turned, place, number, n = shape.n
    cdef uint64_t places
    cdef int64_t key, best = NO_KEY
    for end in range(ends_to_scout(s)):
        for turned in range(2):
            number = number_of(end_card(s, end), turned)
            places = joining_places(shape.row, n, number) | 1
            while places:
                place = lowest(places)
                places &= places - 1
                key = move_key(shape.h + h_gained(shape, n + 1, n, place, number) - 8 * (n + 1),
                               scout_move(end, place, turned))
                best = key if key > best else best
    return best


cdef inline int64_t best_joined(const Shape* shape, const State* s, const Pickup* p, int turned,
                                uint64_t places) noexcept nogil:
    """The best Scout & Show that shows the scouted card."""
    cdef int number = number_of(p.card, turned), place, x, y, most, value
    cdef uint32_t base = (<uint32_t>SCOUT_SHOW << KIND_SHIFT | p.end << END_SHIFT
                          | turned << TURNED_SHIFT)
    cdef Arms a
    cdef int64_t key, best = NO_KEY
    places |= 1
    while places:
        place = lowest(places)
        places &= places - 1
        a = arms_at(shape.row, shape.n, &shape.links, place, number)
        for x in range(a.left + 1):
            most = a.right if x == 0 or a.left_step == a.right_step else 0
            for y in range(most + 1):
                if (x or y or place == 0) and joined_beats(p.strength, &a, number, x, y):
                    value = (h_without(shape, place - x, place + y - 1)
                             + 8 * (s.active_size - (shape.n - x - y)))
                    key = move_key(value, base | place << PLACE_SHIFT
                                   | show_move(place - x, place + y))
                    best = key if key > best else best
    return best


cdef inline int64_t best_scout_show(const Shape* shape, const State* s) noexcept nogil:
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef uint64_t joins[2]
    cdef uint64_t places
    cdef Pickup p
    cdef Beaters b
    cdef int end, turned, place, number, k, first, last, blocks, value, shift, n = shape.n
    cdef int64_t key, best = NO_KEY
    for end in range(ends_to_scout(s)):
        p = pickup(s, end)
        for turned in range(2):
            joins[turned] = joining_places(shape.row, n, number_of(p.card, turned))
            key = best_joined(shape, s, &p, turned, joins[turned])
            best = key if key > best else best
        b = beaters(shape.row, n, &shape.links, p.strength)
        blocks = list_beaters(&b, &shape.links, firsts, lasts)
        for k in range(blocks):
            first, last = firsts[k], lasts[k]
            value = (h_without(shape, first, last)
                     + 8 * (s.active_size - (n + 1 - (last - first + 1))))
            for turned in range(2):
                number = number_of(p.card, turned)
                # as for a Scout, and where the block left
                places = joins[turned] | 1 | <uint64_t>1 << first
                places &= ~((<uint64_t>2 << (last + 1)) - (<uint64_t>2 << first))
                while places:
                    place = lowest(places)
                    places &= places - 1
                    shift = place <= first
                    key = move_key(
                        value + h_gained(shape, first, last, place, number),
                        <uint32_t>SCOUT_SHOW << KIND_SHIFT | end << END_SHIFT
                        | place << PLACE_SHIFT | turned << TURNED_SHIFT
                        | show_move(first + shift, last + shift))
                    best = key if key > best else best
    return best


cdef inline int hand_h(const uint8_t* row, int n) noexcept nogil:
    """h of a hand in halves."""
    cdef Shape shape
    shape_hand(&shape, row, n)
    return shape.h


cdef inline bint planner_flips(const uint8_t* row, int n) noexcept nogil:
    """Whether h of the other side is strictly larger."""
    cdef uint8_t other[64]
    memcpy(other, row, ROW_BYTES)
    row_flip(other)
    return hand_h(other, n) > hand_h(row, n)


cdef inline uint32_t planner_choice(const State* s) noexcept nogil:
    """keep or flip, in the flip phase."""
    return plain_move(FLIP if planner_flips(s.row[s.turn], s.size[s.turn]) else KEEP)


cdef inline uint32_t planner_move(const State* s, double scout_cost) noexcept nogil:
    """The planner's move; ties: a Scout, a Show, a Scout & Show, then canonical order."""
    cdef Shape shape
    cdef int64_t key = NO_KEY, other
    cdef double value = -1e9, here
    if s.start != NOBODY:
        return planner_choice(s)
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    if may_scout(s):
        key = best_scout(&shape, s)
        value = key_value(key) - 8 * scout_cost
    other = best_show(&shape, s)
    if other != NO_KEY and key_value(other) > value:
        key = other
        value = key_value(key)
    if may_scout_show(s):
        other = best_scout_show(&shape, s)
        here = key_value(other) - 8 * scout_cost
        if other != NO_KEY and here > value:
            key = other
            value = here
    if may_pass(s, key != NO_KEY) and (key == NO_KEY or -8.0 * shape.n > value):
        return plain_move(PASS)
    return key_move(key)


cdef inline uint32_t longest_show(const State* s, int* size) noexcept nogil:
    """The first of the longest Shows; size 0 when there is none."""
    cdef const uint8_t* row = s.row[s.turn]
    cdef Links links = row_links(row, s.size[s.turn])
    cdef Beaters b = beaters(row, s.size[s.turn], &links, active_strength(s))
    cdef uint64_t starts = b.equal | b.up | b.down
    cdef int first = lowest(b.exact) if b.exact else 0
    size[0] = b.size if b.exact else 0
    while starts:
        size[0] = b.size + 1
        first = lowest(starts)
        b.equal &= links.equal >> b.size
        b.up &= links.up >> b.size
        b.down &= links.down >> b.size
        b.size += 1
        starts = b.equal | b.up | b.down
    return show_move(first, first + size[0] - 1)


cdef inline uint32_t greedy_move(const State* s, RngState* rng, uint32_t* scratch) noexcept nogil:
    """The greedy player's move; `scratch` has room for a list of moves."""
    cdef int shown, size, most = 0, k, n
    cdef uint32_t move, best = 0
    if s.start != NOBODY:
        return planner_choice(s)
    move = longest_show(s, &shown)
    if may_scout_show(s):
        n = list_moves(s, False, scratch)
        for k in range(n):
            if move_kind(scratch[k]) == SCOUT_SHOW:
                size = move_last(scratch[k]) - move_first(scratch[k]) + 1
                if size > most:
                    most = size
                    best = scratch[k]
        if most and shown < most + 2:
            return best
    if shown:
        return move
    if may_scout(s):
        n = 2 * (s.size[s.turn] + 1) * ends_to_scout(s)
        return nth_scout(s, <int>rng_below(rng, <uint32_t>n))
    return plain_move(PASS)


cdef inline uint32_t policy_move(const Policy* policy, const State* s, RngState* rng,
                                 uint32_t* scratch) noexcept nogil:
    """The move of a player; `scratch` has room for a list of moves."""
    if policy.kind == PLAY_PLANNER:
        return planner_move(s, policy.scout_cost)
    if policy.kind == PLAY_GREEDY:
        return greedy_move(s, rng, scratch)
    if s.start != NOBODY:
        return plain_move(FLIP if rng_next(rng) & 1 else KEEP)
    return random_move(s, rng)


cdef inline void play_out(State* s, const Policy* policies, RngState* rng,
                          uint32_t* scratch) noexcept nogil:
    """Play a round to its end, each seat by its policy."""
    while s.end == RUNNING:
        state_play(s, policy_move(&policies[s.turn], s, rng, scratch))
