//go:build linux && openblas

// Go tables and, for each thread, an OpenBLAS buffer, a stack and an arena of the C library take address
// space, hardly any of it memory. Where a limit (ulimit -v) leaves too little they die or wait for ever.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const rlim_t one_thread = (rlim_t)2200 << 20, each_thread = (rlim_t)512 << 20;

// bound_address_space starts the program again on one thread if the limit has no room for all, and refuses a
// limit without room for one.
__attribute__((constructor)) static void bound_address_space(int argc, char **argv) {
	(void)argc;
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	if (limit.rlim_cur < one_thread) {
		fprintf(stderr, "%s: the address space is limited to %llu MiB, the program takes %llu MiB: "
				"raise the limit (ulimit -v)\n", argv[0], (unsigned long long)limit.rlim_cur >> 20,
				(unsigned long long)one_thread >> 20);
		_exit(2);
	}
	const char *bounded = getenv("MALLOC_ARENA_MAX");
	if (bounded || limit.rlim_cur >= one_thread + each_thread * sysconf(_SC_NPROCESSORS_ONLN))
		return;
	setenv("GOMAXPROCS", "1", 0);
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	setenv("MALLOC_ARENA_MAX", "1", 0);
	execv("/proc/self/exe", argv);
}
