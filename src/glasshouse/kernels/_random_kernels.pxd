cdef long long below(unsigned long long[::1] state, unsigned long long bound) noexcept nogil
