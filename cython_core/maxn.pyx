"""Tree search of open endings: best-first max^n.

When no card is hidden and players do not roll dice, a second playout from a position is the
first one again, and to average over playouts says nothing.  So the value of a node is not the
mean of what was played below it but what the seat to move makes of it: the best of the moves
tried there (max^n: Luckhardt and Irani, "An algorithmic solution of n-person games", 1986), and
below that the playout of the planners.  Which node grows next is chosen by the bound of Rosin,
as in `ismcts`.

A node whose moves all end the round, or lead to nodes that are proven, is proven: its value is
exact, and nobody goes there again (Winands, Bjornsson and Saito, "Monte-Carlo tree search
solver", 2008).  When the root is, the search is over.

Moves made in another order may lead to the same position after as many moves: it has one node.
A row that lies the other way round can do the same and counts as the same.  The number of moves
is part of the position, so that no line comes back to where it was.

This is for endings.  With many cards left, far from any proof, to take the best of single
playouts for the truth loses to averages.

Ties. A seat prefers, in this order, its own higher margin, the lower margin of the next seat,
of the one after it and so on, and the fewer points of all together; then the planner's better
move.
"""
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .moves cimport MAX_LISTED, list_moves
from .planner cimport Shape, planner_value, shape_hand
from .policy cimport play_out
from .rng cimport RngState, mixed, rng_split
from .search cimport PLAYOUT_MOVES, Root, Sums, add_outcome
from .state cimport (
    NOBODY, RUNNING, State, move_kind, scouts_card, seat_after, state_copy, state_play,
    state_points,
)

cdef enum:
    DEEPEST = 1 + PLAYOUT_MOVES
    UNTRIED = 0             # no node: the root is nobody's child
    ENDS = -1               # no node: the round is over
    TABLE_SHARE = 16        # bytes of the table that a node may need
    SMALLEST_TABLE = 1024
    LEAST_MEMORY = 1 << 16
    DRAWN_ENDS = 512        # of the game, for the chance to win it

# Weight of the prior's term when `explore` is 1. Nothing wavers here: what one playout makes look
# bad is not looked at again by chance, so more has to be tried than where values are means.
cdef double EXPLORE = 4.0

# The prior of a move d points below the planner's best falls as (1 + d)^-2; half is uniform.
cdef double UNIFORM_PRIOR = 0.5

# Typical spread of a round's margin in points, by number of players.
cdef double[6] SPREAD = [0.0, 0.0, 3.6, 7.0, 5.7, 4.5]


# A move at a node.
cdef struct Branch:
    uint32_t move
    int32_t node
    uint32_t visits
    float weight            # its prior, as yet not divided by the sum
    int8_t gain[5]          # points of each seat on the way to its node, or to the end


# A position, with its rows as `tidy` lays them.
cdef struct Node:
    uint64_t key[2]
    Branch* branches        # the planner's best first
    int32_t count
    uint32_t visits
    int16_t value[5]        # points to come, of each seat
    uint8_t turn
    bint proven
    uint32_t settled        # the last time that it was


cdef struct Line:
    int depth
    int32_t nodes[DEEPEST]
    Branch* branches[DEEPEST]


cdef inline void tidy_row(uint8_t* row, int n) noexcept nogil:
    """Of the two directions of a row, the one that comes first."""
    cdef int i
    cdef uint8_t card
    for i in range(n // 2):
        if row[i] != row[n - 1 - i]:
            if row[i] < row[n - 1 - i]:
                return
            break
    for i in range(n // 2):
        card = row[i]
        row[i] = row[n - 1 - i]
        row[n - 1 - i] = card


cdef inline void tidy(State* s) noexcept nogil:
    cdef int seat
    tidy_row(s.active, s.active_size)
    for seat in range(s.players):
        tidy_row(s.row[seat], s.size[seat])


cdef inline void take_in(uint64_t* key, const uint8_t* row, int n) noexcept nogil:
    cdef uint64_t word
    cdef int i
    for i in range(0, n, 8):
        word = 0
        memcpy(&word, row + i, 8 if n - i >= 8 else n - i)
        key[0] = mixed(key[0] + word)
        key[1] = mixed((key[1] ^ word) * <uint64_t>0x9E3779B97F4A7C15)


cdef inline void position_key(const State* s, uint64_t* key) noexcept nogil:
    """All that the points to come depend on, in 128 bits."""
    cdef int seat
    key[0] = (<uint64_t>s.made | <uint64_t>s.turn << 16 | <uint64_t>s.owner << 24
              | <uint64_t>s.tokens << 32 | <uint64_t>s.active_size << 40)
    key[1] = 0
    for seat in range(s.players):
        key[1] = key[1] << 8 | s.size[seat]
    if s.players == 2:
        key[1] = key[1] << 16 | s.chips[0]
        key[1] = key[1] << 16 | s.chips[1]
    take_in(key, s.active, s.active_size)
    for seat in range(s.players):
        take_in(key, s.row[seat], s.size[seat])


cdef inline bint same_place(const State* s, const uint64_t* key) noexcept nogil:
    cdef uint64_t own[2]
    position_key(s, own)
    return own[0] == key[0] and own[1] == key[1]


cdef inline int gain_of(const int* points, int seat, int players) noexcept nogil:
    """(players - 1) times the margin of a seat."""
    cdef int other, total = 0
    for other in range(players):
        total += points[other]
    return players * points[seat] - total


cdef inline bint prefers(const State* s, int seat, const int* a, const int* b) noexcept nogil:
    """Whether a seat would rather have the points a than the points b."""
    cdef int more[5]
    cdef int other, total = 0, gain
    for other in range(s.players):
        more[other] = a[other] - b[other]
        total += more[other]
    other = seat
    for _ in range(s.players):
        gain = s.players * more[other] - total
        if gain:
            return (gain > 0) == (other == seat)
        other = seat_after(s, other)
    return total < 0


cdef class Maxn(Root):
    """An open position with what can come of it; see Root.

    Args:
        memory: bytes at most, of which only what the nodes need is touched; when they are used
            up the search is over.
        explore: weight of the prior's term, in EXPLORE spreads of a round's margin.
        widen: a node tries 2 + widen * sqrt(visits) moves.

    Raises:
        ValueError: cards are hidden, or the flip phase is not over.
    """
    cdef uint8_t* block      # nodes from the front, branches from the back
    cdef Node* nodes_
    cdef Branch* branches    # the last that were taken
    cdef size_t room
    cdef int32_t used
    cdef int32_t* table      # open addressing, 0 is empty; doubled when it is half full
    cdef uint64_t table_mask
    cdef double explore
    cdef double widen
    cdef int scout_eighths
    cdef State start
    cdef readonly uint64_t done
    cdef bint full
    cdef bint stale        # values were not worked out again since the last simulation

    def __cinit__(self):
        self.block = NULL
        self.table = NULL

    def __init__(self, round_, rng, double scout_cost=1.0, game=None, size_t memory=256 << 20,
                 double explore=1.0, double widen=0.5):
        cdef RngState unused = rng_split(&self.rng, 0)
        Root.__init__(self, round_, rng, scout_cost, game)
        if self.knowledge.hidden or self.knowledge.known.start != NOBODY:
            raise ValueError("expected open hands, after the flip phase")
        if memory < LEAST_MEMORY:
            raise ValueError(f"expected at least {LEAST_MEMORY} bytes of memory: {memory}")
        self.explore = EXPLORE * explore
        self.widen = widen
        self.scout_eighths = int(8 * scout_cost)
        self.world(NULL, &unused, &self.start, self.policies)
        self.room = memory - memory % sizeof(Node)
        self.block = <uint8_t*>malloc(self.room)  # untouched: no pages yet
        self.table = <int32_t*>calloc(SMALLEST_TABLE, sizeof(int32_t))
        if self.block == NULL or self.table == NULL:
            raise MemoryError
        self.table_mask = SMALLEST_TABLE - 1
        self.nodes_ = <Node*>self.block
        self.branches = <Branch*>(self.block + self.room)
        self.used = 0
        self.done = 0
        self.full = False
        self.add_node(&self.start)

    def __dealloc__(self):
        free(self.block)
        free(self.table)

    cdef bint has_room(self, int nodes, int branches) noexcept nogil:
        cdef size_t taken = (<size_t>(self.used + nodes) * (sizeof(Node) + TABLE_SHARE)
                             + (self.block + self.room - <uint8_t*>self.branches)
                             + <size_t>branches * sizeof(Branch))
        return taken <= self.room

    cdef int32_t find(self, const uint64_t* key) noexcept nogil:
        cdef uint64_t slot = key[0] & self.table_mask
        cdef Node* n
        while self.table[slot]:
            n = &self.nodes_[self.table[slot]]
            if n.key[0] == key[0] and n.key[1] == key[1]:
                return self.table[slot]
            slot = (slot + 1) & self.table_mask
        return UNTRIED

    cdef void enter(self, int32_t node) noexcept nogil:
        cdef uint64_t slot = self.nodes_[node].key[0] & self.table_mask
        while self.table[slot]:
            slot = (slot + 1) & self.table_mask
        self.table[slot] = node

    cdef bint grow_table(self) noexcept nogil:
        """Twice the table; False when there is no memory."""
        cdef uint64_t slots = 2 * (self.table_mask + 1)
        cdef int32_t node
        free(self.table)
        self.table = <int32_t*>calloc(slots, sizeof(int32_t))
        if self.table == NULL:
            return False
        self.table_mask = slots - 1
        for node in range(1, self.used):
            self.enter(node)
        return True

    cdef int32_t add_node(self, const State* s) noexcept nogil:
        """A new node for a position, played out by planners; there is room."""
        cdef Node* n = &self.nodes_[self.used]
        cdef State after
        cdef RngState rng = self.rng
        cdef uint32_t* scratch = NULL  # planners list no moves
        cdef int seat
        memset(n, 0, sizeof(Node))
        position_key(s, n.key)
        n.turn = s.turn
        state_copy(&after, s)
        play_out(&after, &self.knowledge.seen, self.policies, PLAYOUT_MOVES, &rng, scratch)
        for seat in range(s.players):
            n.value[seat] = <int16_t>(state_points(&after, seat) - s.captured[seat]
                                      - s.chips[seat])
        if self.used:
            self.enter(self.used)
        self.used += 1
        return self.used - 1

    cdef bint look(self, Node* n, const State* s, uint32_t* scratch) noexcept nogil:
        """List the moves of a node, and play those that end the round; False when there is no
        room."""
        cdef int listed = list_moves(s, False, scratch), k, i, kind, seat, value, best = 0
        cdef Shape shape
        cdef State after
        cdef Branch* b
        cdef Branch fresh
        if not self.has_room(0, listed):
            return False
        self.branches -= listed
        n.branches = self.branches
        n.count = listed
        shape_hand(&shape, s.row[s.turn], s.size[s.turn])
        # sorted by the planner's values, which stand in place of the nodes for the time being
        for k in range(listed):
            kind = move_kind(scratch[k])
            value = planner_value(&shape, s, scratch[k]) - (
                self.scout_eighths if scouts_card(kind) else 0)
            if k == 0 or value > best:
                best = value
            memset(&fresh, 0, sizeof(Branch))
            fresh.move = scratch[k]
            fresh.node = value
            i = k
            while i > 0 and n.branches[i - 1].node < value:
                n.branches[i] = n.branches[i - 1]
                i -= 1
            n.branches[i] = fresh
        for k in range(listed):
            b = &n.branches[k]
            b.weight = <float>(1.0 + (best - b.node) / 8.0)
            b.weight = 1 / (b.weight * b.weight)
            b.node = UNTRIED
            state_copy(&after, s)
            state_play(&after, b.move)
            if after.end != RUNNING:
                b.node = ENDS
            for seat in range(s.players):
                b.gain[seat] = <int8_t>(
                    (state_points(&after, seat) if after.end != RUNNING
                     else after.captured[seat] + after.chips[seat])
                    - s.captured[seat] - s.chips[seat])
        return True

    cdef inline void points_by(self, const Branch* b, int* points) noexcept nogil:
        """Points to come by a move that was tried; zeros behind the last seat."""
        cdef int seat
        for seat in range(5):
            points[seat] = b.gain[seat]
            if b.node > 0:
                points[seat] += self.nodes_[b.node].value[seat]

    cdef inline bint was_tried(self, const Node* n, const Branch* b) noexcept nogil:
        """Whether the move counts: at the root only once it was visited."""
        return b.node > 0 or (b.node == ENDS and (b.visits > 0 or n != self.nodes_))

    cdef inline bint is_proven(self, const Node* n, const Branch* b) noexcept nogil:
        if b.node > 0:
            return self.nodes_[b.node].proven
        return self.was_tried(n, b)

    cdef int best_of(self, const Node* n) noexcept nogil:
        """The best move that was tried, -1 when none was."""
        cdef int points[5]
        cdef int most[5]
        cdef int k, best = -1
        for k in range(n.count):
            if self.was_tried(n, &n.branches[k]):
                self.points_by(&n.branches[k], points)
                if best < 0 or prefers(&self.start, n.turn, points, most):
                    memcpy(most, points, sizeof(most))
                    best = k
        return best

    cdef void refresh(self, Node* n) noexcept nogil:
        """The value of a node from those of its moves, and whether it is proven. Before it was
        visited its playout stands for the moves not tried."""
        cdef int points[5]
        cdef int own[5]
        cdef int k, seat, best = self.best_of(n)
        n.proven = True
        for k in range(n.count):
            n.proven = n.proven and self.is_proven(n, &n.branches[k])
        if best < 0:
            return
        self.points_by(&n.branches[best], points)
        for seat in range(5):
            own[seat] = n.value[seat]
        if n.visits or n.proven or prefers(&self.start, n.turn, points, own):
            for seat in range(self.start.players):
                n.value[seat] = <int16_t>points[seat]

    cdef void settle(self, int32_t node, uint32_t when) noexcept nogil:
        """Work out all values again, from the leaves: a node that was reached by another line has
        told but one of those that lead to it."""
        cdef Node* n = &self.nodes_[node]
        cdef int k
        n.settled = when
        for k in range(n.count):
            if n.branches[k].node > 0 and self.nodes_[n.branches[k].node].settled != when:
                self.settle(n.branches[k].node, when)
        if n.branches != NULL:
            self.refresh(n)

    cdef void settle_all(self) noexcept:
        """Settle the tree, if it has grown since."""
        if self.stale:
            self.settle(0, self.nodes_[0].settled + 1)
            self.stale = False

    cdef int choose(self, const Node* n) noexcept nogil:
        """The move to try, -1 when all are proven."""
        cdef int most = 2 + <int>(self.widen * sqrt(<double>n.visits)), k, best = -1
        cdef int players = self.start.players
        cdef double unit = (players - 1) * SPREAD[players], value, best_value = 0, total = 0
        cdef double root = sqrt(<double>n.visits + 1)
        cdef int points[5]
        most = n.count if most > n.count else most
        for k in range(most):
            total += n.branches[k].weight
        for k in range(n.count):
            if self.is_proven(n, &n.branches[k]):
                continue
            if n.branches[k].node == ENDS:
                return k
            if k >= most and best >= 0:
                continue
            if n.branches[k].node == UNTRIED:
                return k
            self.points_by(&n.branches[k], points)
            value = (gain_of(points, n.turn, players) / unit
                     + self.explore * root / (1.0 + n.branches[k].visits)
                     * ((1 - UNIFORM_PRIOR) * n.branches[k].weight / total
                        + UNIFORM_PRIOR / most))
            if best < 0 or value > best_value:
                best_value = value
                best = k
        return best

    cdef bint simulate(self, uint32_t* scratch) noexcept nogil:
        """Grow by a node, or find out that there is one already; False when there is no room."""
        cdef State s
        cdef uint64_t key[2]
        cdef Line line
        cdef Branch* b
        cdef Node* n
        cdef int32_t node = 0
        cdef int k
        cdef bint room = True
        state_copy(&s, &self.start)
        line.depth = 0
        while True:
            n = &self.nodes_[node]
            if n.branches == NULL and not self.look(n, &s, scratch):
                room = False
                break
            line.nodes[line.depth] = node
            k = self.choose(n)
            if k < 0:
                line.branches[line.depth] = NULL
                line.depth += 1
                break
            b = &n.branches[k]
            line.branches[line.depth] = b
            line.depth += 1
            state_play(&s, b.move)
            tidy(&s)
            if b.node == ENDS:
                break
            if b.node == UNTRIED:
                position_key(&s, key)
                b.node = self.find(key)
                if b.node == UNTRIED:
                    if not self.has_room(1, 0):
                        room = False
                        break
                    b.node = self.add_node(&s)
                    room = self.look(&self.nodes_[b.node], &s, scratch)
                    if room:
                        self.refresh(&self.nodes_[b.node])
                    break
            node = b.node
            if self.nodes_[node].proven or line.depth == DEEPEST:
                break
        for k in range(line.depth - 1, -1, -1):
            n = &self.nodes_[line.nodes[k]]
            n.visits += 1
            if line.branches[k] != NULL:
                line.branches[k].visits += 1
            self.refresh(n)
        self.done += room
        return room

    def run(self, uint64_t simulations) -> bool:
        """Go on with the search.

        Returns:
            Whether there is more to find out: the root is not proven, and there is memory.

        Raises:
            MemoryError: no room for a list of moves, or for the tree within its bound.
        """
        cdef uint32_t* scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        cdef bint broken = self.table == NULL
        if scratch == NULL:
            raise MemoryError
        with nogil:
            for _ in range(simulations):
                if 2 * <uint64_t>self.used > self.table_mask:
                    broken = broken or not self.grow_table()
                if broken or self.full or self.nodes_[0].proven:
                    break
                self.stale = True
                self.full = not self.simulate(scratch)
                if self.done & (self.done - 1) == 0:
                    self.settle(0, self.nodes_[0].settled + 1)
        free(scratch)
        if broken:
            raise MemoryError
        return not self.full and not self.nodes_[0].proven

    @property
    def proven(self) -> bool:
        """Whether the value of the position is exact."""
        self.settle_all()
        return self.nodes_[0].proven

    @property
    def nodes(self) -> int:
        """Positions that were looked at."""
        return self.used

    def lines(self) -> list:
        """What is known of each move, in the order of `moves_ranked`; see Root.lines.

        The numbers are those that max^n comes to, so they have no errors.
        """
        cdef Node* n = self.nodes_
        cdef State s
        cdef RngState rng = rng_split(&self.rng, 0)
        cdef int k, i, draws
        self.settle_all()
        draws = DRAWN_ENDS if self.ahead.known and self.ahead.rounds_left else 1
        visits = [0] * self.count
        for i in range(self.count):
            memset(&self.sums[i], 0, sizeof(Sums))
            for k in range(n.count):
                if n.branches[k].move == self.moves[i] and self.was_tried(n, &n.branches[k]):
                    visits[i] = n.branches[k].visits
                    self.play_line(&n.branches[k], &s)
                    for _ in range(draws):
                        add_outcome(&self.sums[i], &s, self.seat, &self.ahead, &rng)
        return [(code, count, points, None, margin, None, win) for count,
                (code, _, points, _, margin, _, win)
                in zip(visits, Root.lines(self), strict=True)]

    cdef void play_line(self, const Branch* b, State* s) noexcept nogil:
        """Play a move at the root and what is expected then, to the end."""
        cdef RngState rng = self.rng
        cdef const Node* n
        cdef int k
        state_copy(s, &self.start)
        while True:
            state_play(s, b.move)
            tidy(s)
            if b.node <= 0:
                break
            n = &self.nodes_[b.node]
            k = self.best_of(n)
            if k < 0:
                break
            b = &n.branches[k]
        play_out(s, &self.knowledge.seen, self.policies, PLAYOUT_MOVES, &rng, NULL)

    def best(self) -> int:
        """The code of the best move."""
        cdef int k
        self.settle_all()
        k = self.best_of(self.nodes_)
        return self.moves[0] if k < 0 else self.nodes_[0].branches[k].move

    def variation(self, uint32_t code, int most=8) -> list:
        """The moves expected after a root move that was tried, as codes."""
        cdef Node* n = self.nodes_
        cdef State s = self.start
        cdef State after
        cdef uint64_t key[2]
        cdef uint32_t* scratch
        cdef int k, i, listed
        cdef Branch* b = NULL
        self.settle_all()
        found = []
        for k in range(n.count):
            if n.branches[k].move == code:
                b = &n.branches[k]
        if b == NULL or b.node <= 0:
            return found
        state_play(&s, code)
        scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        if scratch == NULL:
            raise MemoryError
        while len(found) < most and b.node > 0:
            n = &self.nodes_[b.node]
            k = self.best_of(n)
            if k < 0:
                break
            # rows lie the other way round in the node, perhaps: look for a move to the same place
            b = &n.branches[k]
            state_copy(&after, &s)
            tidy(&after)
            state_play(&after, b.move)
            tidy(&after)
            position_key(&after, key)
            listed = list_moves(&s, False, scratch)
            for i in range(listed):
                state_copy(&after, &s)
                state_play(&after, scratch[i])
                tidy(&after)
                if same_place(&after, key):
                    found.append(scratch[i])
                    state_play(&s, scratch[i])
                    break
            else:
                break
        free(scratch)
        return found
