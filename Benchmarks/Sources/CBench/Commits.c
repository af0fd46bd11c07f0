#include "CBench.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { log_bytes = 16 << 20, log_frame_header_bytes = 24, meta_bytes = 64 };

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// Runs a query whose only row consists of integers.
static int integers(sqlite3 *database, const char *sql, int *values, int count) {
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &query, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(query);
    if (code == SQLITE_ROW) {
        for (int column = 0; column < count; column++)
            values[column] = sqlite3_column_int(query, column);
        code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
        code = SQLITE_EMPTY;
    }
    sqlite3_finalize(query);
    return code;
}

int bench_row_like(const char *path, struct bench_row *row) {
    sqlite3 *database = NULL;
    int bytes[2];
    int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = integers(database, "PRAGMA page_size", &row->page_bytes, 1);
    if (code == SQLITE_OK)
        code = integers(
            database,
            "SELECT avg(length(deltas)), avg(length(facts))"
            " FROM (SELECT deltas, facts FROM batch ORDER BY number DESC LIMIT 256)",
            bytes, 2);
    row->delta_bytes = bytes[0];
    row->fact_bytes = bytes[1];
    sqlite3_close(database);
    return code;
}

/// Creates the database, and grows its log to the size that the journal gives its own.
static int prepare(sqlite3 *database, int page_bytes) {
    char sql[1024];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
             "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4096;"
             "CREATE TABLE batch(number INTEGER PRIMARY KEY, epoch INTEGER NOT NULL,"
             " after INTEGER NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL,"
             " deltas BLOB NOT NULL, facts BLOB NOT NULL, chain INTEGER NOT NULL,"
             " deltaBytes INTEGER, factBytes INTEGER);"
             "CREATE TABLE filler(bytes BLOB);"
             "INSERT INTO filler VALUES(zeroblob(%d));"
             "PRAGMA wal_checkpoint(RESTART);",
             page_bytes, log_bytes);
    return sqlite3_exec(database, sql, NULL, NULL, NULL);
}

static int commit(sqlite3_stmt *const statements[3], sqlite3_int64 number) {
    sqlite3_bind_int64(statements[1], 1, number);
    for (int index = 0; index < 3; index++) {
        int code = sqlite3_step(statements[index]);
        int other = sqlite3_reset(statements[index]);
        if (code != SQLITE_DONE) return other == SQLITE_OK ? code : other;
    }
    return SQLITE_OK;
}

static int measure(sqlite3 *database, sqlite3_stmt *const statements[3], struct bench_row row,
                   uint64_t nanoseconds, uint64_t *durations, size_t count_max, size_t *count) {
    const uint64_t begin = now() + nanoseconds / 10, end = begin + nanoseconds;
    const int row_bytes = row.delta_bytes + row.fact_bytes + meta_bytes;
    // Two more, because a row that ends a page begins another.
    const int frames = row_bytes / row.page_bytes + 2;
    const int log_frames = log_bytes / (row.page_bytes + log_frame_header_bytes);
    int used = 0;
    *count = 0;
    for (sqlite3_int64 number = 1;; number++) {
        if ((used += frames) > log_frames) {
            int code = sqlite3_wal_checkpoint_v2(
                database, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
            if (code != SQLITE_OK) return code;
            used = frames;
        }
        const uint64_t start = now();
        if (start >= end || *count >= count_max) return SQLITE_OK;
        int code = commit(statements, number);
        if (code != SQLITE_OK) return code;
        if (start >= begin) durations[(*count)++] = now() - start;
    }
}

int bench_commits(const char *path, struct bench_row row, uint64_t nanoseconds,
                  uint64_t *durations, size_t count_max, size_t *count) {
    static const char *const sql[3] = {
        "BEGIN IMMEDIATE",
        "INSERT INTO batch VALUES(?1, 1, ?1, ?1, ?1, ?2, ?3, ?1, NULL, NULL)", "COMMIT"};
    sqlite3 *database = NULL;
    sqlite3_stmt *statements[3] = {NULL, NULL, NULL};
    void *bytes = calloc(1, (size_t)(row.delta_bytes + row.fact_bytes) + 1);
    int code = bytes ? sqlite3_open(path, &database) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = prepare(database, row.page_bytes);
    for (int index = 0; index < 3 && code == SQLITE_OK; index++)
        code = sqlite3_prepare_v3(database, sql[index], -1, SQLITE_PREPARE_PERSISTENT,
                                  &statements[index], NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_blob(statements[1], 2, bytes, row.delta_bytes, SQLITE_STATIC);
        sqlite3_bind_blob(statements[1], 3, bytes, row.fact_bytes, SQLITE_STATIC);
        code = measure(database, statements, row, nanoseconds, durations, count_max, count);
    }
    for (int index = 0; index < 3; index++) sqlite3_finalize(statements[index]);
    sqlite3_close(database);
    free(bytes);
    return code;
}
