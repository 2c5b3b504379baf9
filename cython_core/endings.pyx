"""Exact endings: what a round is worth when all hands are open and few cards are left.

max^n (Luckhardt and Irani, "An algorithmic solution of n-person games", 1986): every seat
maximises its own margin of the round, to the end of the round, with no estimate anywhere.

A round can go round in circles (single cards shown and scouted in turn), for its only bound
is the cut after 1000 moves. So this is no search along lines: it collects every position
that can be reached, then works out by backward induction what each is worth when the cut
is 1, 2, 3 ... moves away. Once one step more changes no value, no further step does,
however far the cut; if that never happens, the induction goes on to the very cut. Either
way the answer is exact.

Pruning as in Korf, "Multi-player alpha-beta pruning" (1991), needs bounds of what a seat can
still win. There are none here: with three or more players each Scout makes a chip, and there
may be Scouts up to the cut. What makes the search small is another thing: positions that
are the same up to the seat that counts as the first, or to the direction in which a row
lies, are stored once. Both leave the moves and what they pay as they are, and the tie rule
does not ask about them.

The tie rule. A seat compares what two moves lead to by, in this order,
1. its own margin: the higher;
2. the margin of the next seat, then of the seat after it, and so on: the lower;
3. the points of all seats together (by now they differ by the same for each seat): the
   fewer, so that nobody goes round in circles for chips that all get alike.
What is still equal is equal in the points of every seat, so that the value of a position
depends on no order of moves; of such moves the answer is the first in canonical order.

With three or more players another rule can give another value, since what is the same to a
seat need not be so to the others. How much hangs on it shows when 2. is turned round
(`kind`: the higher margin of the others). With two players no margin does.
"""
from typing import NamedTuple

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from .cards cimport MAX_PLAYERS
from .moves cimport MAX_LISTED, list_moves
from .rng cimport mixed
from .state cimport (
    MAX_MOVES_MADE, NOBODY, RUNNING, SCOUT, SCOUT_SHOW, SHOW, Round, State, move_kind, seat_after,
    state_copy, state_play, state_points,
)

cdef enum:
    KEY_MOST = 64          # header and 45 cards, padded
    BATCH = 4096           # positions between two looks at interrupts
    MOST_NODES = 1 << 30   # an edge has 30 bits for its position
    EDGE_SHIFT = 30
    NO_ROOM = -1           # no memory
    OVER = -2              # more positions than asked for

# places in a key
cdef enum:
    TURN = 0
    OWNER = 1
    TOKENS = 2
    ACTIVE = 3
    SIZES = 4              # one a seat, then with two players the chips of each in two bytes


class EndingTooBigError(ValueError):
    """More positions can be reached than the budget allows."""


class Solution(NamedTuple):
    """The value of an ending; the module says what is exact about it, and the tie rule.

    Attributes:
        move: code of the move to play.
        points: of each seat at the end of the round.
        nodes: different positions that can be reached, this one included.
        depth: how many moves the induction looked ahead.
        settled: whether looking further changes nothing, here and in all that can be reached;
            if not, the value may hang on how many moves are left before the cut.
    """

    move: int
    points: tuple
    nodes: int
    depth: int
    settled: bool


# All positions that can be reached, and the moves between them. Values are points to come:
# what a seat gets beyond the captured cards and chips that it has, so that one position
# stands for all the ways to it.
cdef struct Graph:
    int players
    bint folded            # equal positions share a node; else only the same one
    bint kind              # ties: the higher margin of the others, see the tie rule
    uint8_t forced_pass
    int key_bytes          # a multiple of 8
    uint8_t* keys
    uint64_t* first        # first edge of each node, and one more
    int16_t* ended         # the best of the moves that end the round: points to come
    uint8_t* has_ended
    uint32_t* stamp        # 1 + the last node that has an edge to this one
    uint32_t used
    uint32_t room
    uint32_t most
    uint32_t expanded
    uint32_t* table        # open addressing, 1 + node, 0 is empty
    uint64_t table_mask
    uint32_t* edges        # kind << EDGE_SHIFT | node
    uint64_t edges_used
    uint64_t edges_room
    uint64_t* into         # the edges by where they lead: first of each node, and one more
    uint32_t* sources
    int16_t* value         # with the cut so many moves away as there were sweeps
    int16_t* fresh
    uint32_t* dirty        # nodes to work out anew in the next sweep
    uint32_t dirty_count
    uint32_t* changed
    uint8_t* marked


cdef inline int header_bytes(int players) noexcept nogil:
    return SIZES + players + (4 if players == 2 else 0)


cdef inline uint8_t* put_row(uint8_t* out, const uint8_t* row, int n, bint folded) noexcept nogil:
    """Write a row, of its two directions the one that comes first; return the end."""
    cdef int i
    cdef bint turn_round = False
    if folded:
        for i in range(n // 2):
            if row[i] != row[n - 1 - i]:
                turn_round = row[i] > row[n - 1 - i]
                break
    for i in range(n):
        out[i] = row[n - 1 - i if turn_round else i]
    return out + n


cdef inline void write_key(const Graph* g, const State* s, uint8_t* key) noexcept nogil:
    """All that the rest of the round depends on but the move count. Folded: seats counted
    from the one to move."""
    cdef int players = s.players, i, seat, base = s.turn if g.folded else 0
    cdef uint8_t* out = key + header_bytes(players)
    memset(key, 0, g.key_bytes)
    key[TURN] = <uint8_t>(s.turn - base)
    key[OWNER] = NOBODY
    if s.owner != NOBODY:
        key[OWNER] = <uint8_t>((s.owner - base + players) % players)
    key[ACTIVE] = s.active_size
    out = put_row(out, s.active, s.active_size, g.folded)
    for i in range(players):
        seat = (base + i) % players
        key[TOKENS] |= ((s.tokens >> seat) & 1) << i
        key[SIZES + i] = s.size[seat]
        if players == 2:
            memcpy(key + SIZES + 2 + 2 * i, &s.chips[seat], 2)
        out = put_row(out, s.row[seat], s.size[seat], g.folded)


cdef inline void read_key(const Graph* g, const uint8_t* key, State* s) noexcept nogil:
    """The position of a key, with nothing captured (and without chips, but two players')."""
    cdef const uint8_t* cards = key + header_bytes(g.players)
    cdef int seat
    memset(s, 0, sizeof(State))
    s.players = <uint8_t>g.players
    s.forced_pass = g.forced_pass
    s.start = NOBODY
    s.turn = key[TURN]
    s.owner = key[OWNER]
    s.tokens = key[TOKENS]
    s.active_size = key[ACTIVE]
    memcpy(s.active, cards, s.active_size)
    cards += s.active_size
    for seat in range(g.players):
        s.size[seat] = key[SIZES + seat]
        if g.players == 2:
            memcpy(&s.chips[seat], key + SIZES + 2 + 2 * seat, 2)
        memcpy(s.row[seat], cards, s.size[seat])
        cards += s.size[seat]


cdef inline uint64_t key_hash(const Graph* g, const uint8_t* key) noexcept nogil:
    cdef uint64_t h = 0, word
    cdef int i
    for i in range(0, g.key_bytes, 8):
        memcpy(&word, key + i, 8)
        h = mixed(h * <uint64_t>0x9E3779B97F4A7C15 + word)
    return h


cdef bint resize(void** memory, size_t bytes_) noexcept nogil:
    cdef void* bigger = realloc(memory[0], bytes_)
    if bigger == NULL:
        return False
    memory[0] = bigger
    return True


cdef bint more_nodes(Graph* g) noexcept nogil:
    """Twice the room for nodes; False when there is no memory."""
    cdef size_t room = 2 * <size_t>g.room if g.room else 1024
    cdef uint64_t slot
    cdef uint32_t node
    if not (resize(<void**>&g.keys, room * g.key_bytes)
            and resize(<void**>&g.first, (room + 1) * sizeof(uint64_t))
            and resize(<void**>&g.ended, room * g.players * sizeof(int16_t))
            and resize(<void**>&g.has_ended, room)
            and resize(<void**>&g.stamp, room * sizeof(uint32_t))
            and resize(<void**>&g.table, 2 * room * sizeof(uint32_t))):
        return False
    g.room = <uint32_t>room
    g.table_mask = 2 * room - 1
    memset(g.table, 0, 2 * room * sizeof(uint32_t))
    for node in range(g.used):
        slot = key_hash(g, g.keys + <size_t>node * g.key_bytes) & g.table_mask
        while g.table[slot]:
            slot = (slot + 1) & g.table_mask
        g.table[slot] = node + 1
    return True


cdef long find_node(Graph* g, const uint8_t* key, bint add) noexcept nogil:
    """The node of a key, new when there is none; NO_ROOM or OVER."""
    cdef uint64_t slot
    if add and g.used == g.room and not more_nodes(g):
        return NO_ROOM
    slot = key_hash(g, key) & g.table_mask
    while g.table[slot]:
        if memcmp(g.keys + <size_t>(g.table[slot] - 1) * g.key_bytes, key, g.key_bytes) == 0:
            return g.table[slot] - 1
        slot = (slot + 1) & g.table_mask
    if not add or g.used == g.most:
        return OVER
    memcpy(g.keys + <size_t>g.used * g.key_bytes, key, g.key_bytes)
    g.stamp[g.used] = 0
    g.used += 1
    g.table[slot] = g.used
    return g.used - 1


cdef inline bint better(const int* a, const int* b, int seat, const State* s,
                        bint kind) noexcept nogil:
    """Whether a seat prefers the points a to the points b: the tie rule of the module."""
    cdef int more[MAX_PLAYERS]
    cdef int other = seat, total = 0, i, gain
    for i in range(MAX_PLAYERS):  # zeros behind the last seat
        more[i] = a[i] - b[i]
        total += more[i]
    gain = s.players * more[seat] - total  # margin_units of the difference
    for _ in range(s.players - 1):  # all gains add up to 0: the last needs no look
        if gain:
            return (gain > 0) == (other == seat or kind)
        other = seat_after(s, other)
        gain = s.players * more[other] - total
    return total < 0


cdef inline void to_come(const State* before, const State* after, int* points) noexcept nogil:
    """Points of the end of a round beyond those held before its last move."""
    cdef int seat
    for seat in range(before.players):
        points[seat] = state_points(after, seat) - before.captured[seat] - before.chips[seat]


cdef int expand(Graph* g, uint32_t node, uint32_t* moves) noexcept nogil:
    """Add the edges of a node; 0, NO_ROOM or OVER."""
    cdef State s, after
    cdef uint8_t key[KEY_MOST]
    cdef int points[MAX_PLAYERS]
    cdef int best[MAX_PLAYERS]
    cdef int n, k, seat
    cdef long target
    cdef bint ended = False
    memset(points, 0, sizeof(points))
    memset(best, 0, sizeof(best))
    read_key(g, g.keys + <size_t>node * g.key_bytes, &s)
    n = list_moves(&s, False, moves)
    g.first[node] = g.edges_used
    if g.edges_used + n > g.edges_room:
        g.edges_room = 2 * g.edges_room + n + 4096
        if not resize(<void**>&g.edges, g.edges_room * sizeof(uint32_t)):
            return NO_ROOM
    for k in range(n):
        state_copy(&after, &s)
        state_play(&after, moves[k])
        if after.end != RUNNING:
            to_come(&s, &after, points)
            if not ended or better(points, best, s.turn, &s, g.kind):
                memcpy(best, points, sizeof(best))
            ended = True
            continue
        write_key(g, &after, key)
        target = find_node(g, key, True)
        if target < 0:
            return <int>target
        # two moves to one place are of the same kind and pay the same: what was captured
        # and which tokens are left can be seen there
        if g.stamp[target] == node + 1:
            continue
        g.stamp[target] = node + 1
        g.edges[g.edges_used] = <uint32_t>move_kind(moves[k]) << EDGE_SHIFT | <uint32_t>target
        g.edges_used += 1
    g.first[node + 1] = g.edges_used
    g.has_ended[node] = ended
    if ended:
        for seat in range(g.players):
            g.ended[<size_t>node * g.players + seat] = <int16_t>best[seat]
    return 0


cdef int expand_batch(Graph* g, uint32_t* moves) noexcept nogil:
    """Expand the next nodes; 1 while there are more, else 0, NO_ROOM or OVER."""
    cdef int failed
    for _ in range(BATCH):
        if g.expanded == g.used:
            return 0
        failed = expand(g, g.expanded, moves)
        if failed:
            return failed
        g.expanded += 1
    return 1


cdef inline void add_step(const Graph* g, const int16_t* value, int kind, int turn, int owner,
                          int active, int base, int* points) noexcept nogil:
    """Points to come by a move of this kind: those of where it leads, whose seats are
    counted from `base`, and what the move pays."""
    cdef int i
    for i in range(g.players):
        points[i] = value[(i - base + g.players) % g.players]
    if kind == SCOUT and g.players == 2:
        points[turn] -= 1
    elif kind == SHOW:
        points[turn] += active
    else:
        points[owner] += 1
        if kind == SCOUT_SHOW:
            points[turn] += active - 1


cdef bint work_out(Graph* g, uint32_t node, const State* table) noexcept nogil:
    """The value of a node from those of the nodes after it; whether it is another."""
    cdef const uint8_t* key = g.keys + <size_t>node * g.key_bytes
    cdef int points[MAX_PLAYERS]
    cdef int best[MAX_PLAYERS]
    cdef int turn = key[TURN], kind, base, i
    cdef uint64_t e
    cdef bint found = g.has_ended[node], differs = False
    cdef size_t at = <size_t>node * g.players
    memset(points, 0, sizeof(points))
    memset(best, 0, sizeof(best))
    if found:
        for i in range(g.players):
            best[i] = g.ended[at + i]
    for e in range(g.first[node], g.first[node + 1]):
        kind = <int>(g.edges[e] >> EDGE_SHIFT)
        base = 1 if g.folded and not (kind == SCOUT and g.players == 2) else 0
        add_step(g, g.value + <size_t>(g.edges[e] & (MOST_NODES - 1)) * g.players, kind, turn,
                 key[OWNER], key[ACTIVE], base, points)
        if not found or better(points, best, turn, table, g.kind):
            memcpy(best, points, sizeof(best))
        found = True
    for i in range(g.players):
        differs = differs or g.value[at + i] != best[i]
        g.fresh[at + i] = <int16_t>best[i]
    return differs


cdef bint prepare_sweeps(Graph* g) noexcept nogil:
    """Turn the edges round, and set the values of a round that is cut at once; False when
    there is no memory."""
    cdef size_t n = g.used, values = n * g.players
    cdef uint64_t e
    cdef uint32_t node
    cdef int seat
    g.into = <uint64_t*>calloc(n + 2, sizeof(uint64_t))
    g.sources = <uint32_t*>malloc((g.edges_used + 1) * sizeof(uint32_t))
    g.value = <int16_t*>malloc(values * sizeof(int16_t))
    g.fresh = <int16_t*>malloc(values * sizeof(int16_t))
    g.dirty = <uint32_t*>malloc(n * sizeof(uint32_t))
    g.changed = <uint32_t*>malloc(n * sizeof(uint32_t))
    g.marked = <uint8_t*>calloc(n, 1)
    if (g.into == NULL or g.sources == NULL or g.value == NULL or g.fresh == NULL
            or g.dirty == NULL or g.changed == NULL or g.marked == NULL):
        return False
    # a place further on, for filling moves each start to the start of the next
    for e in range(g.edges_used):
        g.into[(g.edges[e] & (MOST_NODES - 1)) + 2] += 1
    for node in range(g.used):
        g.into[node + 1] += g.into[node]
    for node in range(g.used):
        for e in range(g.first[node], g.first[node + 1]):
            g.sources[g.into[(g.edges[e] & (MOST_NODES - 1)) + 1]] = node
            g.into[(g.edges[e] & (MOST_NODES - 1)) + 1] += 1
        g.dirty[node] = node
        for seat in range(g.players):
            g.value[<size_t>node * g.players + seat] = \
                -<int16_t>g.keys[<size_t>node * g.key_bytes + SIZES + seat]
    g.dirty_count = g.used
    return True


cdef bint sweep(Graph* g, const State* table) noexcept nogil:
    """Move the cut one move further away; whether any value changed."""
    cdef uint32_t changed = 0, k, node, source
    cdef uint64_t e
    for k in range(g.dirty_count):
        node = g.dirty[k]
        g.marked[node] = False
        if work_out(g, node, table):
            g.changed[changed] = node
            changed += 1
    g.dirty_count = 0
    for k in range(changed):
        node = g.changed[k]
        memcpy(g.value + <size_t>node * g.players, g.fresh + <size_t>node * g.players,
               g.players * sizeof(int16_t))
        for e in range(g.into[node], g.into[node + 1]):
            source = g.sources[e]
            if not g.marked[source]:
                g.marked[source] = True
                g.dirty[g.dirty_count] = source
                g.dirty_count += 1
    return changed > 0


cdef void release(Graph* g) noexcept nogil:
    free(g.keys)
    free(g.first)
    free(g.ended)
    free(g.has_ended)
    free(g.stamp)
    free(g.table)
    free(g.edges)
    free(g.into)
    free(g.sources)
    free(g.value)
    free(g.fresh)
    free(g.dirty)
    free(g.changed)
    free(g.marked)


cdef _solved(Round round_, nodes, bint kind, bint folded):
    """The points that each move leads to, in canonical order, and the solution."""
    cdef Graph g
    cdef State now = round_.state  # others may play on in it while this works
    cdef const State* s = &now
    cdef State after
    cdef uint32_t* moves = NULL
    cdef uint8_t key[KEY_MOST]
    cdef int points[MAX_PLAYERS]
    cdef int best[MAX_PLAYERS]
    cdef int status, n, k, seat, cards, left, depth = 0
    cdef long found
    cdef bint going_on = True
    if s.end:
        raise ValueError("the round is over")
    round_._open_all()
    if not 1 <= nodes < MOST_NODES:
        raise ValueError(f"expected 1 to {MOST_NODES - 1} nodes: {nodes}")
    memset(&g, 0, sizeof(Graph))
    memset(points, 0, sizeof(points))
    memset(best, 0, sizeof(best))
    g.players = s.players
    g.folded = folded
    g.kind = kind
    g.forced_pass = s.forced_pass
    g.most = nodes
    cards = s.active_size
    for seat in range(s.players):
        cards += s.size[seat]
    g.key_bytes = (header_bytes(s.players) + cards + 7) // 8 * 8
    moves = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
    try:
        if moves == NULL:
            raise MemoryError
        write_key(&g, s, key)
        status = 1 if find_node(&g, key, True) >= 0 else NO_ROOM
        while status == 1:
            with nogil:
                status = expand_batch(&g, moves)
            PyErr_CheckSignals()
        if status == OVER:
            raise EndingTooBigError(f"expected an ending of at most {nodes} positions "
                                    f"({cards} cards are left)")
        with nogil:
            if status == 0 and not prepare_sweeps(&g):
                status = NO_ROOM
        if status == NO_ROOM:
            raise MemoryError
        # the move at hand is one of those that are left
        left = MAX_MOVES_MADE - s.made
        while going_on and depth < left - 1:
            with nogil:
                going_on = sweep(&g, s)
            depth += going_on
            PyErr_CheckSignals()
        n = list_moves(s, False, moves)
        answers = []
        chosen = 0
        for k in range(n):
            state_copy(&after, s)
            state_play(&after, moves[k])
            if after.end == RUNNING:
                write_key(&g, &after, key)
                found = find_node(&g, key, False)
                for seat in range(s.players):
                    points[seat] = (after.captured[seat] + after.chips[seat]
                                    + g.value[<size_t>found * g.players
                                              + (seat - (after.turn if folded else 0) + g.players)
                                              % g.players])
            else:
                for seat in range(s.players):
                    points[seat] = state_points(&after, seat)
            if k == 0 or better(points, best, s.turn, s, kind):
                memcpy(best, points, sizeof(best))
                chosen = k
            answers.append((moves[k], tuple([points[seat] for seat in range(s.players)])))
        return answers, Solution(answers[chosen][0], answers[chosen][1], g.used, depth + 1,
                                 not going_on)
    finally:
        free(moves)
        release(&g)


def solve(Round round_ not None, nodes=1_000_000, bint kind=False) -> Solution:
    """The best move of an open position, and the points that it leads to.

    Every seat is taken to maximise its own margin (its points of the round minus the mean
    of the others'), ties by the rule that the module states, to the end of the round. A
    round that would be longer than 1000 moves is cut there, as by the rules.

    Args:
        round_: after the flip phase, all hands known.
        nodes: how many different positions may be reached, at most; each takes some hundred
            bytes.
        kind: the other tie rule: see the module.

    Raises:
        EndingTooBigError: there are more; no part of an answer is given then.
        ValueError: the round is over, hidden cards, the flip phase, or no such number of
            nodes.
        MemoryError: no room for that many.
    """
    return _solved(round_, nodes, kind, True)[1]


def solve_all(Round round_ not None, nodes=1_000_000, bint kind=False, bint folded=True) -> list:
    """What every move leads to; see `solve`.

    Args:
        round_: after the flip phase, all hands known.
        nodes: how many different positions may be reached.
        kind: the other tie rule.
        folded: store positions once that are equal by turning seats or rows round. False
            takes many times the nodes for the same answer: it is there to show that.

    Returns:
        (move code, points of each seat at the end of the round), one per outcome, in
        canonical order.

    Raises:
        as `solve`.
    """
    return _solved(round_, nodes, kind, folded)[0]
