# What is called for every tuple has its body here, for only so it is inlined into other modules.

cdef inline unsigned long long join(
    unsigned long long a, unsigned long long b, unsigned long long guards, unsigned long long bits
) noexcept nogil:
    cdef unsigned long long kept = ((a | guards) - b) & guards
    return b ^ ((a ^ b) & (kept - (kept >> (bits - 1))))


cdef inline bint contains(
    unsigned long long[::1] boxes, Py_ssize_t a, unsigned long long[::1] others, Py_ssize_t b, Py_ssize_t words,
    unsigned long long[::1] guards,
) noexcept nogil:
    cdef Py_ssize_t q
    for q in range(words):
        if (((boxes[a + q] | guards[q]) - others[b + q]) & guards[q]) != guards[q]:
            return False
    return True


cdef inline void extend(
    unsigned long long[::1] boxes, Py_ssize_t a, unsigned long long[::1] others, Py_ssize_t b, Py_ssize_t words,
    unsigned long long[::1] bits, unsigned long long[::1] guards,
) noexcept nogil:
    cdef Py_ssize_t q
    for q in range(words):
        if (((boxes[a + q] | guards[q]) - others[b + q]) & guards[q]) != guards[q]:
            boxes[a + q] = join(boxes[a + q], others[b + q], guards[q], bits[q])


cdef inline long long width(
    unsigned long long[::1] boxes, Py_ssize_t a, Py_ssize_t d, long long[::1] word, long long[::1] shift,
    long long[::1] top, long long[::1] slot, long long[::1] places,
) noexcept nogil:
    cdef Py_ssize_t j, high, low
    cdef unsigned long long box
    cdef long long total = 0
    for j in range(d):
        box = boxes[a + word[j]] >> shift[j]
        high = box & top[j]
        low = top[j] - ((box >> 32) & top[j])
        total += places[slot[j] + high] - places[slot[j] + low]
    return total


cdef long long largest_count(
    unsigned long long[::1] rows, long long start, long long stop, Py_ssize_t stride, Py_ssize_t n_values,
    long long[::1] histogram,
) noexcept nogil

cdef Py_ssize_t part(
    unsigned long long[::1] rows, long long start, long long stop, Py_ssize_t stride, Py_ssize_t word, long long shift,
    unsigned long long top, unsigned long long code, long long ties, Py_ssize_t a, unsigned long long[::1] spare,
    Py_ssize_t b,
) noexcept nogil

cdef Py_ssize_t part_from_behind(
    unsigned long long[::1] rows, long long start, long long stop, Py_ssize_t stride, Py_ssize_t word, long long shift,
    unsigned long long top, unsigned long long code, long long ties, unsigned long long[::1] spare, Py_ssize_t b,
) noexcept nogil
