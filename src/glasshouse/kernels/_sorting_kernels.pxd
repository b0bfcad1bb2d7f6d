cdef void sort_codes(int[::1] codes, Py_ssize_t n, long long high) noexcept nogil
