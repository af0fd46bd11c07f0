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

/// A row as a journal has it, and the pages that it is written to.
struct bench_row {
    int page_bytes;
    int delta_bytes;
    int fact_bytes;
};

/// Looks at the newest rows of the journal at `path`: what they are like in the mean. Answers 0, or
/// the code of what SQLite says.
int bench_row_like(const char *path, struct bench_row *row);

/// Commits such rows to a new database at `path`, one by one, each durable before the next begins,
/// into a write-ahead log that was grown beforehand; for `nanoseconds`, or until there are
/// `count_max` of them. Writes how long each took into `durations`, and how many there were into
/// `count`. Answers 0, or the code of what SQLite says.
int bench_commits(const char *path, struct bench_row row, uint64_t nanoseconds,
                  uint64_t *durations, size_t count_max, size_t *count);

/// Whether files at `path` are in memory only; -1 with errno set if that cannot be told.
int bench_is_in_memory(const char *path);
