# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The exploration kernel, compiled: the exact twin of `kernel.py` on flat C arrays.

States (trees), edges and memo tables are C arrays; Python runs only for what is new: a view of a cell, the answer of
an actor to a tuple of views, an edit of a cell, a memory of the observer. Cells are numbered in the same
order as in `kernel.py`, so that every number and every count of the two kernels is the same.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from kubeproof.engine._arenas cimport *
from kubeproof.engine._arrays cimport *
from kubeproof.engine._rows cimport *

from kubeproof.engine.kernel import FLAG_BITS, Lesson, Mark, Weighed, check_flags, check_restored, impure
from kubeproof.engine.packing import pack, unpack
from kubeproof.engine.system import STAGE_ORDER, Role, Turn, Step

cdef enum:
    MOST_SLOTS = 65536
    WALK_MASK = 16383  # states walked over between two looks at signals, less one
    ROOT = 8  # bytes of a stored state: the pair of its halves
    SIGNAL_MASK = 1023  # expansions between two looks at signals, less one
    STAGES = 4
    AT_FIRST = 0  # places in STAGE_ORDER
    AT_ALWAYS = 1
    AT_IDLE = 2
    AT_CALM = 3
    EVENT = 3
    URGENT = 0
    LEARN_INITIAL = 0
    LEARN_VIEW = 1
    LEARN_ANSWER = 2
    LEARN_EDIT = 3
    LEARN_MEMORY = 4
    DONE = 2147483647  # in the walk's index: the state's component is known
    MAX_STATES = 2147483646

cdef extern from *:
    """
    #define MOVED_FLAG ((int64_t)1 << 62)
    """
    const int64_t MOVED "MOVED_FLAG"  # set by `_take` when an effect changes the state

assert STAGE_ORDER == (Turn.FIRST, Turn.ALWAYS, Turn.IDLE, Turn.CALM) and len(Turn) == STAGES
assert Role.URGENT == URGENT and Role.EVENT == EVENT
assert list(Lesson) == [LEARN_INITIAL, LEARN_VIEW, LEARN_ANSWER, LEARN_EDIT, LEARN_MEMORY]


# -- readers: actors and the observer -------------------------------------------------------------

cdef struct Reader:
    int count  # slots read
    int32_t* slots
    Ints* views  # per slot read: cell -> view
    Tuples memo  # views, for the observer its memory before them
    Ints answers  # per tuple: first and last effect; for the observer: the new memory
    int64_t recent  # the tuple asked for last: states that follow each other are alike


cdef void drop_reader(Reader* reader) noexcept:
    cdef int position
    if reader.views != NULL:
        for position in range(reader.count):
            drop(&reader.views[position])
    free(reader.views)
    free(reader.slots)
    drop_tuples(&reader.memo)
    drop(&reader.answers)


cdef inline bint is_recent(Reader* reader, const int32_t* key) noexcept nogil:
    """True if the key is the tuple that was asked for last."""
    return reader.recent < reader.memo.count and same(
        reader.memo.keys.data + reader.recent * reader.memo.width, key, reader.memo.width
    )


cdef int64_t reader_bytes(Reader* reader) noexcept nogil:
    cdef int64_t total = reader.count * <int64_t>(sizeof(int32_t) + sizeof(Ints))
    cdef int position
    for position in range(reader.count):
        total += reader.views[position].capacity * <int64_t>sizeof(int32_t)
    return total + tuples_bytes(&reader.memo) + reader.answers.capacity * <int64_t>sizeof(int32_t)


# -- steps with weights -----------------------------------------------------------------------------

cdef struct Weighing:
    Ints degrees, actors, effects, targets
    Doubles weights  # per step
    Doubles known  # per outcome of an edit; negative while not asked for
    Doubles drafts, more_drafts
    int64_t edge  # the next one, among the `fresh` ones, of the state that is visited


cdef void drop_weighing(Weighing* work) noexcept:
    drop(&work.degrees)
    drop(&work.actors)
    drop(&work.effects)
    drop(&work.targets)
    free(work.weights.data)
    free(work.known.data)
    free(work.drafts.data)
    free(work.more_drafts.data)


cdef tuple narrowed(Ints* cells):
    """Numbers as so many bytes each."""
    cdef int64_t place
    cdef int32_t all_bits = 0
    cdef uint16_t narrow
    for place in range(cells.length):
        all_bits |= cells.data[place]
    if all_bits >= 65536:
        return WIDE, bytes_of(cells)
    for place in range(cells.length):  # in place: what is written lies before what is read
        narrow = <uint16_t>cells.data[place]
        memcpy(<char*>cells.data + place * NARROW, &narrow, NARROW)
    return NARROW, PyBytes_FromStringAndSize(<char*>cells.data, cells.length * NARROW)


cdef bint are_alike(left, right) except -1:
    """True for equal values of the same types throughout: named tuples are equal to others of the same content."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if not isinstance(left, tuple):
        return isinstance(left, (int, str)) and left == right
    if len(left) != len(right):
        return False
    for one, other in zip(left, right):
        if not are_alike(one, other):
            return False
    return True


cdef bytes bytes_of(Ints* numbers):
    return PyBytes_FromStringAndSize(<char*>numbers.data, numbers.length * <int64_t>sizeof(int32_t))


# -- strongly connected components (Pearce, A Space-Efficient Algorithm for Finding SCCs, 2016) ---------

cdef struct Walk:
    int32_t* index  # 0: not visited; DONE: its component is known; else the lowest index that it reaches
    int32_t* path  # from the front the states being visited, from the back those left without a component yet
    int32_t* left  # per state of the path: twice its edges that are not followed yet, and 1 if it may be a root
    int64_t depth
    int64_t height  # states at the back
    int64_t states
    int32_t visited


# -- desks: what a process and one of its helpers pass to and fro ----------------------------------------

cdef extern from *:
    """
    #define kp_publish(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)
    #define kp_prefetch(place) __builtin_prefetch(place)
    #define kp_look(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
    """
    void publish "kp_publish"(int64_t* place, int64_t value) noexcept nogil
    int64_t look "kp_look"(int64_t* place) noexcept nogil
    void prefetch "kp_prefetch"(void* place) noexcept nogil

cdef enum:
    DESK_HEAD = 4096  # bytes
    ANSWERS_ROOM = 1 << 23  # bytes for answers, each way
    PUNTED = -1  # instead of the number of successors: the helper did not expand this state
    HEAD = 3  # numbers before the successors of a state
    OF_EVENT = 1  # bits of a successor
    ONE_OF_SEVERAL = 2
    BEGINS_EFFECT = 4
    SEEN_BEFORE = 8  # in this batch: what follows is the place where, and not a vector
    FORGOTTEN = 16  # its state is left to others
    SEEN_ROOM = 1 << 19  # places that a helper remembers, at most seven in ten of them


cdef struct Desk:
    int64_t* done  # states that are expanded; published last
    int64_t* misses  # of the helper, in all
    int64_t* spent_ns  # of the helper's processor, for this batch
    int64_t* closed  # 1 when the helper has written all that there is to say of a batch
    char* told  # to the helper: answers of actors, see `_write_answers`
    char* heard  # from the helper
    int32_t* inbox  # vectors to learn from, then vectors to expand
    int32_t* outbox  # per state: successors, calls, length; per successor: bits, later its number, and its vector
    int64_t room  # numbers that fit into the inbox
    int64_t space  # numbers that fit into the outbox
    int64_t limit  # of the place at which successors are written: beyond is room to say that there are none
    int64_t place  # where the outbox is read or written
    int64_t first  # states of the batch are this one
    int64_t last  # to this one, left out
    int64_t misses_before
    int64_t successors  # in the record that is written
    int32_t* seen  # where vectors are in the outbox, by their hash
    int64_t seen_count


class NewCell(Exception):
    """A helper would have to number a cell that the others do not know."""


# -- the kernel -------------------------------------------------------------------------------------

cdef class Interner:
    """Numbers values in order of first appearance, as `kernel.Interner` does."""

    cdef readonly dict numbers
    cdef readonly list values

    def __cinit__(self):
        self.numbers = {}
        self.values = []

    def __len__(self):
        return len(self.values)

    cdef int32_t number(self, object value) except -1:
        """The number of a value, a new one if it is new."""
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.values)
            self.values.append(value)
        return found


cdef class CompiledKernel:
    """Explores a system breadth first and keeps what it found; see `kernel.Kernel`."""

    name = "compiled"

    cdef readonly object system
    cdef readonly Interner cells, operations
    cdef public int64_t check_every, calls, misses, hits, transitions, expanded
    cdef readonly list first_any, first_stable
    cdef uint64_t seen_any, seen_stable  # flags whose first state is known

    # memo tables
    cdef tuple actors
    cdef object observer
    cdef Interner views, edit_numbers
    cdef list cell_values, view_values
    cdef readonly list effect_values
    cdef dict known_effects
    cdef int actor_count, family_count
    cdef Reader* readers  # one per actor, then the observer's
    cdef Family* families
    cdef Ints staged  # actors, those of one stage together
    cdef int stage_ends[STAGES + 1]
    cdef Ints effects  # per effect: role, first and last edit
    cdef Ints edits  # per edit: slot, number of (slot, operation)
    cdef Tuples edit_memo  # (number of (slot, operation), cell)
    cdef Ints edit_spans  # per entry of `edit_memo`: first and last outcome
    cdef Ints outcomes
    cdef int64_t* flags_of_cell
    cdef int64_t flags_capacity
    cdef int32_t highest_slot  # named by any actor, family or edit
    cdef Ints taught  # every lesson in order, see `kernel.Lesson`
    cdef int32_t initials

    # states
    cdef int slots
    cdef int64_t count
    cdef Shape shape
    cdef Tuples parts, pairs  # what the states are made of
    cdef Arena roots
    cdef Parents parent_bits
    cdef Table table
    cdef Edges edge_lists
    cdef int64_t expanded_edges  # edges of the states expanded
    cdef int64_t levels, level_end

    # several processes at one search, see `helpers.py`
    cdef list helpers  # of this one
    cdef Desk* desks  # one per helper
    cdef int64_t shared_end  # the batch that is shared out: states before this one are expanded by somebody
    cdef readonly int64_t own_end  # those up to here by this process, then those of each helper in turn
    cdef Desk* emitting  # in a helper: where successors go instead of into a store
    cdef bint is_replaying  # in a helper: what has been taught elsewhere is learned, cells and all
    cdef set unknown  # in a helper: edits and memories that would make new cells
    cdef list taught_here  # states of which this process learned new cells
    cdef bint is_noting  # answers that are learned are noted, for the others
    cdef int32_t here  # the state, or row of a batch, that is expanded
    cdef Ints folds  # roots of a state's successors
    cdef Ints noted  # actor, state or row, first and last effect
    cdef dict sent  # by the identity of an effect: its number among those that were sent
    cdef list received  # effects by the numbers of each helper, in a helper by those of the other side

    cdef Disk disk
    cdef object held  # a `spill.Disk`, where stores are that do not fit into memory
    cdef public object relieve  # called now and then while cycles are looked for

    # room to work in
    cdef Ints source, drafts, more_drafts, key, room, recent
    cdef Ints folded  # a vector with its inner nodes
    cdef Ints blank  # as `source`, like no vector
    cdef Ints fresh  # edges of the state that is expanded

    def __cinit__(self, system, *, check_every=0):
        self.system = system
        self.check_every = check_every
        self.cells = Interner()
        self.operations = Interner()
        self.views = Interner()
        self.edit_numbers = Interner()
        self.cell_values = self.cells.values
        self.view_values = self.views.values
        self.effect_values = []
        self.known_effects = {}
        self.actors = tuple(system.actors)
        self.observer = system.observer
        self.edit_memo.width = 2
        self.pairs.width = 2
        self.disk.owner = <void*>self
        self.disk.claim, self.disk.release = claim_place, release_place
        self._prepare_readers()
        self._prepare_families()
        self.clear_states()

    def __dealloc__(self):
        cdef int index
        self._drop_states()
        if self.readers != NULL:
            for index in range(self.actor_count + 1):
                drop_reader(&self.readers[index])
        if self.families != NULL:
            for index in range(self.family_count):
                free(self.families[index].slots)
        free(self.readers)
        free(self.families)
        if self.emitting != NULL:
            free(self.emitting.seen)
        free(self.desks)
        free(self.flags_of_cell)
        drop_tuples(&self.edit_memo)
        drop(&self.staged)
        drop(&self.effects)
        drop(&self.edits)
        drop(&self.edit_spans)
        drop(&self.outcomes)
        drop(&self.taught)
        drop(&self.noted)
        drop(&self.folds)
        drop(&self.source)
        drop(&self.drafts)
        drop(&self.more_drafts)
        drop(&self.key)
        drop(&self.room)
        drop(&self.recent)
        drop(&self.folded)
        drop(&self.blank)
        drop(&self.fresh)

    cdef int _prepare_readers(self) except -1:
        cdef int index, stage
        cdef int64_t widest = 0
        self.actor_count = <int>len(self.actors)
        self.readers = <Reader*>calloc(self.actor_count + 1, sizeof(Reader))
        if self.readers == NULL:
            raise MemoryError()
        for index in range(self.actor_count):
            self._prepare_reader(index, self.actors[index].reads, 0)
        self._prepare_reader(self.actor_count, self.observer.reads, 1)
        for index in range(self.actor_count + 1):
            widest = max(widest, self.readers[index].memo.width)
        reserve(&self.key, widest)
        for stage in range(STAGES):
            for index in range(self.actor_count):
                if self.actors[index].stage == STAGE_ORDER[stage]:
                    push(&self.staged, index)
            self.stage_ends[stage + 1] = <int>self.staged.length
        return 0

    cdef int _prepare_reader(self, int index, reads, int extra) except -1:
        cdef Reader* reader = &self.readers[index]
        cdef int count = <int>len(reads)
        cdef int position
        reader.memo.width = count + extra
        reader.slots = <int32_t*>calloc(count + 1, sizeof(int32_t))
        reader.views = <Ints*>calloc(count + 1, sizeof(Ints))
        if reader.slots == NULL or reader.views == NULL:
            raise MemoryError()
        reader.count = count
        for position in range(count):
            reader.slots[position] = self._checked_slot(reads[position])
        return 0

    cdef int _prepare_families(self) except -1:
        cdef list families = [tuple(family) for family in self.system.symmetric if len(family) > 1]
        cdef int64_t most = 0
        cdef int index
        self.families = <Family*>calloc(len(families) + 1, sizeof(Family))
        if self.families == NULL:
            raise MemoryError()
        self.family_count = <int>len(families)
        for index in range(self.family_count):
            self._prepare_family(&self.families[index], families[index])
            most = max(most, (self.families[index].blocks + 1) * self.families[index].length)
        reserve(&self.room, most)
        return 0

    cdef int _prepare_family(self, Family* family, blocks) except -1:
        cdef int position = 0
        if len({len(block) for block in blocks}) != 1:
            raise ValueError("interchangeable blocks must have the same length")
        family.blocks = <int>len(blocks)
        family.length = <int>len(blocks[0])
        family.slots = <int32_t*>calloc(family.blocks * family.length + 1, sizeof(int32_t))
        if family.slots == NULL:
            raise MemoryError()
        for block in blocks:
            for slot in block:
                family.slots[position] = self._checked_slot(slot)
                position += 1
        return 0

    cdef int32_t _checked_slot(self, int64_t slot) except -1:
        if slot < 0 or (self.slots and slot >= self.slots) or slot > MOST_SLOTS:
            raise IndexError(f"slot {slot} does not exist")
        if slot > self.highest_slot:
            self.highest_slot = <int32_t>slot
        return <int32_t>slot

    # -- the store ------------------------------------------------------------------------------

    cpdef clear_states(self):
        """Forget all states, keep all memo tables."""
        self._drop_states()
        if self.held is not None:
            self.held.clear()
            self.held = None
        self.slots = 0
        self.count = self.expanded = self.transitions = self.expanded_edges = 0
        self.levels = self.level_end = 0
        self.seen_any = self.seen_stable = 0
        self.first_any = [-1] * FLAG_BITS
        self.first_stable = [-1] * FLAG_BITS

    def spill(self, disk, int part):
        """Moves a part of the store to the disk, where it grows from now on: what is read least comes first."""
        if self.held is None:
            self.held = disk
        if part == 0:
            spill_arena(&self.edge_lists.numbers, &self.disk)
            spill_arena(&self.edge_lists.starts, &self.disk)
            spill_arena(&self.parent_bits.bits, &self.disk)
            spill_arena(&self.parent_bits.samples, &self.disk)
        elif part == 1:
            spill_arena(&self.roots, &self.disk)
        else:
            spill_tuples(&self.parts, &self.disk)
            spill_tuples(&self.pairs, &self.disk)
            spill_table(&self.table, &self.disk)

    cdef void _drop_states(self) noexcept:
        drop_arena(&self.roots)
        drop_arena(&self.parent_bits.bits)
        drop_arena(&self.parent_bits.samples)
        drop_arena(&self.edge_lists.numbers)
        drop_arena(&self.edge_lists.starts)
        self.parent_bits.length = self.parent_bits.last = 0
        drop_tuples(&self.parts)
        drop_tuples(&self.pairs)
        self.parts.count = self.pairs.count = 0
        drop_shape(&self.shape)
        if self.table.disk == NULL:
            free(self.table.entries)
        self.table.entries = NULL
        self.table.disk = NULL

    def __len__(self):
        return self.count

    @property
    def depth(self):
        """The depth of the state that is expanded next, or of the last one."""
        return self.levels - 1 if self.levels > 1 else 0

    @property
    def is_complete(self):
        """True when every stored state was expanded."""
        return self.expanded == self.count

    def bytes_used(self):
        """The exact size of all C arrays: states, edges, memo tables, room to work in."""
        return self._state_bytes() + self._memo_bytes()

    cdef int64_t _state_bytes(self) noexcept:
        cdef int64_t total = table_bytes(&self.table) + tuples_bytes(&self.parts) + tuples_bytes(&self.pairs)
        total += arena_bytes(&self.roots) + arena_bytes(&self.parent_bits.bits) + arena_bytes(&self.parent_bits.samples)
        return total + arena_bytes(&self.edge_lists.numbers) + arena_bytes(&self.edge_lists.starts)

    cdef int64_t _memo_bytes(self) noexcept:
        cdef int64_t total = tuples_bytes(&self.edit_memo) + self.flags_capacity * <int64_t>sizeof(int64_t)
        cdef int64_t numbers = self.staged.capacity + self.effects.capacity + self.edits.capacity
        cdef int index
        numbers += self.edit_spans.capacity + self.outcomes.capacity + self.taught.capacity
        numbers += self.source.capacity + self.drafts.capacity + self.more_drafts.capacity
        numbers += self.key.capacity + self.room.capacity + self.recent.capacity
        numbers += self.folded.capacity + self.blank.capacity + self.fresh.capacity
        for index in range(self.actor_count + 1):
            total += reader_bytes(&self.readers[index]) + <int64_t>sizeof(Reader)
        for index in range(self.family_count):
            numbers += self.families[index].blocks * self.families[index].length
            total += <int64_t>sizeof(Family)
        return total + numbers * <int64_t>sizeof(int32_t)

    cdef int _check_state(self, int64_t state, int64_t end) except -1:
        if state < 0 or state >= end:
            raise IndexError(f"state {state} is not there")
        return 0

    def parent(self, int64_t state):
        """The state from which `state` was first reached, -1 for initial ones."""
        self._check_state(state, self.count)
        return parent_of(&self.parent_bits, state)

    def is_stable(self, int64_t state):
        """True if only events leave this (expanded) state."""
        self._check_state(state, self.expanded)
        return edges_of(&self.edge_lists, state).left == 0

    def flags(self, int64_t state):
        """The observer's flags in this state."""
        self._check_state(state, self.count)
        return self._flags_of(self._memory(state))

    def cells_of(self, int64_t state):
        """The state's cells."""
        self._check_state(state, self.count)
        self._load(state)
        return tuple([self.cell_values[self.source.data[slot]] for slot in range(self.slots)])

    def successors(self, int64_t state):
        """Targets of the steps of an expanded state that are not events."""
        self._check_state(state, self.expanded)
        cdef Cursor cursor = edges_of(&self.edge_lists, state)
        return tuple([next_edge(&self.edge_lists, &cursor) for _ in range(cursor.left)])

    cdef inline void _load(self, int64_t state) noexcept:
        unfold(&self.shape, &self.parts, &self.pairs, <int32_t*>at(&self.roots, state * ROOT), self.source.data)

    cdef int32_t _memory(self, int64_t state) noexcept:
        """The first cell of a stored state."""
        cdef int32_t node = (<int32_t*>at(&self.roots, state * ROOT))[0]
        cdef int _
        for _ in range(self.shape.steps):
            node = self.pairs.keys.data[2 * <int64_t>node]
        return self.parts.keys.data[<int64_t>node * self.shape.width]

    # -- snapshots ------------------------------------------------------------------------------

    def mark(self):
        """This moment; only between two calls of `run`."""
        return Mark(
            self.count, self.expanded, self.expanded_edges, self.transitions, self.levels, self.level_end,
            self.calls, self.misses, self.hits, self.taught.length,
            len(self.cell_values), len(self.view_values), len(self.operations.values),
        )

    def lessons(self, int64_t end):
        """The first lessons, as 32-bit numbers."""
        if end < 0 or end > self.taught.length:
            raise IndexError(f"there are {self.taught.length} lessons")
        return PyBytes_FromStringAndSize(<char*>self.taught.data, end * <int64_t>sizeof(int32_t))

    cdef int _check_range(self, int64_t first, int64_t last, int64_t end) except -1:
        if first < 0 or last < first or last > end:
            raise IndexError(f"states {first} to {last} are not there")
        return 0

    def rows(self, int64_t first, int64_t last):
        """Vectors of states as numbers of so many bytes."""
        cdef int64_t state
        cdef Ints cells
        memset(&cells, 0, sizeof(Ints))
        self._check_range(first, last, self.count)
        try:
            reserve(&cells, (last - first) * self.slots)
            for state in range(first, last):
                self._load(state)
                memcpy(cells.data + (state - first) * self.slots, self.source.data, self.slots * sizeof(int32_t))
            cells.length = (last - first) * self.slots
            return narrowed(&cells)
        finally:
            drop(&cells)

    def parents(self, int64_t first, int64_t last):
        """Parents of states, as 32-bit numbers."""
        cdef Ints above
        memset(&above, 0, sizeof(Ints))
        self._check_range(first, last, self.count)
        try:
            for state in range(first, last):
                push(&above, <int32_t>parent_of(&self.parent_bits, state))
            return bytes_of(&above)
        finally:
            drop(&above)

    def edges(self, int64_t first, int64_t last):
        """How many steps leave each of these expanded states, events left out, and where to, as 32-bit numbers."""
        cdef Ints degrees, targets
        memset(&degrees, 0, sizeof(Ints))
        memset(&targets, 0, sizeof(Ints))
        self._check_range(first, last, self.expanded)
        try:
            for state in range(first, last):
                push(&degrees, self._read_edges(state, &targets))
            return bytes_of(&degrees), bytes_of(&targets)
        finally:
            drop(&degrees)
            drop(&targets)

    cdef int32_t _read_edges(self, int64_t state, Ints* targets) except -1:
        """Adds the edges of an expanded state; returns how many."""
        cdef Cursor cursor = edges_of(&self.edge_lists, state)
        cdef int32_t count = <int32_t>cursor.left
        while cursor.left:
            push(targets, <int32_t>next_edge(&self.edge_lists, &cursor))
        return count

    def relearn(self, bytes lessons):
        """Asks the system everything again, in the order of the lessons; ValueError if they make no sense."""
        cdef const int32_t* numbers = <const int32_t*>PyBytes_AS_STRING(lessons)
        cdef int64_t place = 0, end = len(lessons) // <int64_t>sizeof(int32_t)
        try:
            while place < end:
                place += self._relearn_one(numbers + place, end - place)
        except (IndexError, TypeError) as problem:
            raise ValueError(f"lessons that this system does not teach: {problem}") from problem
        if self.lessons(self.taught.length) != lessons:
            raise ValueError("the system does not answer as it did before")

    cdef int64_t _relearn_one(self, const int32_t* lesson, int64_t left) except -1:
        """Learns one lesson of `left` numbers at most; returns its length."""
        cdef int32_t kind = lesson[0]
        cdef int64_t width
        if kind == LEARN_INITIAL:
            starts = self.system.initial
            self._learn_initial(tuple(starts[self._within(self.initials, len(starts))]))
            return 2
        if kind < 0 or kind > LEARN_MEMORY:
            raise ValueError(f"no lesson is called {kind}")
        if left < 2:
            raise ValueError("a lesson is cut short")
        width = 5
        if kind == LEARN_ANSWER:
            width = 3 + self.readers[self._within(lesson[1], self.actor_count)].memo.width
        elif kind == LEARN_MEMORY:
            width = 2 + self.readers[self.actor_count].memo.width
        if left < width:
            raise ValueError("a lesson is cut short")
        if kind == LEARN_VIEW:
            self._relearn_view(lesson[1], lesson[2], lesson[3])
        elif kind == LEARN_EDIT:
            self._relearn_edit(lesson[1], lesson[2], lesson[3])
        elif kind == LEARN_ANSWER:
            self._relearn_key(lesson + 2, self.readers[lesson[1]].memo.width, 0)
            self._learn_answer(lesson[1], hashed(self.key.data, self.readers[lesson[1]].memo.width))
        else:
            self._relearn_key(lesson + 1, self.readers[self.actor_count].memo.width, 1)
            self._learn_memory(hashed(self.key.data, self.readers[self.actor_count].memo.width))
        return width

    cdef int32_t _within(self, int32_t number, int64_t end) except -1:
        if number < 0 or number >= end:
            raise IndexError(f"{number} is no place")
        return number

    cdef int _relearn_view(self, int32_t index, int32_t position, int32_t cell) except -1:
        self._within(index, self.actor_count + 1)
        self._within(position, self.readers[index].count)
        self._learn_view(index, position, self._within(cell, len(self.cell_values)))
        return 0

    cdef int _relearn_edit(self, int32_t slot, int32_t operation, int32_t cell) except -1:
        cdef int32_t key[2]
        self._checked_slot(slot)
        self._within(operation, len(self.operations.values))
        key[0] = self.edit_numbers.number((slot, operation))
        key[1] = self._within(cell, len(self.cell_values))
        self._learn_edit(key, hashed(key, 2))
        return 0

    cdef int _relearn_key(self, const int32_t* lesson, int width, int cells) except -1:
        """Takes over a tuple of views, the first `cells` of them cells."""
        cdef int position
        for position in range(width):
            self.key.data[position] = self._within(
                lesson[position], len(self.cell_values) if position < cells else len(self.view_values)
            )
        return 0

    def restore_states(self, int width, bytes rows, bytes parents):
        """Stores states as `rows` and `parents` gave them; ValueError if they are none."""
        cdef int64_t row, place, end = len(parents) // <int64_t>sizeof(int32_t)
        cdef int64_t cells = len(self.cell_values)
        cdef const int32_t* above = <const int32_t*>PyBytes_AS_STRING(parents)
        cdef const char* numbers = PyBytes_AS_STRING(rows)
        cdef int slot
        cdef int32_t cell
        cdef int32_t root[2]
        if width not in (NARROW, WIDE) or not self.slots or len(rows) != end * self.slots * width:
            raise ValueError("states that do not fit")
        for row in range(end):
            for slot in range(self.slots):
                place = row * self.slots + slot
                cell = (<const int32_t*>numbers)[place] if width == WIDE else (<const uint16_t*>numbers)[place]
                if cell < 0 or cell >= cells:
                    raise ValueError("states that do not fit")
                self.source.data[slot] = cell
            if above[row] + 1 < self.parent_bits.last or above[row] >= self.count:
                raise ValueError("a state before its parent")
            self._fold(self.source.data, self.blank.data, root)
            self._append(root, hashed(root, 2), self.source.data[0], above[row])

    def restore_edges(self, bytes degrees, bytes edges):
        """Marks the next states as expanded, with the steps that `edges` gave; ValueError if they are none."""
        cdef const int32_t* counts = <const int32_t*>PyBytes_AS_STRING(degrees)
        cdef const int32_t* targets = <const int32_t*>PyBytes_AS_STRING(edges)
        cdef int64_t states = len(degrees) // <int64_t>sizeof(int32_t), end = len(edges) // <int64_t>sizeof(int32_t)
        cdef int64_t row, edge, place = 0
        if states > self.count - self.expanded:
            raise ValueError("steps that do not fit")
        for row in range(states):
            if counts[row] < 0 or counts[row] > end - place:
                raise ValueError("steps that do not fit")
            self.fresh.length = 0
            for edge in range(place, place + counts[row]):
                if targets[edge] < 0 or targets[edge] >= self.count:
                    raise ValueError("a step to nowhere")
                push(&self.fresh, targets[edge])
            place += counts[row]
            self._close_expansion(self.expanded)
            self.expanded += 1
        if place != end:
            raise ValueError("steps that do not fit")

    def restore_counts(self, mark):
        """Sets what the mark says and the states do not; ValueError if it is not the mark of what was restored."""
        check_restored(self.mark(), mark)
        self.transitions = mark.transitions
        self.calls, self.misses, self.hits = mark.calls, mark.misses, mark.hits
        self.levels, self.level_end = mark.levels, mark.level_end

    # -- exploring ------------------------------------------------------------------------------

    def add_initial(self, cells):
        """Stores an initial state and returns its number."""
        cdef list numbers = self._learn_initial(cells)
        cdef int32_t memory = self.cells.number(None)
        cdef int slot
        for slot in range(self.slots):
            self.source.data[slot] = numbers[slot]
        self._finish(self.source.data, memory)
        return self._store(self.source.data, self.blank.data, -1)

    cdef list _learn_initial(self, cells):
        cdef list numbers = [0, *[self.cells.number(cell) for cell in cells[1:]]]
        self.cells.number(None)
        self._set_slots(<int>len(numbers))
        self.initials += 1
        push(&self.taught, LEARN_INITIAL)
        push(&self.taught, <int32_t>len(self.cell_values))
        return numbers

    cdef int _set_slots(self, int slots) except -1:
        """Fixes the number of slots with the first state."""
        if self.slots and self.slots != slots:
            raise ValueError(f"states have {self.slots} slots, not {slots}")
        if self.highest_slot >= slots:
            raise IndexError(f"slot {self.highest_slot} does not exist")
        if not self.slots:
            plan_shape(&self.shape, slots)
            self.parts.width = self.shape.width
            self._make_room(folded_length(&self.shape))
        reserve(&self.drafts, slots)
        self.slots = slots
        return 0

    cdef int _make_room(self, int64_t length) except -1:
        """Room for folded vectors, zero beyond the slots."""
        reserve(&self.source, length)
        reserve(&self.folded, length)
        fill_to(&self.blank, length)
        memset(self.folded.data, 0, length * sizeof(int32_t))
        return 0

    def run(self, int64_t expansions, int64_t max_states):
        """Expands up to `expansions` more states; True when none is left or `max_states` is reached."""
        cdef int64_t _
        if not self.levels:
            self.levels = 1
            self.level_end = self.count
        for _ in range(expansions):
            if self.expanded >= self.count or self.count >= max_states:
                return True
            if self.helpers is not None:
                self._expand_shared(self.expanded)
            else:
                self._expand(self.expanded)
            self.expanded += 1
            if self.expanded == self.level_end and self.expanded < self.count:
                self.levels += 1
                self.level_end = self.count
            if not self.expanded & SIGNAL_MASK:
                PyErr_CheckSignals()
        return self.expanded >= self.count

    cdef int _expand(self, int64_t state) except -1:
        cdef int64_t taken
        self.fresh.length = 0
        taken = self._visit(state, None)
        self._close_expansion(state)
        self.transitions += taken
        return 0

    # -- sharing the work -----------------------------------------------------------------------

    def share(self, helpers, areas, int64_t inbox_bytes):
        """From now on these helpers expand a part of the states; each has an area of shared memory.

        Everything is stored here, in the order of a search without them, so that nothing tells the two apart.
        """
        cdef int64_t index
        cdef unsigned char[::1] area
        free(self.desks)
        self.desks = <Desk*>calloc(len(helpers) + 1, sizeof(Desk))
        if self.desks == NULL:
            raise MemoryError()
        for index in range(<int64_t>len(helpers)):
            area = areas[index]
            lay_out(&self.desks[index], <char*>&area[0], inbox_bytes, len(area))
        self.helpers = list(helpers)
        self.taught_here = []
        self.is_noting = True
        self.noted.length = 0
        self.sent = {}
        self.received = [[] for _ in helpers]
        self.shared_end = self.own_end = self.expanded

    def end_sharing(self):
        """Goes on alone. What helpers have on their desks is forgotten, and expanded again where it is needed."""
        cdef int64_t index
        if self.helpers is not None:
            for index in range(<int64_t>len(self.helpers)):
                self.spent(index)
        self.helpers = None
        self.is_noting = False
        self.shared_end = self.own_end = self.expanded

    @property
    def has_helpers(self):
        """False if there are none, or one was lost."""
        return self.helpers is not None

    @property
    def is_shared(self):
        """True while helpers are at work on states that are not expanded yet."""
        return self.helpers is not None and self.expanded < self.shared_end

    def share_out(self, int64_t most, double own_share):
        """Hands out the next states, at most so many: first come this process's own, then those of each helper.

        Call it when no states are left of those that were handed out. If that cannot be done, the search goes on alone.
        """
        cdef int64_t index, state, first, left, part, learned, helpers = len(self.helpers)
        cdef Desk* desk
        cdef list rows
        if not self._hear_answers():
            return self.end_sharing()
        rows = self._list_rows()
        learned = len(self.taught_here)
        left = min(most, self.count - self.expanded)
        self.own_end = first = self.expanded + <int64_t>(own_share * left)
        left = self.expanded + left - first
        for index in range(helpers):
            desk = &self.desks[index]
            part = (left + helpers - index - 1) // (helpers - index)
            part = min(part, desk.room // self.slots - learned - <int64_t>len(rows))
            if part < 0:  # helpers would do little else than learn
                return self.end_sharing()
            desk.first, desk.last, desk.place = first, first + part, 0
            publish(desk.done, 0)
            publish(desk.closed, 0)
            for state in self.taught_here:
                self._put_row(desk, state)
            for state in rows:
                self._put_row(desk, state)
            for state in range(first, first + part):
                self._put_row(desk, state)
            desk.place = 0
            if index == 0:
                try:
                    self._write_answers(desk.told)
                except Exception:  # effects that cannot be sent: of controllers that are not ours
                    return self.end_sharing()
            else:
                memcpy(desk.told, self.desks[0].told, ANSWERS_ROOM)
            self.helpers[index].ask(learned, len(rows), part, len(self.cell_values))
            first += part
            left -= part
        self.shared_end = first
        self.taught_here = []
        self.noted.length = 0

    cdef list _list_rows(self):
        """The states at which answers were learned; their places in this list take theirs in the notes."""
        cdef list rows = []
        cdef int64_t note
        for note in range(0, self.noted.length, 4):
            if not rows or rows[len(rows) - 1] != self.noted.data[note + 1]:
                rows.append(self.noted.data[note + 1])
            self.noted.data[note + 1] = <int32_t>len(rows) - 1
        return rows

    # -- answers, which one process has asked for and all can use ----------------------------------

    cdef int _write_answers(self, char* place) except -1:
        """Writes what was noted: how many numbers, how many bytes; actor, row, count, effects each; new effects."""
        cdef int64_t* head = <int64_t*>place
        cdef int32_t* numbers = <int32_t*>(place + 16)
        cdef int64_t note, effect, length = 0, most = ANSWERS_ROOM // 8  # half of the room for numbers
        cdef list fresh = []
        cdef bytes packed
        for note in range(0, self.noted.length, 4):
            if length + 3 + self.noted.data[note + 3] - self.noted.data[note + 2] > most:
                break
            numbers[length] = self.noted.data[note]
            numbers[length + 1] = self.noted.data[note + 1]
            numbers[length + 2] = self.noted.data[note + 3] - self.noted.data[note + 2]
            length += 3
            for effect in range(self.noted.data[note + 2], self.noted.data[note + 3]):
                numbers[length] = self._number_sent(self.effect_values[effect], fresh)
                length += 1
        packed = pack(fresh)
        head[0], head[1] = length, len(packed)
        if <int64_t>len(packed) > ANSWERS_ROOM // 2 - 16:
            raise ValueError("effects that are too large to be sent")
        memcpy(place + ANSWERS_ROOM // 2, PyBytes_AS_STRING(packed), len(packed))
        return 0

    cdef int32_t _number_sent(self, effect, list fresh) except -1:
        number = self.sent.get(id(effect))
        if number is None:
            number = self.sent[id(effect)] = len(self.sent)
            fresh.append(effect)
        return number

    cdef bint _hear_answers(self) except -1:
        """Learns what helpers were answered; 0 if one is lost."""
        cdef int64_t index
        cdef Desk* desk
        for index in range(<int64_t>len(self.helpers)):
            desk = &self.desks[index]
            if desk.last == desk.first:
                continue
            while not look(desk.closed):
                if not self.helpers[index].wait():
                    return False
            self.is_noting = len(self.helpers) > 1
            self._read_answers(desk.heard, desk.first, self.received[index])
            self.is_noting = True
        return True

    cdef int _read_answers(self, char* place, int64_t first, list received) except -1:
        """Learns answers; rows are states from a first one on, or in a helper vectors in its inbox."""
        cdef int64_t* head = <int64_t*>place
        cdef int32_t* note = <int32_t*>(place + 16)
        cdef int32_t* end = note + head[0]
        cdef int64_t row, before = -1, effect
        received.extend(unpack(PyBytes_FromStringAndSize(place + ANSWERS_ROOM // 2, head[1])))
        while note < end:
            row = first + note[1]
            if row != before:
                if self.emitting != NULL:
                    memcpy(self.source.data, self.emitting.inbox + row * self.slots, self.slots * sizeof(int32_t))
                else:
                    self._load(row)
                    self.here = <int32_t>row
                before = row
            self._take_answer(note[0], tuple([received[note[3 + effect]] for effect in range(note[2])]))
            note += 3 + note[2]
        return 0

    cdef int _take_answer(self, int64_t actor, tuple effects) except -1:
        """Takes over an actor's answer to the source vector."""
        cdef Reader* reader = &self.readers[actor]
        cdef uint64_t value
        self._read(actor, self.source.data, self.key.data)
        value = hashed(self.key.data, reader.memo.width)
        if find_tuple(&reader.memo, self.key.data, value) < 0:
            self._keep_answer(actor, value, effects)
        return 0

    cdef void _put_row(self, Desk* desk, int64_t state) noexcept:
        self._load(state)
        memcpy(desk.inbox + desk.place, self.source.data, self.slots * sizeof(int32_t))
        desk.place += self.slots

    cdef int _expand_shared(self, int64_t state) except -1:
        """Expands a state, or takes over what a helper has found."""
        cdef int64_t index = 0, cells
        cdef Desk* desk
        if self.own_end <= state < self.shared_end:
            while state >= self.desks[index].last:
                index += 1
            desk = &self.desks[index]
            while look(desk.done) <= state - desk.first:
                if not self.helpers[index].wait():
                    self.end_sharing()
                    break
            if self.helpers is not None and self._take_over(state, desk):
                return 0
        cells = len(self.cell_values)
        self.here = <int32_t>state
        self._expand(state)
        if self.helpers is not None and <int64_t>len(self.cell_values) != cells:
            self.taught_here.append(state)
        return 0

    cdef int _take_over(self, int64_t state, Desk* desk) except -1:
        """Stores the successors that a helper has found; 0 if it left the state to others."""
        cdef int32_t* record = desk.outbox + desk.place
        cdef int64_t successors = record[0], index, target, taken = 0
        cdef int32_t bits
        desk.place += record[2]
        if successors == PUNTED:
            return 0
        self.calls += record[1]
        self.fresh.length = 0
        self._load(state)
        record += HEAD
        self._look_ahead(record, successors)
        for index in range(successors):
            bits = record[0]
            if bits & BEGINS_EFFECT:
                self.recent.length = 0
            if bits & SEEN_BEFORE:
                target = desk.outbox[record[1]]
                record += 2
            else:
                target = self._store_root(&self.folds.data[2 * index], record[1], state)
                record[0] = <int32_t>target
                record += 1 + self.slots
            if bits & ONE_OF_SEVERAL and not self._is_first(<int32_t>target):
                continue
            taken += 1
            if not bits & OF_EVENT:
                push(&self.fresh, <int32_t>target)
        self._close_expansion(state)
        self.transitions += taken
        return 1

    cdef int _look_ahead(self, int32_t* first, int64_t successors) except -1:
        """Folds all vectors of a record; the tables that will be read are on their way to the processor then."""
        cdef int32_t* record = first
        cdef int64_t index
        cdef int part, width = self.shape.width
        cdef uint64_t mask = (<uint64_t>1 << self.parts.table.bits) - 1
        reserve(&self.folds, 2 * successors)
        for index in range(successors):
            if record[0] & SEEN_BEFORE:
                record += 2
                continue
            for part in range(self.slots // width):
                if not same(record + 1 + part * width, self.source.data + part * width, width):
                    prefetch(&self.parts.table.entries[hashed(record + 1 + part * width, width) & mask])
            record += 1 + self.slots
        mask = (<uint64_t>1 << self.table.bits) - 1
        record = first
        for index in range(successors):
            if record[0] & SEEN_BEFORE:
                record += 2
                continue
            self._fold(record + 1, self.source.data, &self.folds.data[2 * index])
            prefetch(&self.table.entries[hashed(&self.folds.data[2 * index], 2) & mask])
            record += 1 + self.slots
        return 0

    def spent(self, int64_t index):
        """What a helper has to say of its part: states, and nanoseconds of its processor."""
        cdef Desk* desk = &self.desks[index]
        self.misses += desk.misses[0] - desk.misses_before
        desk.misses_before = desk.misses[0]
        return desk.last - desk.first, desk.spent_ns[0]

    # -- helping --------------------------------------------------------------------------------

    def begin_helping(self, area, int64_t inbox_bytes):
        """Forgets all states; from now on this process expands what it finds in the area."""
        cdef unsigned char[::1] place = area
        cdef int slots = self.slots
        self.helpers = None
        self.desks = <Desk*>calloc(1, sizeof(Desk))
        if self.desks == NULL:
            raise MemoryError()
        lay_out(self.desks, <char*>&place[0], inbox_bytes, len(area))
        self.sent = {}
        self.received = []
        self.noted.length = 0
        self.desks.seen = <int32_t*>resized(NULL, SEEN_ROOM * sizeof(int32_t))
        self.emitting = self.desks
        self.unknown = set()
        self._drop_states()
        self.misses = 0
        plan_shape(&self.shape, slots)

    def help_out(self, int64_t learned, int64_t answered, int64_t states, int64_t cells, told):
        """Learns what others were taught and answered, then expands; False if it is not what they have learned.

        `told` is called now and then.
        """
        cdef int64_t row
        self.emitting.limit = self.emitting.space - HEAD * (states + 1)
        self.unknown.clear()
        self.is_noting = False
        self.is_replaying = True
        for row in range(learned):
            self._help_with(row)
        self.is_replaying = False
        if <int64_t>len(self.cell_values) != cells:
            return False
        self._read_answers(self.emitting.told, learned, self.received)
        self._clear_outbox()
        self.is_noting = True
        self.noted.length = 0
        for row in range(states):
            self.here = <int32_t>row
            self._help_with(learned + answered + row)
            publish(self.emitting.done, row + 1)
            if not row & 255:
                told()
        self._write_answers(self.emitting.heard)
        return True

    def close_helping(self, int64_t spent_ns):
        """Writes down what it took."""
        self.emitting.spent_ns[0] = spent_ns
        self.emitting.misses[0] = self.misses
        publish(self.emitting.closed, 1)

    cdef int _help_with(self, int64_t row) except -1:
        """Expands one vector; leaves it to others if that takes a new cell, fails, or does not fit."""
        cdef Desk* desk = self.emitting
        cdef int64_t before, calls = self.calls
        if self.is_replaying:
            self._clear_outbox()
        before = desk.place
        desk.successors = 0
        memcpy(self.source.data, desk.inbox + row * self.slots, self.slots * sizeof(int32_t))
        desk.place += HEAD
        try:
            self._visit_vector(-1, None)
        except Exception:
            self._forget(before + HEAD)
            desk.successors = PUNTED
        desk.outbox[before] = <int32_t>desk.successors
        desk.outbox[before + 1] = <int32_t>(self.calls - calls)
        desk.outbox[before + 2] = <int32_t>(desk.place - before)
        return 0

    cdef void _clear_outbox(self) noexcept:
        self.emitting.place = 0
        if self.emitting.seen_count or not self.is_replaying:
            memset(self.emitting.seen, 0xFF, SEEN_ROOM * sizeof(int32_t))
        self.emitting.seen_count = 0

    cdef int _emit(self, const int32_t* vector, int32_t bits) except -1:
        cdef Desk* desk = self.emitting
        cdef int64_t place
        if desk.place + self.slots + 1 > desk.limit:
            raise NewCell()
        place = self._find_seen(vector)
        desk.outbox[desk.place] = bits
        if place >= 0:
            desk.outbox[desk.place] = bits | SEEN_BEFORE
            desk.outbox[desk.place + 1] = <int32_t>place
            desk.place += 2
        else:
            memcpy(desk.outbox + desk.place + 1, vector, self.slots * sizeof(int32_t))
            desk.place += 1 + self.slots
        desk.successors += 1
        return 0

    cdef inline int64_t _find_seen(self, const int32_t* vector) noexcept:
        """Where this vector is in the outbox; -1 if it is new, and from now on it is where the next one is written."""
        cdef Desk* desk = self.emitting
        cdef uint64_t place = hashed(vector, self.slots) & (SEEN_ROOM - 1)
        cdef int32_t there
        while True:
            there = desk.seen[place]
            if there < 0:
                break
            if not desk.outbox[there] & FORGOTTEN and same(desk.outbox + there + 1, vector, self.slots):
                return there
            place = (place + 1) & (SEEN_ROOM - 1)
        if desk.seen_count * 10 < SEEN_ROOM * 7:
            desk.seen[place] = <int32_t>desk.place
            desk.seen_count += 1
        return -1

    cdef void _forget(self, int64_t place) noexcept:
        """Nobody will store the successors from here on: they do not count as seen."""
        cdef Desk* desk = self.emitting
        while place < desk.place:
            desk.outbox[place] |= FORGOTTEN
            place += 2 if desk.outbox[place] & SEEN_BEFORE else 1 + self.slots

    cdef int _refuse_new(self, values, key) except -1:
        for value in values:
            if value not in self.cells.numbers:
                if key is not None:
                    self.unknown.add(key)
                raise NewCell()
        return 0

    cdef int _close_expansion(self, int64_t state) except -1:
        """Takes over the fresh edges as those of this state."""
        write_edges(&self.edge_lists, state, self.fresh.data, self.fresh.length)
        self.expanded_edges += self.fresh.length
        if not self.fresh.length:  # stable: events alone leave it
            self.seen_stable = self._note(self.first_stable, self.seen_stable, self._memory(state), state)
        return 0

    def steps(self, int64_t state):
        """All steps out of a stored state, in the order of the search; targets must be stored."""
        cdef list found = []
        self._check_state(state, self.count)
        self._visit(state, found)
        return found

    cdef int64_t _visit(self, int64_t state, list found) except -1:
        """Takes every step out of a state and returns how many; with a list, only collects them there."""
        self._load(state)
        return self._visit_vector(state, found)

    cdef int64_t _visit_vector(self, int64_t state, list found) except -1:
        """As `_visit`, of the state that the source holds."""
        cdef bint has_urgent = False, is_stable = True, is_alone = False
        cdef int stage, place
        cdef int32_t role
        cdef int64_t actor, effect, taken = 0, kept
        cdef int32_t* answer  # first and last effect
        for stage in range(STAGES):
            if (stage == AT_IDLE and has_urgent) or (stage == AT_CALM and not is_stable):
                continue
            for place in range(self.stage_ends[stage], self.stage_ends[stage + 1]):
                actor = self.staged.data[place]
                answer = self._answer(actor)
                for effect in range(answer[0], answer[1]):
                    role = self.effects.data[3 * effect]
                    kept = self._take(state, actor, effect, role, found)
                    if kept:
                        taken += kept & ~MOVED
                        has_urgent |= role == URGENT
                        is_stable &= role == EVENT
                        is_alone |= stage == AT_FIRST
                if is_alone:
                    return taken
        return taken

    def weighed(self, int64_t first, int64_t last, weigh):
        """All steps out of these states with their weights; see `kernel.Kernel.weighed`."""
        cdef Weighing work
        cdef int64_t state, before
        if first < 0 or last < first or last > self.expanded:
            raise IndexError(f"states {first} to {last} are not expanded")
        memset(&work, 0, sizeof(Weighing))
        try:
            for state in range(self.outcomes.length):
                push_double(&work.known, -1.0)
            for state in range(first, last):
                before = work.targets.length
                self._visit_weighed(state, &work, weigh)
                push(&work.degrees, <int32_t>(work.targets.length - before))
                if not state & SIGNAL_MASK:
                    PyErr_CheckSignals()
            return Weighed(
                bytes_of(&work.degrees), bytes_of(&work.actors), bytes_of(&work.effects), bytes_of(&work.targets),
                PyBytes_FromStringAndSize(<char*>work.weights.data, work.weights.length * <int64_t>sizeof(double)),
            )
        finally:
            drop_weighing(&work)

    cdef int _visit_weighed(self, int64_t state, Weighing* work, weigh) except -1:
        """Collects every step out of a state; stages as in `_visit`, whose edges tell most targets."""
        cdef bint has_urgent = False, is_stable = True, is_alone = False
        cdef int stage, place
        cdef int32_t role
        cdef int64_t actor, effect
        cdef int32_t* answer
        self._load(state)
        work.edge = 0
        self.fresh.length = 0
        self._read_edges(state, &self.fresh)
        for stage in range(STAGES):
            if (stage == AT_IDLE and has_urgent) or (stage == AT_CALM and not is_stable):
                continue
            for place in range(self.stage_ends[stage], self.stage_ends[stage + 1]):
                actor = self.staged.data[place]
                answer = self._answer(actor)
                for effect in range(answer[0], answer[1]):
                    role = self.effects.data[3 * effect]
                    if self._take_weighed(actor, effect, role, work, weigh):
                        has_urgent |= role == URGENT
                        is_stable &= role == EVENT
                        is_alone |= stage == AT_FIRST
                if is_alone:
                    return 0
        return 0

    cdef int _take_weighed(self, int64_t actor, int64_t effect, int32_t role, Weighing* work, weigh) except -1:
        """Adds the steps of one effect; 1 if it changes the state."""
        cdef int64_t rows = self._draft_weighed(effect, work, weigh), row, target
        cdef int32_t* draft
        cdef int moved = 0
        self.recent.length = 0
        for row in range(rows):
            draft = self.drafts.data + row * self.slots
            if same(draft, self.source.data, self.slots):
                continue
            moved = 1
            if rows == 1 and role != EVENT:
                target = self.fresh.data[work.edge]  # as it was found when the state was expanded
                work.edge += 1
            else:
                self._finish(draft, self.source.data[0])
                target = self._find(draft)
                if target < 0:
                    raise KeyError("a step to a state that is not stored")
                if role != EVENT and self._is_first(<int32_t>target):
                    work.edge += 1
            push(&work.actors, <int32_t>actor)
            push(&work.effects, <int32_t>effect)
            push(&work.targets, <int32_t>target)
            push_double(&work.weights, work.drafts.data[row])
        return moved

    cdef int64_t _draft_weighed(self, int64_t effect, Weighing* work, weigh) except -1:
        """Applies the edits of an effect to the source, with the weights of the drafts; returns their number."""
        cdef int64_t edit, last = self.effects.data[3 * effect + 2], rows = 1, span, first
        cdef int32_t slot
        memcpy(self.drafts.data, self.source.data, self.slots * sizeof(int32_t))
        work.drafts.length = 0
        push_double(&work.drafts, 1.0)
        for edit in range(self.effects.data[3 * effect + 1], last):
            slot = self.edits.data[2 * edit]
            if rows == 1:
                span = self._span_weighed(edit, self.drafts.data[slot], work, weigh)
                first = self.edit_spans.data[2 * span]
                if self.edit_spans.data[2 * span + 1] - first == 1:
                    self.drafts.data[slot] = self.outcomes.data[first]
                    work.drafts.data[0] *= work.known.data[first]
                    continue
            rows = self._branch_weighed(rows, edit, work, weigh)
        return rows

    cdef int64_t _branch_weighed(self, int64_t rows, int64_t edit, Weighing* work, weigh) except -1:
        """Replaces every draft by one per outcome of the edit, and its weight likewise."""
        cdef int32_t slot = self.edits.data[2 * edit]
        cdef int64_t row, span, outcome
        cdef Doubles swapped
        work.more_drafts.length = 0
        for row in range(rows):
            span = self._span_weighed(edit, self.drafts.data[row * self.slots + slot], work, weigh)
            for outcome in range(self.edit_spans.data[2 * span], self.edit_spans.data[2 * span + 1]):
                push_double(&work.more_drafts, work.drafts.data[row] * work.known.data[outcome])
        swapped = work.drafts
        work.drafts = work.more_drafts
        work.more_drafts = swapped
        return self._branch(rows, edit)

    cdef int64_t _span_weighed(self, int64_t edit, int32_t cell, Weighing* work, weigh) except -1:
        """The number of the outcomes of an edit of a cell, their weights known from now on."""
        cdef int64_t span = self._edited(edit, cell), first = self.edit_spans.data[2 * span], place
        if first == self.edit_spans.data[2 * span + 1] or work.known.data[first] >= 0:
            return span
        slot, operation = self.edit_numbers.values[self.edits.data[2 * edit + 1]]
        weights = weigh(slot, self.cell_values[cell], self.operations.values[operation])
        if len(weights) != self.edit_spans.data[2 * span + 1] - first:
            raise ValueError("one weight per outcome of an edit")
        for place in range(<int64_t>len(weights)):
            work.known.data[first + place] = weights[place]
        return span

    def urgent(self, int64_t state):
        """The actors with urgent work in a stored state, also those that a step taken alone keeps waiting."""
        cdef int place
        self._check_state(state, self.count)
        self._load(state)
        return [
            self.staged.data[place]
            for place in range(self.stage_ends[AT_FIRST], self.stage_ends[AT_ALWAYS + 1])
            if self._has_urgent(self.staged.data[place])
        ]

    cdef bint _has_urgent(self, int64_t actor) except -1:
        cdef int64_t effect, row, rows
        cdef int32_t* answer = self._answer(actor)
        cdef int64_t first = answer[0], last = answer[1]
        for effect in range(first, last):
            if self.effects.data[3 * effect] != URGENT:
                continue
            rows = self._draft(effect)
            for row in range(rows):
                if not same(self.drafts.data + row * self.slots, self.source.data, self.slots):
                    return True
        return False

    cdef int64_t _take(
        self, int64_t state, int64_t actor, int64_t effect, int32_t role, list found
    ) except -1:
        """Takes one effect; returns the number of distinct successors, with `MOVED` set if it has any.

        Successors that are only looked for, and not stored, set it without being counted.
        """
        cdef int64_t rows = self._draft(effect), row, target, kept = 0
        cdef int32_t* draft
        cdef bint is_begun = False
        self.recent.length = 0
        for row in range(rows):
            draft = self.drafts.data + row * self.slots
            if same(draft, self.source.data, self.slots):
                continue
            kept |= MOVED
            self._finish(draft, self.source.data[0])
            if self.emitting != NULL:
                self._emit(draft, (role == EVENT) | (rows > 1) << 1 | (not is_begun) << 2)
                is_begun = True
                continue
            if found is None:
                target = self._store(draft, self.source.data, state)
            else:
                target = self._find(draft)
            if target < 0 or (rows > 1 and not self._is_first(<int32_t>target)):
                continue
            kept += 1
            if found is not None:
                found.append(Step(actor, self.effect_values[effect], target))
            elif role != EVENT:
                push(&self.fresh, <int32_t>target)
        return kept

    cdef inline int _is_first(self, int32_t target) except -1:
        """1 if this effect did not lead to the target yet."""
        cdef int64_t position
        for position in range(self.recent.length):
            if self.recent.data[position] == target:
                return 0
        push(&self.recent, target)
        return 1

    # -- actors ---------------------------------------------------------------------------------

    cdef inline int _read(self, int64_t index, const int32_t* vector, int32_t* key) except -1:
        """Writes the views that a reader has of a vector."""
        cdef Reader* reader = &self.readers[index]
        cdef int position
        cdef int32_t cell
        for position in range(reader.count):
            cell = vector[reader.slots[position]]
            if cell < reader.views[position].length and reader.views[position].data[cell] != UNKNOWN:
                key[position] = reader.views[position].data[cell]
            else:
                key[position] = self._learn_view(index, position, cell)
        return 0

    cdef int32_t _learn_view(self, int64_t index, int position, int32_t cell) except -1:
        cdef object owner = self.observer if index == self.actor_count else self.actors[index]
        cdef int32_t view = self.views.number(owner.view(position, self.cell_values[cell]))
        cdef Ints* known = &self.readers[index].views[position]
        if cell >= known.length:
            fill_to(known, cell + 1)
        known.data[cell] = view
        push(&self.taught, LEARN_VIEW)
        push(&self.taught, <int32_t>index)
        push(&self.taught, position)
        push(&self.taught, cell)
        push(&self.taught, view)
        return view

    cdef inline int32_t* _answer(self, int64_t actor) except NULL:
        """The actor's answer to the source vector: its first and last effect."""
        cdef Reader* reader = &self.readers[actor]
        cdef uint64_t value
        cdef int64_t number
        self._read(actor, self.source.data, self.key.data)
        self.calls += 1
        if is_recent(reader, self.key.data):
            number = reader.recent
        else:
            value = hashed(self.key.data, reader.memo.width)
            number = find_tuple(&reader.memo, self.key.data, value)
            if number < 0:
                number = self._learn_answer(actor, value)
                reader.recent = number
                return reader.answers.data + 2 * number
            reader.recent = number
        if self.check_every:
            self._recheck(actor, number)
        return reader.answers.data + 2 * number

    cdef object _ask(self, int64_t actor):
        cdef Reader* reader = &self.readers[actor]
        cdef int position
        cdef list views = [self.view_values[self.key.data[position]] for position in range(reader.count)]
        return tuple(self.actors[actor].act(tuple(views)))

    cdef object _ask_quietly(self, int64_t actor):
        """In a helper: what an actor answers that takes notes is for the process to ask that has the notes."""
        cdef object asked = self.actors[actor]
        cdef object before = getattr(asked, "noted", 0)
        cdef object effects = self._ask(actor)
        if getattr(asked, "noted", 0) != before and not self.is_replaying:
            raise NewCell()
        return effects

    cdef int64_t _learn_answer(self, int64_t actor, uint64_t value) except -1:
        self.misses += 1
        return self._keep_answer(actor, value, self._ask(actor) if self.emitting == NULL else self._ask_quietly(actor))

    cdef int64_t _keep_answer(self, int64_t actor, uint64_t value, tuple effects) except -1:
        cdef Reader* reader = &self.readers[actor]
        cdef int64_t number = reader.memo.count, first = self._compile(effects)
        reserve(&reader.answers, 2 * number + 2)
        reader.answers.data[2 * number] = <int32_t>first
        reader.answers.data[2 * number + 1] = <int32_t>len(self.effect_values)
        add_tuple(&reader.memo, self.key.data, value)
        push(&self.taught, LEARN_ANSWER)
        push(&self.taught, <int32_t>actor)
        self._note_key(reader.memo.width)
        push(&self.taught, reader.answers.data[2 * number + 1] - reader.answers.data[2 * number])
        if self.is_noting:
            push(&self.noted, <int32_t>actor)
            push(&self.noted, self.here)
            push(&self.noted, reader.answers.data[2 * number])
            push(&self.noted, reader.answers.data[2 * number + 1])
        return number

    cdef int _note_key(self, int width) except -1:
        cdef int position
        for position in range(width):
            push(&self.taught, self.key.data[position])
        return 0

    cdef int64_t _compile(self, tuple effects) except -1:
        """Writes effects as flat numbers and returns the first one's number."""
        cdef int64_t first = len(self.effect_values)
        cdef list pairs = [
            [(self._checked_slot(slot), self._edit_number(slot, word)) for slot, word in effect.edits]
            for effect in effects
        ]
        self.effects.length = 3 * first  # an earlier failure may have left a rest
        for effect, edits in zip(effects, pairs):
            push(&self.effects, effect.role)
            push(&self.effects, <int32_t>(self.edits.length // 2))
            for slot, number in edits:
                push(&self.edits, slot)
                push(&self.edits, number)
            push(&self.effects, <int32_t>(self.edits.length // 2))
        self.effect_values.extend([self._share(effect) for effect in effects])
        return first

    cdef object _share(self, effect):
        """The effect, as an object that was there before if there is one just like it."""
        known = self.known_effects.setdefault(effect, effect)
        return known if are_alike(known, effect) else effect

    cdef int32_t _edit_number(self, slot, operation) except -1:
        return self.edit_numbers.number((slot, self.operations.number(operation)))

    cdef int _recheck(self, int64_t actor, int64_t number) except -1:
        cdef Reader* reader = &self.readers[actor]
        self.hits += 1
        if self.hits % self.check_every == 0:
            known = self.effect_values[reader.answers.data[2 * number] : reader.answers.data[2 * number + 1]]
            if self._ask(actor) != tuple(known):
                raise impure(self.actors[actor].name)
        return 0

    # -- edits ----------------------------------------------------------------------------------

    cdef int64_t _draft(self, int64_t effect) except -1:
        """Applies the edits of an effect to the source; returns the number of drafts."""
        cdef int64_t edit, last = self.effects.data[3 * effect + 2], rows = 1, span
        cdef int32_t slot
        memcpy(self.drafts.data, self.source.data, self.slots * sizeof(int32_t))
        for edit in range(self.effects.data[3 * effect + 1], last):
            slot = self.edits.data[2 * edit]
            if rows != 1:
                rows = self._branch(rows, edit)
                continue
            span = self._edited(edit, self.drafts.data[slot])
            if self.edit_spans.data[2 * span + 1] - self.edit_spans.data[2 * span] != 1:
                rows = self._branch(rows, edit)
            else:
                self.drafts.data[slot] = self.outcomes.data[self.edit_spans.data[2 * span]]
        return rows

    cdef int64_t _branch(self, int64_t rows, int64_t edit) except -1:
        """Replaces every draft by one per outcome of the edit."""
        cdef int32_t slot = self.edits.data[2 * edit]
        cdef int64_t row, span, outcome, made = 0
        cdef Ints swapped
        for row in range(rows):
            span = self._edited(edit, self.drafts.data[row * self.slots + slot])
            for outcome in range(self.edit_spans.data[2 * span], self.edit_spans.data[2 * span + 1]):
                reserve(&self.more_drafts, (made + 1) * self.slots)
                memcpy(
                    self.more_drafts.data + made * self.slots,
                    self.drafts.data + row * self.slots,
                    self.slots * sizeof(int32_t),
                )
                self.more_drafts.data[made * self.slots + slot] = self.outcomes.data[outcome]
                made += 1
        reserve(&self.more_drafts, self.slots)
        swapped = self.drafts
        self.drafts = self.more_drafts
        self.more_drafts = swapped
        return made

    cdef inline int64_t _edited(self, int64_t edit, int32_t cell) except -1:
        """The number of the outcomes of an edit of a cell."""
        cdef int32_t key[2]
        cdef uint64_t value
        cdef int64_t number
        key[0] = self.edits.data[2 * edit + 1]
        key[1] = cell
        value = hashed(key, 2)
        number = find_tuple(&self.edit_memo, key, value)
        return number if number >= 0 else self._learn_edit(key, value)

    cdef int64_t _learn_edit(self, const int32_t* key, uint64_t value) except -1:
        cdef int64_t number = self.edit_memo.count, first = self.outcomes.length
        slot, operation = self.edit_numbers.values[key[0]]
        if self.emitting != NULL and (key[0], key[1]) in self.unknown:
            raise NewCell()
        edited = self.system.edit(slot, self.cell_values[key[1]], self.operations.values[operation])
        if self.emitting != NULL and not self.is_replaying:
            self._refuse_new(edited, (key[0], key[1]))
        for outcome in [self.cells.number(outcome) for outcome in edited]:
            push(&self.outcomes, outcome)
        reserve(&self.edit_spans, 2 * number + 2)
        self.edit_spans.data[2 * number] = <int32_t>first
        self.edit_spans.data[2 * number + 1] = <int32_t>self.outcomes.length
        add_tuple(&self.edit_memo, key, value)
        push(&self.taught, LEARN_EDIT)
        push(&self.taught, slot)
        push(&self.taught, operation)
        push(&self.taught, key[1])
        push(&self.taught, self.outcomes.data[self.outcomes.length - 1] if self.outcomes.length > first else -1)
        return number

    # -- canonical vectors ------------------------------------------------------------------------

    cdef inline int _finish(self, int32_t* vector, int32_t memory) except -1:
        """Sorts the blocks and brings the observer's memory up to date."""
        cdef int family
        for family in range(self.family_count):
            if not is_sorted(&self.families[family], vector):
                sort_blocks(&self.families[family], vector, self.room.data)
        vector[0] = self._observed(memory, vector)
        return 0

    cdef inline int32_t _observed(self, int32_t memory, const int32_t* vector) except -1:
        cdef Reader* reader = &self.readers[self.actor_count]
        cdef uint64_t value
        cdef int64_t number
        self.key.data[0] = memory
        self._read(self.actor_count, vector, self.key.data + 1)
        if is_recent(reader, self.key.data):
            return reader.answers.data[reader.recent]
        value = hashed(self.key.data, reader.memo.width)
        number = find_tuple(&reader.memo, self.key.data, value)
        if number < 0:
            return self._learn_memory(value)
        reader.recent = number
        return reader.answers.data[number]

    cdef int32_t _learn_memory(self, uint64_t value) except -1:
        cdef Reader* reader = &self.readers[self.actor_count]
        cdef int64_t number = reader.memo.count
        cdef int position
        cdef list views = [self.view_values[self.key.data[position + 1]] for position in range(reader.count)]
        cdef object remembered = self.observer.observe(self.cell_values[self.key.data[0]], tuple(views))
        cdef int32_t memory
        if self.emitting != NULL and not self.is_replaying:
            self._refuse_new((remembered,), None)
        memory = self.cells.number(remembered)
        reserve(&reader.answers, number + 1)
        reader.answers.data[number] = memory
        add_tuple(&reader.memo, self.key.data, value)
        push(&self.taught, LEARN_MEMORY)
        self._note_key(reader.memo.width)
        push(&self.taught, memory)
        return memory

    cdef inline int64_t _flags_of(self, int32_t memory) except -1:
        if memory < self.flags_capacity and self.flags_of_cell[memory] >= 0:
            return self.flags_of_cell[memory]
        return self._learn_flags(memory)

    cdef int64_t _learn_flags(self, int32_t memory) except -1:
        cdef int64_t flags = check_flags(self.observer.flags(self.cell_values[memory]))
        cdef int64_t position, capacity = max(64, 2 * <int64_t>memory)
        if memory >= self.flags_capacity:
            self.flags_of_cell = <int64_t*>resized(self.flags_of_cell, capacity * sizeof(int64_t))
            for position in range(self.flags_capacity, capacity):
                self.flags_of_cell[position] = -1
            self.flags_capacity = capacity
        self.flags_of_cell[memory] = flags
        return flags

    # -- storing ----------------------------------------------------------------------------------

    cdef inline int _fold(self, const int32_t* vector, const int32_t* known, int32_t* root) except -1:
        """The pair that stands for a vector; much of it may be `known` from another one."""
        memcpy(self.folded.data, vector, self.slots * sizeof(int32_t))
        return fold(&self.shape, &self.parts, &self.pairs, known, self.folded.data, root)

    cdef inline int64_t _find(self, const int32_t* vector) noexcept:
        """The number of a stored vector that may be like the source, -1 if it is not there."""
        cdef int32_t root[2]
        memcpy(self.folded.data, vector, self.slots * sizeof(int32_t))
        if not find_fold(&self.shape, &self.parts, &self.pairs, self.source.data, self.folded.data, root):
            return -1
        return self._find_root(root, hashed(root, 2))

    cdef inline int64_t _find_root(self, const int32_t* root, uint64_t value) noexcept:
        """The number of a stored state, -1 if it is not there."""
        cdef uint64_t mask, place
        cdef uint32_t entry, tag, low
        cdef int32_t* pair
        if self.table.entries == NULL:
            return -1
        mask = (<uint64_t>1 << self.table.bits) - 1
        low = <uint32_t>mask
        tag = entry_of(self.table.bits, value, 0)
        place = value & mask
        while True:
            entry = self.table.entries[place]
            if entry == EMPTY:
                return -1
            if (entry & ~low) == tag:
                pair = <int32_t*>at(&self.roots, <int64_t>(entry & low) * ROOT)
                if pair[0] == root[0] and pair[1] == root[1]:
                    return entry & low
            place = (place + 1) & mask

    cdef inline int64_t _store(self, const int32_t* vector, const int32_t* known, int64_t parent) except -1:
        cdef int32_t root[2]
        self._fold(vector, known, root)
        return self._store_root(root, vector[0], parent)

    cdef inline int64_t _store_root(self, const int32_t* root, int32_t memory, int64_t parent) except -1:
        cdef uint64_t value = hashed(root, 2)
        cdef int64_t number = self._find_root(root, value)
        return number if number >= 0 else self._append(root, value, memory, parent)

    cdef int64_t _append(self, const int32_t* root, uint64_t value, int32_t memory, int64_t parent) except -1:
        cdef int64_t number = self.count
        cdef int32_t* pair
        if number >= MAX_STATES:
            raise MemoryError("too many states")
        if is_full(&self.table, number):
            self._grow_table()
        self.roots.length = number * ROOT  # an earlier failure may have left a rest
        pair = <int32_t*>claim(&self.roots, ROOT)
        pair[0], pair[1] = root[0], root[1]
        write_parent(&self.parent_bits, number, parent)
        put(&self.table, value, number)
        self.count += 1
        self.seen_any = self._note(self.first_any, self.seen_any, memory, number)
        return number

    cdef int _grow_table(self) except -1:
        """Doubles the table; hashes are computed anew from the states, cheaper than keeping them."""
        cdef int bits = next_bits(&self.table)
        cdef int64_t number
        drop_entries(&self.table)
        self.table.entries = empty_entries(&self.table, bits)
        self.table.bits = bits
        for number in range(self.count):
            put(&self.table, hashed(<int32_t*>at(&self.roots, number * ROOT), 2), number)
        return 0

    cdef uint64_t _note(self, list first, uint64_t seen, int32_t memory, int64_t state) except? 0:
        """Records the first state for every flag that is set in it; returns all flags seen so far."""
        cdef uint64_t new = <uint64_t>self._flags_of(memory) & ~seen
        cdef int bit
        if new:
            for bit in range(FLAG_BITS):
                if new >> bit & 1:
                    first[bit] = state
        return seen | new

    # -- cycles -----------------------------------------------------------------------------------

    def cyclic_components(self):
        """The components with a cycle among the expanded states, each sorted, by their first states."""
        cdef list found = []
        cdef Walk walk
        memset(&walk, 0, sizeof(Walk))
        try:
            self._prepare_walk(&walk)
            self._walk_all(&walk, found)
        finally:
            self._drop_numbers(walk.index)
            self._drop_numbers(walk.path)
            self._drop_numbers(walk.left)
        found.sort()
        return found

    cdef int _prepare_walk(self, Walk* walk) except -1:
        walk.states = max(1, self.expanded)
        walk.index = self._numbers(walk.states)
        walk.path = self._numbers(walk.states)
        walk.left = self._numbers(walk.states)
        return 0

    cdef int32_t* _numbers(self, int64_t count) except NULL:
        """Room for so many numbers, all zero, where the store is."""
        cdef int32_t* numbers
        if self.held is not None:
            return <int32_t*>claim_place(<void*>self, count * <int64_t>sizeof(int32_t))
        numbers = <int32_t*>calloc(count, sizeof(int32_t))
        if numbers == NULL:
            raise MemoryError()
        return numbers

    cdef int _drop_numbers(self, int32_t* numbers) except -1:
        if self.held is None:
            free(numbers)
        elif numbers != NULL:
            release_place(<void*>self, <char*>numbers)
        return 0

    cdef int _walk_all(self, Walk* walk, list found) except -1:
        cdef int64_t root, taken = 0
        for root in range(self.expanded):
            if walk.index[root]:
                continue
            self._enter(walk, <int32_t>root)
            while walk.depth:
                self._advance(walk, found)
                taken += 1
                if not taken & WALK_MASK:
                    PyErr_CheckSignals()
                    if self.relieve is not None:
                        self.relieve()
        return 0

    cdef inline void _enter(self, Walk* walk, int32_t state) noexcept:
        walk.visited += 1
        walk.index[state] = walk.visited
        walk.path[walk.depth] = state
        walk.left[walk.depth] = <int32_t>(edges_of(&self.edge_lists, state).left << 1 | 1)
        walk.depth += 1

    cdef int _advance(self, Walk* walk, list found) except -1:
        """Follows the edges of the last state of the path to the first new one, or leaves it."""
        cdef int32_t state = walk.path[walk.depth - 1], target
        cdef int32_t* left = &walk.left[walk.depth - 1]
        cdef Cursor cursor = edges_of(&self.edge_lists, state)
        while cursor.left > left[0] >> 1:  # followed before
            next_edge(&self.edge_lists, &cursor)
        while cursor.left:
            target = <int32_t>next_edge(&self.edge_lists, &cursor)
            if target >= self.expanded:
                continue
            if not walk.index[target]:
                left[0] = <int32_t>(cursor.left << 1 | (left[0] & 1))
                self._enter(walk, target)
                return 0
            self._lower(walk, walk.depth - 1, walk.index[target])
        walk.depth -= 1
        if left[0] & 1:
            self._leave(walk, state, found)
            return 0
        walk.height += 1
        walk.path[walk.states - walk.height] = state
        self._lower(walk, walk.depth - 1, walk.index[state])
        return 0

    cdef inline void _lower(self, Walk* walk, int64_t depth, int32_t index) noexcept:
        """A state of the path reaches this index: if that is below its own, it is no root."""
        if index < walk.index[walk.path[depth]]:
            walk.index[walk.path[depth]] = index
            walk.left[depth] &= ~1

    cdef int _leave(self, Walk* walk, int32_t state, list found) except -1:
        """Takes the whole component of its root from the back; keeps it if it has a cycle."""
        cdef int64_t first = walk.states - walk.height, last = first, place
        while last < walk.states and walk.index[walk.path[last]] >= walk.index[state]:
            last += 1
        if last > first or self._has_loop(state):
            found.append(sorted([state, *[walk.path[place] for place in range(first, last)]]))
        for place in range(first, last):
            walk.index[walk.path[place]] = DONE
        walk.index[state] = DONE
        walk.height = walk.states - last
        return 0

    cdef inline bint _has_loop(self, int32_t state) noexcept:
        cdef Cursor cursor = edges_of(&self.edge_lists, state)
        while cursor.left:
            if next_edge(&self.edge_lists, &cursor) == state:
                return True
        return False


# -- places on a disk -------------------------------------------------------------------------------

cdef char* claim_place(void* owner, int64_t size) except NULL:
    """So many bytes, all zero, in a file that is mapped into memory."""
    cdef unsigned char[::1] place = (<CompiledKernel>owner).held.claim(size)
    return <char*>&place[0]


cdef int release_place(void* owner, char* place) except -1:
    (<CompiledKernel>owner).held.release(<uint64_t>place)
    return 0


# -- desks ------------------------------------------------------------------------------------------

cdef void lay_out(Desk* desk, char* area, int64_t inbox_bytes, int64_t size) noexcept:
    """Finds the parts of a desk in an area of shared memory."""
    cdef int64_t* head = <int64_t*>area
    desk.done, desk.misses, desk.spent_ns, desk.closed = head, head + 8, head + 16, head + 24
    desk.told, desk.heard = area + DESK_HEAD, area + DESK_HEAD + ANSWERS_ROOM
    area = desk.heard + ANSWERS_ROOM
    desk.inbox = <int32_t*>area
    desk.room = inbox_bytes // 4
    desk.outbox = <int32_t*>(area + inbox_bytes)
    desk.space = (size - DESK_HEAD - 2 * ANSWERS_ROOM - inbox_bytes) // 4
