"""Which instructions this machine has; always built for the plainest one."""

cdef extern from *:
    """
    static int bigtop_cpu_level(void)
    {
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
        __builtin_cpu_init();
        if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
              && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")
              && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("sse4.2")))
            return 1;
        if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
              && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
              && __builtin_cpu_supports("avx512vl")))
            return 3;
        return 4;
    #else
        return 0;
    #endif
    }
    """
    int bigtop_cpu_level() noexcept
    const char* BIGTOP_FLAVOUR


def level() -> int:
    """The level of the x86-64 instruction set: 1, 3 or 4; 0 on other machines."""
    return bigtop_cpu_level()


def flavour() -> str:
    """"native", "checked" or "sanitized" when the core was built once in that manner, else ""."""
    return BIGTOP_FLAVOUR.decode("ascii")
