# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows of cell numbers: how states are stored as trees, and how interchangeable blocks are sorted.

Only inline functions, so that this is no module of its own.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from kubeproof.engine._arrays cimport Tuples, add_tuple, find_tuple, hashed, resized, same

cdef enum:
    NARROW = 2  # bytes of a cell number below 65536 in a snapshot
    WIDE = 4
    WIDEST_PART = 8  # cells
    NARROW_PART = 3  # of short vectors: halves of them have little in common, and pairs take less than parts
    SHORT = 24  # cells
    MOST_PARTS = 2147483646


# -- states as trees -------------------------------------------------------------------------------
# The cells are cut into parts of equal width, and equal parts have one number. Over the parts stands a balanced tree
# of pairs, in which equal pairs have one number. So what states have in common is stored once, and a state is the
# pair of its two halves (Laarman, van de Pol, Weber: Parallel Recursive State Compression for Free, SPIN 2011).
# A vector that is folded has room for its cells, zeros up to whole parts, and the numbers of its parts and pairs.


cdef struct Shape:
    int slots
    int parts
    int width  # cells of a part
    int nodes  # pairs below the root
    int32_t* left  # per pair, children first, and last of the root: where its parts are in a folded vector
    int32_t* right
    int steps  # pairs from the root's left child to the first part


cdef inline int plan_shape(Shape* shape, int slots) except -1:
    """The tree over so many slots."""
    drop_shape(shape)
    shape.slots = slots
    cdef int widest = NARROW_PART if slots <= SHORT else WIDEST_PART
    shape.parts = (slots + widest - 1) // widest
    if shape.parts < 2:
        shape.parts = 2
    shape.width = (slots + shape.parts - 1) // shape.parts
    shape.left = <int32_t*>resized(NULL, shape.parts * sizeof(int32_t))
    shape.right = <int32_t*>resized(NULL, shape.parts * sizeof(int32_t))
    cdef int32_t low = plan_pairs(shape, 0, shape.parts // 2)
    cdef int32_t high = plan_pairs(shape, shape.parts // 2, shape.parts)
    shape.left[shape.nodes], shape.right[shape.nodes] = low, high
    while low >= shape.parts * (shape.width + 1):
        shape.steps += 1
        low = shape.left[low - shape.parts * (shape.width + 1)]
    return 0


cdef inline int32_t plan_pairs(Shape* shape, int first, int last) noexcept:
    """Where the number for a range of parts is in a folded vector."""
    cdef int32_t low, high
    if last - first == 1:
        return shape.parts * shape.width + first
    low = plan_pairs(shape, first, (first + last) // 2)
    high = plan_pairs(shape, (first + last) // 2, last)
    shape.left[shape.nodes], shape.right[shape.nodes] = low, high
    shape.nodes += 1
    return shape.parts * (shape.width + 1) + shape.nodes - 1


cdef inline void drop_shape(Shape* shape) noexcept:
    free(shape.left)
    free(shape.right)
    memset(shape, 0, sizeof(Shape))


cdef inline int64_t folded_length(Shape* shape) noexcept nogil:
    return shape.parts * <int64_t>(shape.width + 2)


cdef inline void unfold(
    Shape* shape, Tuples* parts, Tuples* pairs, const int32_t* root, int32_t* vector
) noexcept nogil:
    """Writes a state as a folded vector."""
    cdef int node = shape.nodes, part
    cdef int32_t* numbers = vector + shape.parts * shape.width
    cdef const int32_t* pair = root
    vector[shape.left[node]] = pair[0]
    vector[shape.right[node]] = pair[1]
    for node in range(shape.nodes - 1, -1, -1):
        pair = pairs.keys.data + 2 * <int64_t>numbers[shape.parts + node]
        vector[shape.left[node]] = pair[0]
        vector[shape.right[node]] = pair[1]
    for part in range(shape.parts):
        memcpy(
            vector + part * shape.width,
            parts.keys.data + numbers[part] * <int64_t>shape.width,
            shape.width * sizeof(int32_t),
        )


cdef inline int fold(
    Shape* shape, Tuples* parts, Tuples* pairs, const int32_t* known, int32_t* vector, int32_t* root
) except -1:
    """Finds the numbers of a vector's parts and pairs, new ones if they are new; what `known` has as well is had
    from it."""
    cdef int part, node, place = 0, number = shape.parts * shape.width
    cdef int32_t pair[2]
    for part in range(shape.parts):
        if same(vector + place, known + place, shape.width):
            vector[number] = known[number]
        else:
            vector[number] = number_of(parts, vector + place)
        place += shape.width
        number += 1
    for node in range(shape.nodes):
        pair[0], pair[1] = vector[shape.left[node]], vector[shape.right[node]]
        if pair[0] == known[shape.left[node]] and pair[1] == known[shape.right[node]]:
            vector[number] = known[number]
        else:
            vector[number] = number_of(pairs, pair)
        number += 1
    root[0], root[1] = vector[shape.left[shape.nodes]], vector[shape.right[shape.nodes]]
    return 0


cdef inline int32_t number_of(Tuples* tuples, const int32_t* key) except -1:
    """The number of a tuple, a new one if it is new."""
    cdef uint64_t value = hashed(key, tuples.width)
    cdef int64_t number = find_tuple(tuples, key, value)
    if number >= 0:
        return <int32_t>number
    if tuples.count >= MOST_PARTS:
        raise MemoryError("too many parts of states")
    add_tuple(tuples, key, value)
    return <int32_t>(tuples.count - 1)


cdef inline int find_fold(
    Shape* shape, Tuples* parts, Tuples* pairs, const int32_t* known, int32_t* vector, int32_t* root
) noexcept nogil:
    """As `fold`, but adds nothing; 0 if it would: the vector is no stored state then."""
    cdef int part, node, place = 0, number = shape.parts * shape.width
    cdef int32_t pair[2]
    for part in range(shape.parts):
        if same(vector + place, known + place, shape.width):
            vector[number] = known[number]
        else:
            vector[number] = <int32_t>find_tuple(parts, vector + place, hashed(vector + place, shape.width))
            if vector[number] < 0:
                return 0
        place += shape.width
        number += 1
    for node in range(shape.nodes):
        pair[0], pair[1] = vector[shape.left[node]], vector[shape.right[node]]
        if pair[0] == known[shape.left[node]] and pair[1] == known[shape.right[node]]:
            vector[number] = known[number]
        else:
            vector[number] = <int32_t>find_tuple(pairs, pair, hashed(pair, 2))
            if vector[number] < 0:
                return 0
        number += 1
    root[0], root[1] = vector[shape.left[shape.nodes]], vector[shape.right[shape.nodes]]
    return 1


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
