# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Arenas: arrays that only grow at their end, in blocks that never move but once, to a file.

What is written stays as it is, but for the last block. A block that is full may be moved to a file that is mapped
into memory: its pages are then the system's to drop and to read again.
Only inline functions, so that this is no module of its own.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from kubeproof.engine._arrays cimport Disk, resized

cdef enum:
    BLOCK_BITS = 19
    BLOCK = 1 << BLOCK_BITS  # bytes
    BLOCK_MASK = BLOCK - 1
    EXTENT = 16  # blocks that are claimed at once on a disk, at least: a mapping takes an open file
    FIRST_ROOM = 512  # the first block grows by doubling, so that small searches stay small
    LONGEST = 8  # bytes that a number takes at most, and more
    SHARED_STATES = 4  # states of which the first alone tells where its edges begin
    SAMPLE = 512  # states of which the first alone tells where its parent is written


cdef extern from *:
    """
    static inline int kp_ones(uint64_t word) {
        word = word - ((word >> 1) & 0x5555555555555555ULL);
        word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
        return (int)((((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL) >> 56);
    }
    """
    int count_ones "kp_ones"(uint64_t word) noexcept nogil


cdef struct Arena:
    char** blocks
    int64_t count  # of blocks
    int64_t capacity  # of `blocks`
    int64_t length  # bytes in use
    int64_t room  # bytes of the last block
    Disk* disk  # where the blocks are; NULL: in memory
    char* spare  # on a disk, blocks that are claimed and not in use yet
    int64_t spares


cdef inline char* claim(Arena* arena, int64_t size) except NULL:
    """The next `size` bytes, all zero: a power of two, always the same one, so that none lies in two blocks."""
    cdef char* place
    if (arena.length >> BLOCK_BITS) >= arena.count or (
        (arena.length >> BLOCK_BITS) == arena.count - 1 and (arena.length & BLOCK_MASK) >= arena.room
    ):
        grow_arena(arena)
    place = arena.blocks[arena.length >> BLOCK_BITS] + (arena.length & BLOCK_MASK)
    arena.length += size
    return place


cdef inline int grow_arena(Arena* arena) except -1:
    """Makes room: the first block doubles, or a new one begins."""
    cdef char* block
    if arena.disk == NULL and arena.count == 1 and arena.room < BLOCK:
        block = <char*>resized(arena.blocks[0], arena.room * 2)
        memset(block + arena.room, 0, arena.room)
        arena.blocks[0] = block
        arena.room *= 2
        return 0
    if arena.count == arena.capacity:
        arena.blocks = <char**>resized(arena.blocks, (arena.count + 4) * 2 * sizeof(char*))
        arena.capacity = (arena.count + 4) * 2
    if arena.disk != NULL:
        block = claim_block(arena)
    else:
        block = <char*>calloc(BLOCK if arena.count else FIRST_ROOM, 1)
    if block == NULL:
        raise MemoryError()
    arena.room = BLOCK if arena.count or arena.disk != NULL else FIRST_ROOM
    arena.blocks[arena.count] = block
    arena.count += 1
    return 0


cdef inline char* claim_block(Arena* arena) except NULL:
    """A block on the disk, all zero."""
    cdef int64_t wanted = max(<int64_t>EXTENT, arena.count // 4)
    if not arena.spares:
        arena.spare = arena.disk.claim(arena.disk.owner, wanted * BLOCK)
        arena.spares = wanted
    arena.spare += BLOCK
    arena.spares -= 1
    return arena.spare - BLOCK


cdef inline int spill_arena(Arena* arena, Disk* disk) except -1:
    """Moves all blocks from memory to a disk, where new ones are from now on."""
    cdef int64_t index, wanted = (arena.count + EXTENT - 1) // EXTENT * EXTENT
    cdef char* place
    if arena.disk != NULL or not arena.count:
        return 0
    place = disk.claim(disk.owner, wanted * BLOCK)
    for index in range(arena.count):
        memcpy(place + index * BLOCK, arena.blocks[index], BLOCK if index < arena.count - 1 else arena.room)
        free(arena.blocks[index])
        arena.blocks[index] = place + index * BLOCK
    arena.disk = disk
    arena.room = BLOCK
    arena.spare = place + arena.count * BLOCK
    arena.spares = wanted - arena.count
    return 0


cdef inline char* at(Arena* arena, int64_t place) noexcept nogil:
    return arena.blocks[place >> BLOCK_BITS] + (place & BLOCK_MASK)


cdef inline int64_t arena_bytes(Arena* arena) noexcept nogil:
    cdef int64_t blocks = arena.capacity * <int64_t>sizeof(char*)
    return blocks + (arena.count - 1) * BLOCK + arena.room if arena.count and arena.disk == NULL else blocks


cdef inline void drop_arena(Arena* arena) noexcept:
    cdef int64_t index
    for index in range(arena.count if arena.disk == NULL else 0):  # what is on a disk goes with the whole of it
        free(arena.blocks[index])
    free(arena.blocks)
    memset(arena, 0, sizeof(Arena))


# -- edges: per state how many, then each as the difference to the one before -----------------------


cdef struct Edges:
    Arena numbers  # seven bits a byte, the lowest first; the last byte has no eighth
    Arena starts  # where the edges of every so many states begin
    int64_t last  # the edge written last


cdef struct Cursor:
    int64_t place
    int64_t last  # the edge read last
    int64_t left  # edges of the state that are not read yet


cdef inline char* put_number(char* place, uint64_t number) noexcept nogil:
    """Writes a number of at most five bytes; returns the place behind it."""
    while number >= 128:
        place[0] = <char>(number & 127 | 128)
        place += 1
        number >>= 7
    place[0] = <char>number
    return place + 1


cdef inline int write_number(Arena* arena, uint64_t number) except -1:
    """Writes a number at the end of an arena, straight away if it does not come near the end of a block."""
    cdef char* place
    cdef char* end
    cdef char[LONGEST] apart
    cdef int64_t index, inside = arena.length & BLOCK_MASK
    if inside and inside + LONGEST <= arena.room:
        place = at(arena, arena.length)
        arena.length += put_number(place, number) - place
        return 0
    place = apart
    end = put_number(place, number)
    for index in range(end - place):
        claim(arena, 1)[0] = apart[index]
    return 0


cdef inline uint64_t read_number(Arena* arena, int64_t* place) noexcept nogil:
    cdef uint64_t number = 0, byte
    cdef int shift = 0
    while True:
        byte = <uint8_t>at(arena, place[0])[0]
        place[0] += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number
        shift += 7


cdef inline int write_edges(Edges* edges, int64_t state, const int32_t* targets, int64_t count) except -1:
    """The edges of the next state."""
    cdef int64_t index, change
    if not state % SHARED_STATES:
        (<int64_t*>claim(&edges.starts, sizeof(int64_t)))[0] = edges.numbers.length
        edges.last = state
    write_number(&edges.numbers, <uint64_t>count)
    for index in range(count):
        change = targets[index] - edges.last
        write_number(&edges.numbers, <uint64_t>(change << 1) if change >= 0 else <uint64_t>(((-change) << 1) - 1))
        edges.last = targets[index]
    return 0


cdef inline int64_t next_edge(Edges* edges, Cursor* cursor) noexcept nogil:
    cdef uint64_t code = read_number(&edges.numbers, &cursor.place)
    cursor.left -= 1
    cursor.last += -<int64_t>((code + 1) >> 1) if code & 1 else <int64_t>(code >> 1)
    return cursor.last


cdef inline Cursor edges_of(Edges* edges, int64_t state) noexcept nogil:
    """A cursor before the first edge of a state."""
    cdef int64_t first = state - state % SHARED_STATES, before
    cdef Cursor cursor
    cursor.place = (<int64_t*>at(&edges.starts, first // SHARED_STATES * <int64_t>sizeof(int64_t)))[0]
    cursor.last = first
    for before in range(first, state):
        cursor.left = <int64_t>read_number(&edges.numbers, &cursor.place)
        while cursor.left:
            next_edge(edges, &cursor)
    cursor.left = <int64_t>read_number(&edges.numbers, &cursor.place)
    return cursor


# -- parents: they never fall from one state to the next, so a bit for every step up and one per state --------


cdef struct Parents:
    Arena bits
    Arena samples  # the place of the bit of every so many states
    int64_t length  # bits in use
    int64_t last  # the parent written last, and one


cdef inline int write_parent(Parents* parents, int64_t state, int64_t parent) except -1:
    """The parent of the next state; not below that of the one before."""
    cdef int64_t place = parents.length + parent + 1 - parents.last
    while parents.bits.length * 8 <= place:
        claim(&parents.bits, sizeof(uint64_t))
    if not state % SAMPLE:
        (<int64_t*>claim(&parents.samples, sizeof(int64_t)))[0] = place
    (<uint64_t*>at(&parents.bits, place >> 6 << 3))[0] |= <uint64_t>1 << (place & 63)
    parents.length = place + 1
    parents.last = parent + 1
    return 0


cdef inline int64_t parent_of(Parents* parents, int64_t state) noexcept nogil:
    """The number of bits that are not set before that of the state, less one."""
    cdef int64_t place = (<int64_t*>at(&parents.samples, state // SAMPLE * <int64_t>sizeof(int64_t)))[0]
    cdef int64_t left = state % SAMPLE
    cdef int found
    cdef uint64_t word = (<uint64_t*>at(&parents.bits, place >> 6 << 3))[0] >> (place & 63) << (place & 63)
    place = place >> 6
    while True:
        found = count_ones(word)
        if left < found:
            break
        left -= found
        place += 1
        word = (<uint64_t*>at(&parents.bits, place << 3))[0]
    while left:
        word &= word - 1
        left -= 1
    return (place << 6) + count_ones((word & (~word + 1)) - 1) - state - 1
