# What is called for every move of a walk has its body here, for only so it is inlined into other modules.

cdef inline long long below(unsigned long long[::1] state, unsigned long long bound) noexcept nogil:
    cdef unsigned long long x = state[0], word, low, top = 0xFFFFFFFF
    while True:
        x ^= x >> 12
        x ^= x << 25
        x ^= x >> 27
        word = ((x * <unsigned long long> 0x2545F4914F6CDD1D) >> 32) * bound
        low = word & top
        if low >= bound or low >= (top - bound + 1) % bound:
            state[0] = x
            return word >> 32
