#pragma once
#include <stddef.h>
#include <stdint.h>

/// Connects to the Unix socket at `path`; returns a blocking descriptor, or -1 with errno set.
int bench_connect(const char *path);

/// Starts a process on `core` (-1: any) that echoes every message of `message_bytes` bytes, and
/// returns the descriptor of its socket. The process ends when the descriptor is closed.
int bench_start_echo(size_t message_bytes, int core);

/// Number of allocations by the calling thread so far.
uint64_t bench_allocation_count(void);

/// The sizes of a journal's row and of the database pages.
struct bench_row {
    int page_bytes;
    int delta_bytes;
    int fact_bytes;
};

/// Reads the mean sizes of the newest rows of the journal at `path`. Returns 0, or SQLite's error
/// code.
int bench_row_like(const char *path, struct bench_row *row);

/// Commits such rows to a new database at `path`, one by one, each durable before the next
/// begins, into a write-ahead log grown in advance; for `nanoseconds`, or until there are
/// `count_max`. Writes the duration of each into `durations`, and their number into `count`.
/// Returns 0, or SQLite's error code.
int bench_commits(const char *path, struct bench_row row, uint64_t nanoseconds,
                  uint64_t *durations, size_t count_max, size_t *count);

/// Whether files at `path` are in memory only; -1 with errno set if that is unknown.
int bench_is_in_memory(const char *path);
