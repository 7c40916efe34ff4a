# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Growable arrays, a deterministic hash, open-addressing tables: the C side of the compiled kernel's memory.

Only inline functions, so that this is no module of its own.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

cdef enum:
    FIRST_TABLE_BITS = 6
    UNKNOWN = -1

cdef extern from *:
    """
    #define EMPTY_ENTRY 0xFFFFFFFFu
    """
    const uint32_t EMPTY "EMPTY_ENTRY"  # no entry looks so: numbers stay below 0.7 of a table's size


# -- places outside of the process's own memory -------------------------------------------------

ctypedef char* (*Claim)(void* owner, int64_t size) except NULL  # room of so many bytes, all zero
ctypedef int (*Release)(void* owner, char* place) except -1


cdef struct Disk:
    # Files that are mapped into memory: their pages are the system's to drop and to read again.
    void* owner
    Claim claim
    Release release


# -- growable arrays ----------------------------------------------------------------------------

cdef struct Ints:
    int32_t* data
    int64_t length
    int64_t capacity
    Disk* disk  # where the numbers are; NULL: in memory


cdef inline void* resized(void* block, int64_t size) except NULL:
    """The block with a new size in bytes; the old one stays valid if there is no memory."""
    cdef void* moved = realloc(block, <size_t>(size if size > 0 else 1))
    if moved == NULL:
        raise MemoryError()
    return moved


cdef inline int reserve(Ints* ints, int64_t capacity) except -1:
    """Makes room for `capacity` numbers in all; what is there stays."""
    cdef int64_t wanted = ints.capacity * 2
    if capacity <= ints.capacity:
        return 0
    if wanted < capacity:
        wanted = capacity
    if wanted < 16:
        wanted = 16
    if ints.disk != NULL:
        ints.data = <int32_t*>moved(ints.disk, <char*>ints.data, ints.capacity * 4, wanted * 4)
    else:
        ints.data = <int32_t*>resized(ints.data, wanted * sizeof(int32_t))
    ints.capacity = wanted
    return 0


cdef inline char* moved(Disk* disk, char* old, int64_t used, int64_t size) except NULL:
    """What is on a disk, in a larger place there."""
    cdef char* place = disk.claim(disk.owner, size)
    memcpy(place, old, used)
    disk.release(disk.owner, old)
    return place


cdef inline int spill_ints(Ints* ints, Disk* disk) except -1:
    """Moves the numbers from memory to a disk, where they grow from now on."""
    cdef char* place
    if ints.disk != NULL:
        return 0
    if ints.capacity:
        place = disk.claim(disk.owner, ints.capacity * 4)
        memcpy(place, ints.data, ints.capacity * 4)
        free(ints.data)
        ints.data = <int32_t*>place
        ints.disk = disk
    return 0


cdef inline int push(Ints* ints, int32_t value) except -1:
    if ints.length == ints.capacity:
        reserve(ints, ints.length + 1)
    ints.data[ints.length] = value
    ints.length += 1
    return 0


cdef struct Doubles:
    double* data
    int64_t length
    int64_t capacity


cdef inline int push_double(Doubles* numbers, double value) except -1:
    cdef int64_t wanted = numbers.capacity * 2
    if numbers.length == numbers.capacity:
        wanted = wanted if wanted > 16 else 16
        numbers.data = <double*>resized(numbers.data, wanted * sizeof(double))
        numbers.capacity = wanted
    numbers.data[numbers.length] = value
    numbers.length += 1
    return 0


cdef inline int fill_to(Ints* ints, int64_t length) except -1:
    """Extends a map from cells to numbers; new entries are unknown."""
    cdef int64_t position
    reserve(ints, length)
    for position in range(ints.length, ints.capacity):
        ints.data[position] = UNKNOWN
    ints.length = ints.capacity
    return 0


cdef inline void drop(Ints* ints) noexcept:
    if ints.disk == NULL:  # what is on a disk goes with the whole of it
        free(ints.data)
    ints.data = NULL
    ints.disk = NULL
    ints.length = ints.capacity = 0


# -- hashing ------------------------------------------------------------------------------------

cdef inline uint64_t hashed(const int32_t* numbers, int count) noexcept nogil:
    """A 64-bit hash by multiply and xor-shift, the same in every process."""
    cdef uint64_t value = <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>count
    cdef int position = 0
    while position + 1 < count:
        value ^= <uint64_t><uint32_t>numbers[position] | (<uint64_t><uint32_t>numbers[position + 1] << 32)
        value *= <uint64_t>0xD6E8FEB86659FD93
        value ^= value >> 32
        position += 2
    if position < count:
        value ^= <uint64_t><uint32_t>numbers[position]
        value *= <uint64_t>0xD6E8FEB86659FD93
        value ^= value >> 32
    value *= <uint64_t>0xA24BAED4963EE407
    return value ^ (value >> 29)


cdef struct Table:
    # Open addressing, linear probing. An entry is a number in the low `bits` and, above it, as many bits of
    # the hash as fit: they cost nothing and spare nearly every useless comparison.
    uint32_t* entries
    int bits
    Disk* disk  # as of `Ints`


cdef inline uint32_t entry_of(int bits, uint64_t value, int64_t number) noexcept nogil:
    return <uint32_t>((((value >> 32) >> bits) << bits) | <uint64_t>number)


cdef inline uint32_t* empty_entries(Table* table, int bits) except NULL:
    """So many entries where those of the table are."""
    cdef size_t size = (<size_t>1 << bits) * sizeof(uint32_t)
    cdef uint32_t* entries
    if table.disk != NULL:
        entries = <uint32_t*>table.disk.claim(table.disk.owner, size)
    else:
        entries = <uint32_t*>malloc(size)
    if entries == NULL:
        raise MemoryError()
    memset(entries, 0xFF, size)
    return entries


cdef inline int drop_entries(Table* table) except -1:
    cdef uint32_t* entries = table.entries
    table.entries = NULL
    if table.disk == NULL:
        free(entries)
    elif entries != NULL:
        table.disk.release(table.disk.owner, <char*>entries)
    return 0


cdef inline int spill_table(Table* table, Disk* disk) except -1:
    """Moves the entries from memory to a disk, where they grow from now on."""
    cdef int64_t size = <int64_t>sizeof(uint32_t) << table.bits
    cdef char* place
    if table.disk != NULL or table.entries == NULL:
        return 0
    place = disk.claim(disk.owner, size)
    memcpy(place, table.entries, size)
    free(table.entries)
    table.entries = <uint32_t*>place
    table.disk = disk
    return 0


cdef inline bint is_full(Table* table, int64_t count) noexcept nogil:
    return table.entries == NULL or (count + 1) * 10 > (<int64_t>7 << table.bits)


cdef inline int next_bits(Table* table) noexcept nogil:
    return FIRST_TABLE_BITS if table.entries == NULL else table.bits + 1


cdef inline void put(Table* table, uint64_t value, int64_t number) noexcept nogil:
    cdef uint64_t mask = (<uint64_t>1 << table.bits) - 1
    cdef uint64_t place = value & mask
    while table.entries[place] != EMPTY:
        place = (place + 1) & mask
    table.entries[place] = entry_of(table.bits, value, number)


cdef inline int64_t table_bytes(Table* table) noexcept nogil:
    return 0 if table.entries == NULL or table.disk != NULL else <int64_t>sizeof(uint32_t) << table.bits


# -- tuples of numbers, numbered in order of insertion ----------------------------------------------

cdef struct Tuples:
    int width
    int64_t count
    Ints keys
    Table table


cdef inline bint same(const int32_t* left, const int32_t* right, int count) noexcept nogil:
    cdef int position
    for position in range(count):
        if left[position] != right[position]:
            return False
    return True


cdef inline int64_t find_tuple(Tuples* tuples, const int32_t* key, uint64_t value) noexcept nogil:
    """The number of a tuple, -1 if it is new."""
    cdef uint64_t mask, place
    cdef uint32_t entry, tag, low
    cdef int64_t number
    if tuples.table.entries == NULL:
        return -1
    mask = (<uint64_t>1 << tuples.table.bits) - 1
    low = <uint32_t>mask
    tag = entry_of(tuples.table.bits, value, 0)
    place = value & mask
    while True:
        entry = tuples.table.entries[place]
        if entry == EMPTY:
            return -1
        if (entry & ~low) == tag:
            number = entry & low
            if same(tuples.keys.data + number * tuples.width, key, tuples.width):
                return number
        place = (place + 1) & mask


cdef inline int add_tuple(Tuples* tuples, const int32_t* key, uint64_t value) except -1:
    """Adds a tuple that is not there yet; its number is the count before."""
    cdef int64_t position = tuples.count * tuples.width
    reserve(&tuples.keys, position + tuples.width)
    if is_full(&tuples.table, tuples.count):
        grow_tuples(tuples)
    memcpy(tuples.keys.data + position, key, tuples.width * sizeof(int32_t))
    put(&tuples.table, value, tuples.count)
    tuples.count += 1
    return 0


cdef inline int grow_tuples(Tuples* tuples) except -1:
    cdef int bits = next_bits(&tuples.table)
    cdef int64_t number
    cdef uint32_t* entries = empty_entries(&tuples.table, bits)
    drop_entries(&tuples.table)
    tuples.table.entries = entries
    tuples.table.bits = bits
    for number in range(tuples.count):
        put(&tuples.table, hashed(tuples.keys.data + number * tuples.width, tuples.width), number)
    return 0


cdef inline void drop_tuples(Tuples* tuples) noexcept:
    drop(&tuples.keys)
    if tuples.table.disk == NULL:
        free(tuples.table.entries)
    tuples.table.entries = NULL
    tuples.table.disk = NULL


cdef inline int spill_tuples(Tuples* tuples, Disk* disk) except -1:
    spill_ints(&tuples.keys, disk)
    return spill_table(&tuples.table, disk)


cdef inline int64_t ints_bytes(Ints* ints) noexcept nogil:
    return 0 if ints.disk != NULL else ints.capacity * <int64_t>sizeof(int32_t)


cdef inline int64_t tuples_bytes(Tuples* tuples) noexcept nogil:
    return ints_bytes(&tuples.keys) + table_bytes(&tuples.table)
