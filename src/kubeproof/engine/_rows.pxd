# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows of cell numbers: how states are stored, and how interchangeable blocks are sorted.

Only inline functions, so that this is no module of its own.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from kubeproof.engine._arrays cimport resized, same

cdef enum:
    FIRST_CAPACITY = 64  # a chunk grows by doubling, so that small searches stay small
    NARROW = 2  # bytes of a cell number below 65536
    WIDE = 4


# -- stored states --------------------------------------------------------------------------------

cdef struct Chunk:
    void* vectors
    int32_t* parents
    uint32_t* ends  # edges of this chunk's states up to and with each state
    int64_t base  # edges of all states before the chunk
    int64_t capacity
    int width  # bytes per cell number: narrow until a large number occurs in the chunk


cdef inline void load(Chunk* chunk, int64_t row, int slots, int32_t* vector) noexcept nogil:
    cdef int slot
    cdef uint16_t* narrow
    if chunk.width == WIDE:
        memcpy(vector, <int32_t*>chunk.vectors + row * slots, slots * sizeof(int32_t))
        return
    narrow = <uint16_t*>chunk.vectors + row * slots
    for slot in range(slots):
        vector[slot] = narrow[slot]


cdef inline bint holds(Chunk* chunk, int64_t row, int slots, const int32_t* vector) noexcept nogil:
    cdef int slot
    cdef uint16_t* narrow
    if chunk.width == WIDE:
        return same(<int32_t*>chunk.vectors + row * slots, vector, slots)
    narrow = <uint16_t*>chunk.vectors + row * slots
    for slot in range(slots):
        if narrow[slot] != vector[slot]:
            return False
    return True


cdef inline void save(Chunk* chunk, int64_t row, int slots, const int32_t* vector) noexcept nogil:
    cdef int slot
    cdef uint16_t* narrow
    if chunk.width == WIDE:
        memcpy(<int32_t*>chunk.vectors + row * slots, vector, slots * sizeof(int32_t))
        return
    narrow = <uint16_t*>chunk.vectors + row * slots
    for slot in range(slots):
        narrow[slot] = <uint16_t>vector[slot]


cdef inline int widen(Chunk* chunk, int64_t rows, int slots) except -1:
    """Gives every cell number of the chunk four bytes."""
    cdef int32_t* wide = <int32_t*>resized(NULL, chunk.capacity * slots * WIDE)
    cdef int64_t row
    for row in range(rows):
        load(chunk, row, slots, wide + row * slots)
    free(chunk.vectors)
    chunk.vectors = wide
    chunk.width = WIDE
    return 0


cdef inline int grow_chunk(Chunk* chunk, int slots) except -1:
    cdef int64_t capacity = chunk.capacity * 2 if chunk.capacity else FIRST_CAPACITY
    chunk.vectors = resized(chunk.vectors, capacity * slots * chunk.width)
    chunk.parents = <int32_t*>resized(chunk.parents, capacity * sizeof(int32_t))
    chunk.ends = <uint32_t*>resized(chunk.ends, capacity * sizeof(uint32_t))
    chunk.capacity = capacity
    return 0


cdef inline bint is_narrow(const int32_t* vector, int slots) noexcept nogil:
    cdef int32_t all_bits = 0
    cdef int slot
    for slot in range(slots):
        all_bits |= vector[slot]
    return all_bits < 65536


# -- blocks of interchangeable slots ----------------------------------------------------------------

cdef struct Family:
    int blocks
    int length
    int32_t* slots  # block after block


cdef inline int compare_blocks(const int32_t* left, const int32_t* right, int length) noexcept nogil:
    cdef int position
    for position in range(length):
        if left[position] != right[position]:
            return -1 if left[position] < right[position] else 1
    return 0


cdef inline bint is_sorted(Family* family, const int32_t* vector) noexcept nogil:
    cdef int block, position
    cdef int32_t before, here
    cdef int32_t* slots = family.slots
    for block in range(1, family.blocks):
        for position in range(family.length):
            before = vector[slots[position]]
            here = vector[slots[family.length + position]]
            if before > here:
                return False
            if before < here:
                break
        slots += family.length
    return True


cdef inline void sort_blocks(Family* family, int32_t* vector, int32_t* room) noexcept nogil:
    """Sorts by insertion: nearly always one block is out of place. `room` holds one block more than all."""
    cdef int length = family.length, total = family.blocks * family.length
    cdef int position, block, place
    cdef int32_t* moved = room + total
    for position in range(total):
        room[position] = vector[family.slots[position]]
    for block in range(1, family.blocks):
        memcpy(moved, room + block * length, length * sizeof(int32_t))
        place = block
        while place > 0 and compare_blocks(room + (place - 1) * length, moved, length) > 0:
            memcpy(room + place * length, room + (place - 1) * length, length * sizeof(int32_t))
            place -= 1
        memcpy(room + place * length, moved, length * sizeof(int32_t))
    for position in range(total):
        vector[family.slots[position]] = room[position]
