# cython: language_level=3
"""The planner's formula.

Its value of a move is 0.25 h(hand after) - cards in hand after + (cards of the active set
before, if it shows) - (`scout`, if it scouts), where h sums over all blocks of at least
two neighbours, those inside longer ones included, their length (and a half more for equal
numbers).  Here h is kept in halves, the value in eighths and without the cost of a Scout.
No hand is evaluated anew: what a card joins or parts at a place follows from the lengths
of the chains that meet there.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .bits cimport Links, links_of, lowest, row_flip, row_links, row_near
from .cards cimport ROW_BYTES
from .moves cimport (
    NO_STEP, Arms, Pickup, arm_before, arm_from, arms_at, ends_to_scout, joined_beats, may_pass,
    number_of, pickup, step_between,
)
from .sets cimport MAX_BLOCKS, Beaters, beaters, chain_length, list_beaters
from .state cimport (
    END_SHIFT, FLIP, KEEP, KIND_SHIFT, NOBODY, PASS, PLACE_SHIFT, SCOUT, SCOUT_SHOW, SHOW, State,
    TURNED_SHIFT, active_strength, end_card, may_scout, may_scout_show, move_end, move_first,
    move_kind, move_last, move_place, move_turned, plain_move, scout_move, show_move,
)

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


# A block that leaves a hand: its first and last place, and how the cards beside it stand to
# each other once it has left.  first > last + 1 (see NO_GAP) when nothing leaves.
cdef struct Gap:
    int first
    int last
    int step


cdef inline Gap gap_of(const Shape* s, int first, int last) noexcept nogil:
    cdef Gap g
    g.first = first
    g.last = last
    g.step = NO_STEP
    if first > 0 and last + 1 < s.n:
        g.step = step_between(s.row[first - 1] >> 4, s.row[last + 1] >> 4)
    return g


cdef inline Gap no_gap(const Shape* s) noexcept nogil:
    cdef Gap g
    g.first = s.n + 1
    g.last = s.n
    g.step = NO_STEP
    return g


cdef inline int h_without(const Shape* s, const Gap* g) noexcept nogil:
    """h, in halves, of the hand without a block (or whole, with last = first - 1)."""
    cdef int h = s.before[g.first] + s.after[g.last + 1]
    cdef uint64_t mask
    if g.step != NO_STEP:
        mask = links_of(&s.links, g.step)
        h += bridged(arm_before(mask, g.first), arm_from(mask, g.last + 1), g.step)
    return h


cdef inline int left_chain(const Shape* s, const Gap* g, int place, int step) noexcept nogil:
    """Cards of the chain that ends before `place` when the block is gone; place > 0."""
    cdef uint64_t mask = links_of(&s.links, step)
    cdef int chain = arm_before(mask, place)
    if place > g.last and place - 1 - g.last <= chain:
        chain = place - 1 - g.last
        if g.step == step:
            chain += arm_before(mask, g.first)
    return chain


cdef inline int right_chain(const Shape* s, const Gap* g, int place, int step) noexcept nogil:
    """Cards of the chain that starts at `place` when the block is gone."""
    cdef uint64_t mask = links_of(&s.links, step)
    cdef int chain = arm_from(mask, place)
    if place < g.first and g.first - place <= chain:
        chain = g.first - place
        if g.step == step:
            chain += arm_from(mask, g.last + 1)
    return chain


cdef inline int h_gained(const Shape* s, const Gap* g, int place, int number) noexcept nogil:
    """What a new card changes of h, in halves, put at a place of the hand without the block;
    place <= first or place > last + 1."""
    cdef int right = g.last + 1 if place == g.first else place
    cdef int left_step = NO_STEP, right_step = NO_STEP, parted = NO_STEP, a = 0, b = 0, gained = 0
    if place > 0:
        left_step = step_between(s.row[place - 1] >> 4, number)
        if left_step != NO_STEP:
            a = left_chain(s, g, place, left_step)
            gained += grown_by(a, left_step)
    if right < s.n:
        right_step = step_between(number, s.row[right] >> 4)
        if right_step != NO_STEP:
            b = right_chain(s, g, right, right_step)
            gained += grown_by(b, right_step)
            if left_step == right_step:  # and the blocks with cards on both sides
                gained += a * b * (a + b + 4 + (left_step == 0))
        if place > 0:
            parted = step_between(s.row[place - 1] >> 4, s.row[right] >> 4)
            if parted != NO_STEP:
                gained -= bridged(left_chain(s, g, place, parted),
                                  right_chain(s, g, right, parted), parted)
    return gained


cdef inline int planner_value(const Shape* shape, const State* s, uint32_t move) noexcept nogil:
    """The planner's value of a legal move in eighths of a point, without the cost of a Scout."""
    cdef int n = shape.n, kind = move_kind(move), place = move_place(move)
    cdef int first = move_first(move), last = move_last(move), number, h
    cdef Gap gap
    if kind == SHOW:
        gap = gap_of(shape, first, last)
        return h_without(shape, &gap) + 8 * (s.active_size - (n - (last - first + 1)))
    if kind == PASS:
        return -8 * n
    number = number_of(end_card(s, move_end(move)), move_turned(move))
    if kind == SCOUT:
        gap = no_gap(shape)
        return shape.h + h_gained(shape, &gap, place, number) - 8 * (n + 1)
    if first <= place <= last:
        gap = gap_of(shape, first, last - 1)
        h = h_without(shape, &gap)
    else:
        if place < first:  # to places of the hand before the Scout
            gap = gap_of(shape, first - 1, last - 1)
        else:
            gap = gap_of(shape, first, last)
            if place == last + 1:
                place = first
        h = h_without(shape, &gap) + h_gained(shape, &gap, place, number)
    return h + 8 * (s.active_size - (n + 1 - (last - first + 1)))


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


cdef inline int insert_key(int64_t* keys, int n, int most, int64_t key) noexcept nogil:
    """Put a key among the highest, which are sorted; return how many there are then."""
    cdef int i
    if n == most:
        if key <= keys[n - 1]:
            return n
        n -= 1
    i = n
    while i > 0 and keys[i - 1] < key:
        keys[i] = keys[i - 1]
        i -= 1
    keys[i] = key
    return n + 1


cdef inline int64_t best_show(const Shape* shape, const State* s) noexcept nogil:
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef Beaters b = beaters(shape.row, shape.n, &shape.links, active_strength(s))
    cdef int k, blocks = list_beaters(&b, &shape.links, firsts, lasts)
    cdef int64_t key, best = NO_KEY
    cdef Gap gap
    for k in range(blocks):
        gap = gap_of(shape, firsts[k], lasts[k])
        key = move_key(h_without(shape, &gap)
                       + 8 * (s.active_size - (shape.n - (lasts[k] - firsts[k] + 1))),
                       show_move(firsts[k], lasts[k]))
        best = key if key > best else best
    return best


# Where a scouted card could go in the whole hand: what h gains above, place and side
# reversed below, so that the greatest is the best and then the first in canonical order.
cdef struct Placings:
    uint64_t near[2]    # by side: the cards that it joins
    int count
    int32_t keys[92]


cdef inline int placing_at(int32_t key) noexcept nogil:
    """Twice the place, plus the side."""
    return 255 - (key & 255)


cdef inline void rank_placings(const Shape* shape, uint8_t card, Placings* out) noexcept nogil:
    """All places that could be best, best first.

    Where the card joins nothing it gains nothing, and at place 0 it parts nothing: there it
    is put once, unturned.
    """
    cdef int turned, place, number, i
    cdef int32_t key
    cdef uint64_t places
    cdef Gap gap = no_gap(shape)
    out.count = 1
    out.keys[0] = 255
    for turned in range(2):
        number = number_of(card, turned)
        out.near[turned] = row_near(shape.row, shape.n, number)
        places = out.near[turned] | out.near[turned] << 1
        while places:
            place = lowest(places)
            places &= places - 1
            key = h_gained(shape, &gap, place, number) * 256 + 255 - (2 * place + turned)
            i = out.count
            while i > 0 and out.keys[i - 1] < key:
                out.keys[i] = out.keys[i - 1]
                i -= 1
            out.keys[i] = key
            out.count += 1


cdef inline int64_t best_scout(const Shape* shape, int end, const Placings* ranked) noexcept nogil:
    return move_key(shape.h + (ranked.keys[0] >> 8) - 8 * (shape.n + 1),
                    scout_move(end, 0, 0) + (<uint32_t>placing_at(ranked.keys[0]) << TURNED_SHIFT))


cdef inline int64_t best_joined(const Shape* shape, const State* s, const Pickup* p, int turned,
                                uint64_t places) noexcept nogil:
    """The best Scout & Show that shows the scouted card."""
    cdef int number = number_of(p.card, turned), place, x, y, most
    cdef uint32_t base = (<uint32_t>SCOUT_SHOW << KIND_SHIFT | p.end << END_SHIFT
                          | turned << TURNED_SHIFT)
    cdef Arms a
    cdef Gap gap
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
                    gap = gap_of(shape, place - x, place + y - 1)
                    key = move_key(h_without(shape, &gap)
                                   + 8 * (s.active_size - (shape.n - x - y)),
                                   base | place << PLACE_SHIFT
                                   | show_move(place - x, place + y))
                    best = key if key > best else best
    return best


cdef inline int longest_arm_before(const Links* links, int place) noexcept nogil:
    """Cards of the longest chain that ends just before `place`, of any kind; place > 0."""
    # at most one kind goes on from a card
    return (arm_before(links.equal, place) + arm_before(links.up, place)
            + arm_before(links.down, place) - 2)


cdef inline (int, int) reach_of(const Shape* shape, int first, int last) noexcept nogil:
    """The first and the last place where what a card gains may depend on whether a block has
    left."""
    cdef int low = first, high = last + 1
    if first > 0:
        low -= longest_arm_before(&shape.links, first)
    if high < shape.n:
        high += chain_length(&shape.links, high)
    return low, high


cdef inline uint64_t span(int first, int stop) noexcept nogil:
    """The bits from first up to, not including, stop."""
    return (<uint64_t>1 << stop) - (<uint64_t>1 << first)


cdef inline int64_t best_scout_show(const Shape* shape, const State* s, int end,
                                    const Placings* ranked) noexcept nogil:
    """The best Scout & Show from one end.

    Far from where the block leaves, the card gains what it gains in the whole hand: the
    best such place is looked up. Near it, each place where the card joins is valued.
    """
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef uint64_t places, joins, around, cut
    cdef Pickup p = pickup(s, end)
    cdef Beaters b = beaters(shape.row, shape.n, &shape.links, p.strength)
    cdef int turned, place, k, i, first, last, low, high, value, at, n = shape.n
    cdef int blocks = list_beaters(&b, &shape.links, firsts, lasts)
    cdef uint32_t base
    cdef Gap gap
    cdef int64_t key, best = NO_KEY
    for turned in range(2):
        key = best_joined(shape, s, &p, turned, ranked.near[turned] | ranked.near[turned] << 1)
        best = key if key > best else best
    for k in range(blocks):
        first, last = firsts[k], lasts[k]
        gap = gap_of(shape, first, last)
        # with the block where it is when the card is put to its right
        base = <uint32_t>SCOUT_SHOW << KIND_SHIFT | end << END_SHIFT | show_move(first, last)
        value = (h_without(shape, &gap) + 8 * (s.active_size - (n + 1 - (last - first + 1))))
        low, high = reach_of(shape, first, last)
        for i in range(ranked.count):
            at = placing_at(ranked.keys[i])
            place = at >> 1
            if place < low or place > high:
                key = move_key(value + (ranked.keys[i] >> 8), base | at << TURNED_SHIFT)
                if place < low:
                    key -= show_move(1, 1)
                best = key if key > best else best
                break
        if low == 0:  # the place that parts nothing, should the card join nothing there
            key = move_key(value, base) - show_move(1, 1)
            best = key if key > best and not (1 & ranked.near[0]) and first else best
        around = span(low, first) | span(last + 2, high + 1)
        cut = (<uint64_t>1 << first >> 1) | (<uint64_t>2 << last)
        for turned in range(2):
            joins = ranked.near[turned]
            places = (joins | joins << 1) & around
            if joins & cut or first == 0:
                places |= <uint64_t>1 << first
            while places:
                place = lowest(places)
                places &= places - 1
                key = move_key(
                    value + h_gained(shape, &gap, place, number_of(p.card, turned)),
                    base | place << PLACE_SHIFT | turned << TURNED_SHIFT)
                if place <= first:
                    key -= show_move(1, 1)
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
    if s.start != NOBODY:
        return planner_choice(s)
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    return planner_best(s, &shape, scout_cost, 1e9)


cdef inline uint32_t planner_best(const State* s, const Shape* shape, double scout_cost,
                                  double enough) noexcept nogil:
    """The planner's move outside the flip phase, or some move whose value, the cost of a Scout
    taken off, is above `enough` eighths of a point."""
    cdef Placings ranked[2]
    cdef int end
    cdef int64_t scout = NO_KEY, show, both = NO_KEY, other, key = NO_KEY
    cdef double value = -1e9
    show = best_show(shape, s)
    if show != NO_KEY and key_value(show) > enough:
        return key_move(show)
    if may_scout(s):
        for end in range(ends_to_scout(s)):
            rank_placings(shape, end_card(s, end), &ranked[end])
            other = best_scout(shape, end, &ranked[end])
            scout = other if other > scout else scout
        if scout != NO_KEY and key_value(scout) - 8 * scout_cost > enough:
            return key_move(scout)
        if may_scout_show(s):
            for end in range(ends_to_scout(s)):
                other = best_scout_show(shape, s, end, &ranked[end])
                both = other if other > both else both
    if scout != NO_KEY:
        key = scout
        value = key_value(scout) - 8 * scout_cost
    if show != NO_KEY and key_value(show) > value:
        key = show
        value = key_value(show)
    if both != NO_KEY and key_value(both) - 8 * scout_cost > value:
        key = both
        value = key_value(both) - 8 * scout_cost
    if may_pass(s, key != NO_KEY) and (key == NO_KEY or -8.0 * shape.n > value):
        return plain_move(PASS)
    return key_move(key)
