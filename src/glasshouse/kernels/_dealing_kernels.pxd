cdef class Dealer:
    cdef int[::1] order, current, taken, above
    cdef long long[::1] left
    cdef Py_ssize_t n_buckets, ell, smaller, n_above, head, tail, n_taken
    cdef long long level
    cdef void begin(self, Py_ssize_t n_buckets) noexcept nogil
    cdef void sink(self) noexcept nogil
    cdef void deal(self, Py_ssize_t n_groups, int[::1] groups) noexcept nogil
