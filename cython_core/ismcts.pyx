"""Single-observer information-set Monte Carlo tree search.

Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012), section
IV: one tree of what the searching seat can observe, each simulation in a freshly sampled
world, and for every child the number of times it was there to be chosen (its
availability).  Here children are chosen by the rule of Rosin, "Multi-armed bandits with
episode context" (2011), with a prior from the planner's values; a node looks only at the
moves that the planner likes best, the more the oftener it was visited (progressive
widening: Coulom, "Computing Elo ratings of move patterns", 2007).  Every seat maximises
its own margin.  With a network its values take the planner's place: the prior is their softmax,
and learned players play on.

Several independent trees grow from one root and their sums are added (root parallelism),
always the same number of them, so that the answer does not depend on the threads.

Other seats' choices to keep or flip are made by the planner's rule and are not nodes; at a
root in the flip phase both choices are tried equally often.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .bits cimport large_pages, prefetch
from .chain cimport World, Worlds
from .evaluate cimport MAX_CANDIDATES, POINT, Network, Rated, plain_exp, rate_moves
from .moves cimport MAX_LISTED, list_moves
from .planner cimport (
    Shape, insert_key, key_move, key_value, move_key, planner_choice, planner_value, shape_hand,
)
from .policy cimport Policy, play_out
from .rng cimport RngState, mixed, rng_split, turned_by
from .search cimport PLAYOUT_MOVES, Root, Sums, add_outcome, margin_units, merge_sums
from .state cimport (
    NOBODY, RUNNING, SCOUT_SHOW, SHOW, Seen, State, end_card, move_end, move_first, move_kind,
    move_last, move_place, move_turned, scouts_card, see, state_play, state_points,
)

cdef enum:
    WIDEST = 64         # moves that a node can look at
    SMALLEST_TABLE = 1024
    DEEPEST = 1 + PLAYOUT_MOVES

# The prior: half of it uniform, half of it falling with the planner's value d points below
# the best as (1 + d)^-2.
cdef double UNIFORM_PRIOR = 0.5

# Or, by the evaluation, as exp(-d / TEMPERATURE); moves that it does not rate come after all others
# and have their share of the uniform half.
cdef double TEMPERATURE = 1.0
cdef enum:
    FINE = 1024                # to a point: evaluations in keys
    UNRATED = -(1 << 24)       # added to the planner's value
    LOWEST = 1 << 20           # no evaluation is as far below 0

# Typical spread of a round's margin in points, by number of players: what rewards are
# measured in.
cdef double[6] SPREAD = [0.0, 0.0, 3.6, 7.0, 5.7, 4.5]


# A move that was made at a node, and the node that it leads to.
cdef struct Edge:
    uint64_t move_key[2]   # the move and, where others show, the cards
    int64_t margin[5]      # of each seat, in margin_units, summed over visits
    int32_t parent
    int32_t first_child
    int32_t next           # sibling
    uint32_t visits
    uint32_t available     # visits of the parent at which this move was looked at


cdef struct Tree:
    Edge* edges            # edge 0 stands for the root
    int32_t used
    int32_t room
    int32_t* table         # open addressing, 0 is empty; doubled when it is half full
    uint64_t table_mask
    Sums* sums             # by root move
    RngState rng
    uint64_t done          # simulations
    uint64_t number        # of the tree


cdef struct Candidate:
    uint32_t move
    int32_t index          # at the root: of the root move
    int32_t edge           # 0 when the tree has none yet
    double weight          # its share of the prior
    uint64_t key[2]


cdef inline uint64_t slot_of(const Tree* t, int32_t parent, const uint64_t* key) noexcept nogil:
    return mixed(key[0] ^ mixed(key[1] + <uint64_t>parent * <uint64_t>0x9E3779B97F4A7C15))


cdef inline int32_t find_edge(const Tree* t, int32_t parent, const uint64_t* key) noexcept nogil:
    """The edge of a move at a node, 0 when there is none."""
    cdef uint64_t slot = slot_of(t, parent, key) & t.table_mask
    cdef int32_t edge
    while t.table[slot]:
        edge = t.table[slot]
        if (t.edges[edge].parent == parent and t.edges[edge].move_key[0] == key[0]
                and t.edges[edge].move_key[1] == key[1]):
            return edge
        slot = (slot + 1) & t.table_mask
    return 0


cdef inline int32_t add_edge(Tree* t, int32_t parent, const uint64_t* key) noexcept nogil:
    """A new edge, 0 when the memory is used up."""
    cdef uint64_t slot
    cdef int32_t edge = t.used
    if edge == t.room:
        return 0
    t.used += 1
    memset(&t.edges[edge], 0, sizeof(Edge))
    t.edges[edge].move_key[0] = key[0]
    t.edges[edge].move_key[1] = key[1]
    t.edges[edge].parent = parent
    t.edges[edge].next = t.edges[parent].first_child
    t.edges[parent].first_child = edge
    slot = slot_of(t, parent, key) & t.table_mask
    while t.table[slot]:
        slot = (slot + 1) & t.table_mask
    t.table[slot] = edge
    return edge


cdef bint grow_table(Tree* t) noexcept nogil:
    """Twice the table; False when there is no memory. The old one goes first: at no time are there
    two."""
    cdef uint64_t slots = 2 * (t.table_mask + 1), slot
    cdef int32_t edge
    free(t.table)
    t.table = <int32_t*>calloc(slots, sizeof(int32_t))
    if t.table == NULL:
        return False
    large_pages(t.table, slots * sizeof(int32_t))
    t.table_mask = slots - 1
    for edge in range(1, t.used):
        slot = slot_of(t, t.edges[edge].parent, t.edges[edge].move_key) & t.table_mask
        while t.table[slot]:
            slot = (slot + 1) & t.table_mask
        t.table[slot] = edge
    return True


cdef inline void observed(const State* s, int observer, Candidate* c) noexcept nogil:
    """Write the key of a move: all that the observer sees of it."""
    cdef const uint8_t* row = s.row[s.turn]
    cdef uint8_t shown[16]
    cdef int i, at, n = 0, kind = move_kind(c.move), place = move_place(c.move)
    c.key[0] = c.move
    c.key[1] = 0
    if s.turn == observer or (kind != SHOW and kind != SCOUT_SHOW):
        return
    for i in range(16):
        shown[i] = 0
    for i in range(move_first(c.move), move_last(c.move) + 1):
        at = i
        if kind == SCOUT_SHOW:
            at = i - (i > place)
        shown[n] = row[at]
        if kind == SCOUT_SHOW and i == place:
            shown[n] = turned_by(end_card(s, move_end(c.move)), move_turned(c.move))
        n += 1
    memcpy(&c.key[1], shown, 8)
    c.key[0] |= <uint64_t>shown[8] << 32 | <uint64_t>shown[9] << 40


cdef class Ismcts(Root):
    """A root with the trees that grow from it; see Root.

    Args:
        trees: how many.
        memory: bytes for all of them at most, of which only what the nodes need is touched;
            a tree that has used its part goes on with the nodes that it has.
        explore: weight of the prior's term, in spreads of a round's margin.
        widen: a node looks at 2 + widen * sqrt(visits) moves.
        worlds: simulate in these, one after the other, each seat as its model there; None: in
            worlds drawn uniformly.
        network: orders the moves and plays on; None: the planner does.
    """
    cdef Tree* forest
    cdef readonly int trees
    cdef double explore
    cdef double widen
    cdef int scout_eighths
    cdef readonly Worlds worlds
    cdef const World* drawn

    def __cinit__(self):
        self.forest = NULL
        self.drawn = NULL
        self.trees = 0

    def __init__(self, round_, rng, double scout_cost=1.0, game=None, int trees=4,
                 size_t memory=256 << 20, double explore=1.0, double widen=0.5,
                 Worlds worlds=None, Network network=None):
        cdef size_t part, room
        cdef int i
        Root.__init__(self, round_, rng, scout_cost, game, network)
        self._check_worlds(worlds)
        self.worlds = worlds
        if worlds is not None:
            self.drawn = worlds.worlds
        if trees < 1:
            raise ValueError(f"expected at least 1 tree: {trees}")
        part = memory // <size_t>trees
        room = part // (sizeof(Edge) + 4 * sizeof(int32_t))
        room = min(room, <size_t>1 << 30)
        if room < 1000:
            raise ValueError(f"expected memory for at least 1000 nodes a tree: {memory} bytes "
                             f"for {trees} trees")
        self.explore = explore
        self.widen = widen
        self.scout_eighths = int(8 * scout_cost)
        self.forest = <Tree*>calloc(trees, sizeof(Tree))
        if self.forest == NULL:
            raise MemoryError
        self.trees = trees
        for i in range(trees):
            self.forest[i].edges = <Edge*>malloc(room * sizeof(Edge))  # untouched: no pages yet
            large_pages(self.forest[i].edges, room * sizeof(Edge))
            self.forest[i].table = <int32_t*>calloc(SMALLEST_TABLE, sizeof(int32_t))
            self.forest[i].sums = <Sums*>calloc(self.count, sizeof(Sums))
            if (self.forest[i].edges == NULL or self.forest[i].table == NULL
                    or self.forest[i].sums == NULL):
                raise MemoryError
            self.forest[i].room = <int32_t>room
            memset(&self.forest[i].edges[0], 0, sizeof(Edge))
            self.forest[i].used = 1
            self.forest[i].table_mask = SMALLEST_TABLE - 1
            self.forest[i].number = <uint64_t>i
            self.forest[i].rng = rng_split(&self.rng, <uint64_t>i)

    def __dealloc__(self):
        cdef int i
        if self.forest != NULL:
            for i in range(self.trees):
                free(self.forest[i].edges)
                free(self.forest[i].table)
                free(self.forest[i].sums)
            free(self.forest)

    def run(self, int tree, uint64_t simulations) -> None:
        """Grow one tree; different trees may grow on different threads.

        Raises:
            IndexError: no such tree.
            MemoryError: no room for a list of moves, or for the tree within its bound.
        """
        cdef uint32_t* scratch
        cdef Tree* t
        cdef bint room = True
        if not 0 <= tree < self.trees:
            raise IndexError(f"expected tree 0 to {self.trees - 1}: {tree}")
        scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        if scratch == NULL:
            raise MemoryError
        t = &self.forest[tree]
        with nogil:
            for _ in range(simulations):
                if 2 * <uint64_t>t.used > t.table_mask:
                    room = t.table != NULL and grow_table(t)
                    if not room:
                        break
                self.simulate(t, scratch)
        free(scratch)
        if not room:
            raise MemoryError

    @property
    def done(self) -> int:
        """Simulations made, in all trees."""
        return sum([self.forest[i].done for i in range(self.trees)])

    @property
    def nodes(self) -> int:
        """Nodes in all trees."""
        return sum([self.forest[i].used for i in range(self.trees)])

    def lines(self) -> list:
        """What is known of each move, summed over the trees; see Root.lines."""
        cdef int i, k
        for k in range(self.count):
            memset(&self.sums[k], 0, sizeof(Sums))
            for i in range(self.trees):
                merge_sums(&self.sums[k], &self.forest[i].sums[k])
        return Root.lines(self)

    def variation(self, uint32_t code, int most=8) -> list:
        """The moves most visited after a root move, in the tree that visited it most.

        Returns:
            (move code, cards shown by another seat as bytes) for each further move; ties
            by the move that was found first.
        """
        cdef int i
        cdef int32_t edge, child, best
        cdef Tree* t = NULL
        cdef uint64_t key[2]
        found = []
        key[0] = code
        key[1] = 0
        best = 0
        for i in range(self.trees):
            if self.forest[i].table == NULL:
                continue
            edge = find_edge(&self.forest[i], 0, key)
            if edge and (t == NULL or self.forest[i].edges[edge].visits > t.edges[best].visits):
                t = &self.forest[i]
                best = edge
        while t != NULL and len(found) < most:
            edge = t.edges[best].first_child
            child = 0
            while edge:  # later children come first
                if not child or t.edges[edge].visits >= t.edges[child].visits:
                    child = edge
                edge = t.edges[edge].next
            if not child:
                break
            best = child
            cards = ((<uint8_t*>&t.edges[best].move_key[1])[:8]
                     + bytes([(t.edges[best].move_key[0] >> 32) & 255,
                              (t.edges[best].move_key[0] >> 40) & 255]))
            found.append((t.edges[best].move_key[0] & 0xFFFFFFFF, cards.rstrip(b"\0")))
        return found

    cdef int look(self, const Tree* t, int32_t node, const State* s, const Seen* seen,
                  uint32_t* scratch, Candidate* out) noexcept nogil:
        """The moves that a node looks at in this world, the best first, by the planner or by the
        network."""
        cdef uint64_t visits = t.done if node == 0 else t.edges[node].visits
        cdef int most = 2 + <int>(self.widen * sqrt(<double>visits)), n, k
        cdef int64_t keys[WIDEST]
        cdef uint64_t slots[WIDEST]
        cdef double total = 0
        most = WIDEST if most > WIDEST else most
        if node == 0:
            n = most if most < self.count else self.count
            for k in range(n):
                out[k].move = self.moves[k]
                out[k].index = k
                keys[k] = move_key(
                    self.values[k] if self.network is None or k < self.rated
                    else UNRATED + self.values[k], self.moves[k])
        else:
            n = 0
            if self.network is not None:
                n = self.best_rated(s, seen, most, keys)
            if n < most:
                n = self.best_planned(s, n, most, scratch, keys)
            for k in range(n):
                out[k].move = key_move(keys[k])
                out[k].index = -1
        for k in range(n):
            out[k].weight = self.liking(key_value(keys[0]), key_value(keys[k]))
            total += out[k].weight
            observed(s, self.seat, &out[k])
            slots[k] = slot_of(t, node, out[k].key) & t.table_mask
            prefetch(&t.table[slots[k]])
        for k in range(n):  # in a large tree each of these waits for memory: let them wait together
            prefetch(&t.edges[t.table[slots[k]]])
        for k in range(n):
            out[k].edge = find_edge(t, node, out[k].key)
            out[k].weight = (1.0 - UNIFORM_PRIOR) * out[k].weight / total + UNIFORM_PRIOR / n
        return n

    cdef inline double liking(self, int best, int value) noexcept nogil:
        """What a move's share of the prior is proportional to."""
        cdef double weight
        if self.network is None:
            weight = 1.0 / (1.0 + (best - value) / 8.0)
            return weight * weight
        return plain_exp((value - best) / (FINE * TEMPERATURE))

    cdef int best_planned(self, const State* s, int rated, int most, uint32_t* scratch,
                          int64_t* keys) noexcept nogil:
        """Fill up with the planner's best moves; return how many there are then."""
        cdef int listed = list_moves(s, False, scratch), n = rated, k, i, kind, value
        cdef Shape shape
        shape_hand(&shape, s.row[s.turn], s.size[s.turn])
        for k in range(listed):
            kind = move_kind(scratch[k])
            value = planner_value(&shape, s, scratch[k]) - (
                self.scout_eighths if scouts_card(kind) else 0)
            if self.network is not None:
                value += UNRATED
                for i in range(rated):
                    if key_move(keys[i]) == scratch[k]:
                        break
                else:
                    i = rated
                if i < rated:
                    continue
            n = insert_key(keys, n, most, move_key(value, scratch[k]))
        return n

    cdef int best_rated(self, const State* s, const Seen* seen, int most,
                        int64_t* keys) noexcept nogil:
        """The best moves by the network's value; return how many."""
        cdef Rated rated[MAX_CANDIDATES]
        cdef int n = 0, k, count = rate_moves(self.network.net, s, seen, rated)
        cdef int64_t unit = (s.players - 1) * (POINT // FINE)
        for k in range(count):  # rounded down, also below 0, in every build
            n = insert_key(keys, n, most, move_key(
                <int>((rated[k].value + LOWEST * unit) // unit - LOWEST), rated[k].move))
        return n

    cdef int choose(self, const Tree* t, const Candidate* c, int n, int mover,
                    int players) noexcept nogil:
        """The candidate to play: the first that is new, as long as there is memory, else the
        one of the best bound; ties go to the planner's better move."""
        cdef double value, best_value = -1e300
        cdef double unit = (players - 1) * SPREAD[players]
        cdef Edge* e
        cdef int k, best = 0
        for k in range(n):
            if c[k].edge == 0 and t.used < t.room:
                return k
        for k in range(n):
            if c[k].edge == 0:
                continue
            e = &t.edges[c[k].edge]
            value = (<double>e.margin[mover] / (unit * e.visits)
                     + self.explore * c[k].weight * sqrt(<double>e.available)
                     / (1.0 + e.visits))
            if value > best_value:
                best_value = value
                best = k
        return best

    cdef void simulate(self, Tree* t, uint32_t* scratch) noexcept nogil:
        cdef State s
        cdef Policy policies[5]
        cdef const World* drawn = NULL
        cdef Seen seen = self.knowledge.seen
        cdef RngState rng = rng_split(&t.rng, t.done)
        cdef int32_t path[DEEPEST]
        cdef int32_t node = 0, edge
        cdef int depth = 0, n, k, pick, root_move = 0, seat
        cdef int points[5]
        cdef int margins[5]
        cdef Candidate looked[WIDEST]
        if self.drawn != NULL:
            drawn = &self.drawn[(t.done * <uint64_t>self.trees + t.number)
                                % <uint64_t>self.worlds.count]
        self.world(drawn, &rng, &s, policies)
        while s.end == RUNNING and depth < DEEPEST:
            if node and s.start != NOBODY:
                state_play(&s, planner_choice(&s))  # a flip shows nobody a card
                continue
            n = self.look(t, node, &s, &seen, scratch, looked)
            if s.start != NOBODY:
                pick = t.done % <uint64_t>n
            else:
                pick = self.choose(t, looked, n, s.turn, s.players)
            for k in range(n):
                t.edges[looked[k].edge].available += looked[k].edge != 0
            edge = looked[pick].edge
            if node == 0:
                root_move = looked[pick].index
            if edge == 0:
                edge = add_edge(t, node, looked[pick].key)
                t.edges[edge].available += edge != 0
            see(&seen, &s, looked[pick].move)
            state_play(&s, looked[pick].move)
            if edge == 0:
                break
            path[depth] = edge
            depth += 1
            node = edge
            if t.edges[edge].visits == 0:
                break
        play_out(&s, &seen, policies, PLAYOUT_MOVES, &rng, scratch)
        for seat in range(s.players):
            points[seat] = state_points(&s, seat)
        for seat in range(s.players):
            margins[seat] = margin_units(&s, seat, points)
        for k in range(depth):
            t.edges[path[k]].visits += 1
            for seat in range(s.players):
                t.edges[path[k]].margin[seat] += margins[seat]
        add_outcome(&t.sums[root_move], &s, self.seat, &self.ahead, &rng)
        t.done += 1
