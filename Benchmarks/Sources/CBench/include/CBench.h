#pragma once
#include <stddef.h>
#include <stdint.h>

/// Connects to the Unix socket at `path`; answers a blocking descriptor, or -1 with errno set.
int bench_connect(const char *path);

/// Starts a process that sends back every `message_bytes` bytes it gets, on `core` (-1: any), and
/// answers the descriptor to talk to it through. The process ends when that is closed.
int bench_start_echo(size_t message_bytes, int core);

/// Number of allocations by the calling thread so far.
uint64_t bench_allocation_count(void);
