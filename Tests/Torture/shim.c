// Intercepts the file calls of a daemon below one directory: counts the calls that change the
// disk, kills the process or fails a call at one of them, and records the calls.
//
//   cc -shared -fPIC -O2 -o shim.so shim.c -ldl -lpthread
//   LD_PRELOAD=shim.so TORTURE_DIR=/data TORTURE_AT=7 TORTURE_DO=before reactord …
//
// TORTURE_DIR    the directory, absolute; calls elsewhere pass through
// TORTURE_COUNT  a file of two words: the number of counted calls; and a request, if not 0, to kill
//                the process before the next call (1) or after it (2), so that no call is split
// TORTURE_CALLS  the calls to count, such as `,fsync,fdatasync,`; by default all that change the
//                disk (`pread` counts only if named)
// TORTURE_FILE   a part of the paths to count
// TORTURE_AT     the number of the call at which to act, from 1
// TORTURE_DO     before, half, after: kill there; fail: return TORTURE_ERRNO once, fails: from
//                there on; short: write half; slow: take TORTURE_SECONDS longer
// TORTURE_HIT    a file that receives the name of that call
// TORTURE_BOOT   a file to read instead of the machine's boot id
// TORTURE_LOG    a file that records every call with its bytes, for `disk.py`
//
// The index of the write-ahead log (`-shm`) is ignored: it is recreated at every start.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, ALLOCATE, BEGIN, END, DIRECTORY_BEGIN, DIRECTORY_END, RENAME, UNLINK };

struct record {
    uint8_t kind;
    uint8_t nameLength, otherLength, zero;
    uint32_t byteCount;
    uint64_t file, offset;
} __attribute__((packed));

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static const char *directory, *calls, *part, *action, *hit;
static size_t directoryLength;
static uint64_t at, own[2];
static volatile uint64_t *count = own;
static int code, logFile = -1;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t plainWrite(int file, const void *bytes, size_t length) {
    return syscall(SYS_write, file, bytes, length);
}

__attribute__((constructor)) static void begin(void) {
    directory = getenv("TORTURE_DIR");
    if (!directory) return;
    directoryLength = strlen(directory);
    calls = getenv("TORTURE_CALLS");
    part = getenv("TORTURE_FILE");
    action = getenv("TORTURE_DO");
    hit = getenv("TORTURE_HIT");
    at = getenv("TORTURE_AT") ? strtoull(getenv("TORTURE_AT"), NULL, 10) : 0;
    code = getenv("TORTURE_ERRNO") ? atoi(getenv("TORTURE_ERRNO")) : EIO;
    const char *path = getenv("TORTURE_COUNT");
    if (path) {
        int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
        void *memory = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) count = memory;
    }
    path = getenv("TORTURE_LOG");
    if (path) {
        logFile = (int)syscall(
            SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
}

// The name below the directory, "" for the directory itself, NULL for other paths.
static const char *inside(const char *path) {
    if (!directory || strncmp(path, directory, directoryLength)) return NULL;
    const char *rest = path + directoryLength;
    if (*rest == 0) return rest;
    if (*rest++ != '/') return NULL;
    size_t length = strlen(rest);
    if (length >= 4 && !strcmp(rest + length - 4, "-shm")) return NULL;
    // A deleted file has a suffix after its name.
    return strchr(rest, ' ') ? NULL : rest;
}

static const char *insideOf(int file, char *path) {
    if (!directory) return NULL;
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return inside(path);
}

static const char *insideAt(int file, const char *name, char *path) {
    if (!directory) return NULL;
    if (*name == '/') return inside(name);
    if (file == AT_FDCWD || !insideOf(file, path)) return NULL;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    return inside(path);
}

static uint64_t numberOf(int file) {
    struct stat status;
    return fstat(file, &status) ? 0 : status.st_ino;
}

static void note(
    int kind, uint64_t file, uint64_t offset, const char *name, const char *other,
    const void *bytes, uint32_t length
) {
    if (logFile < 0) return;
    static char buffer[1 << 21];
    struct record record = {
        kind, name ? strlen(name) : 0, other ? strlen(other) : 0, 0, length, file, offset};
    size_t end = 0;
    if (length > sizeof buffer - 1024) abort();
    memcpy(buffer, &record, sizeof record);
    end += sizeof record;
    memcpy(buffer + end, name ? name : "", record.nameLength);
    end += record.nameLength;
    memcpy(buffer + end, other ? other : "", record.otherLength);
    end += record.otherLength;
    memcpy(buffer + end, bytes ? bytes : "", length);
    end += length;
    // disk.py ignores half a record, as if the call had not been made.
    plainWrite(logFile, buffer, end);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

enum fate { PASS, BEFORE, HALF, AFTER, FAIL, SHORT, SLOW };

// Counts a call and returns its fate; requires the lock `gate`.
static enum fate fateOf(const char *call, const char *name) {
    if (count[1] == 1) die();
    if (count[1] == 2) return AFTER;
    char word[32];
    snprintf(word, sizeof word, ",%s,", call);
    if ((calls && !strstr(calls, word)) || (part && !strstr(name, part))) return PASS;
    if (++*count < at || !at || !action) return PASS;
    if (*count > at) return strcmp(action, "fails") ? PASS : FAIL;
    if (hit) {
        char line[PATH_MAX];
        int length = snprintf(line, sizeof line, "%s %s\n", call, *name ? name : ".");
        int file = (int)syscall(SYS_openat, AT_FDCWD, hit, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        plainWrite(file, line, length);
        syscall(SYS_close, file);
    }
    if (!strcmp(action, "before")) die();
    if (!strcmp(action, "half")) return HALF;
    if (!strcmp(action, "after")) return AFTER;
    if (!strcmp(action, "fail") || !strcmp(action, "fails")) return FAIL;
    if (!strcmp(action, "short")) return SHORT;
    if (!strcmp(action, "slow")) return SLOW;
    return PASS;
}

// `body` makes the call and sets `result`; `record` records it.
#define THROUGH(call, name, body, record) \
    pthread_mutex_lock(&gate); \
    enum fate fate = fateOf(call, name); \
    if (fate == FAIL) { \
        pthread_mutex_unlock(&gate); \
        errno = code; \
        return -1; \
    } \
    body; \
    int error = errno; \
    if (result >= 0) { record; } \
    if (fate == AFTER || fate == HALF) die(); \
    pthread_mutex_unlock(&gate); \
    errno = error; \
    return result

static const char *booted(const char *path) {
    const char *other = getenv("TORTURE_BOOT");
    return other && !strcmp(path, "/proc/sys/kernel/random/boot_id") ? other : path;
}

static int opened(int (*real)(int, const char *, int, ...), int at, const char *path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *name = flags & (O_CREAT | O_TRUNC) ? insideAt(at, path, buffer) : NULL;
    struct stat status;
    int isThere = name && !fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW);
    if (!name || (isThere && !(flags & O_TRUNC))) return real(at, path, flags, mode);
    int result;
    THROUGH(
        isThere ? "ftruncate" : "create", name, result = real(at, path, flags, mode),
        if (isThere) note(TRUNCATE, numberOf(result), 0, NULL, NULL, NULL, 0);
        else note(CREATE, numberOf(result), 0, name, NULL, NULL, 0));
}

#define MODE \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int openat(int at, const char *path, int flags, ...) {
    MODE
    REAL(openat);
    return opened(real, at, booted(path), flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE
    REAL(openat64);
    return opened(real, at, booted(path), flags, mode);
}
int open(const char *path, int flags, ...) {
    MODE
    return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE
    return openat(AT_FDCWD, path, flags, mode);
}

// The number of bytes of a write to make; neither a kill nor a power cut splits a sector.
static size_t partOf(enum fate fate, size_t length, off64_t offset) {
    if (fate == SHORT && length > 1) return length / 2;
    if (fate != HALF) return length;
    size_t half = length / 2, over = (offset + half) % 512;
    return half > over ? half - over : length;
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    REAL(pwrite64);
    char path[PATH_MAX];
    const char *name = insideOf(file, path);
    if (!name) return real(file, bytes, length, offset);
    ssize_t result;
    THROUGH(
        "pwrite", name,
        length = partOf(fate, length, offset);
        result = real(file, bytes, length, offset),
        note(WRITE, numberOf(file), offset, NULL, NULL, bytes, result));
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    return pwrite64(file, bytes, length, offset);
}
ssize_t pread64(int file, void *bytes, size_t length, off64_t offset) {
    REAL(pread64);
    char path[PATH_MAX];
    const char *name = calls && strstr(calls, ",pread,") ? insideOf(file, path) : NULL;
    if (!name) return real(file, bytes, length, offset);
    ssize_t result;
    THROUGH("pread", name, result = real(file, bytes, length, offset), (void)0);
}
ssize_t pread(int file, void *bytes, size_t length, off_t offset) {
    return pread64(file, bytes, length, offset);
}
ssize_t write(int file, const void *bytes, size_t length) {
    REAL(write);
    char path[PATH_MAX];
    const char *name = file > 2 && file != logFile ? insideOf(file, path) : NULL;
    if (!name) return real(file, bytes, length);
    ssize_t result;
    THROUGH(
        "write", name,
        length = partOf(fate, length, lseek(file, 0, SEEK_CUR));
        result = real(file, bytes, length),
        note(
            WRITE, numberOf(file), lseek(file, 0, SEEK_CUR) - result, NULL, NULL, bytes, result));
}

int ftruncate64(int file, off64_t length) {
    REAL(ftruncate64);
    char path[PATH_MAX];
    const char *name = insideOf(file, path);
    if (!name) return real(file, length);
    int result;
    THROUGH(
        "ftruncate", name, result = real(file, length),
        note(TRUNCATE, numberOf(file), length, NULL, NULL, NULL, 0));
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int allocated(int (*real)(int, off_t, off_t), int file, off_t offset, off_t length) {
    char path[PATH_MAX];
    const char *name = insideOf(file, path);
    if (!name) return real(file, offset, length);
    pthread_mutex_lock(&gate);
    enum fate fate = fateOf("posix_fallocate", name);
    int result = fate == FAIL ? code : real(file, offset, length);
    if (!result) note(ALLOCATE, numberOf(file), offset + length, NULL, NULL, NULL, 0);
    if (fate == AFTER || fate == HALF) die();
    pthread_mutex_unlock(&gate);
    return result;
}
int posix_fallocate(int file, off_t offset, off_t length) {
    REAL(posix_fallocate);
    return allocated(real, file, offset, length);
}
int posix_fallocate64(int file, off64_t offset, off64_t length) {
    return posix_fallocate(file, offset, length);
}

static int synchronized(int (*real)(int), const char *call, int file) {
    static uint64_t last;
    char path[PATH_MAX];
    const char *name = insideOf(file, path);
    if (!name) return real(file);
    pthread_mutex_lock(&gate);
    enum fate fate = fateOf(call, name);
    uint64_t number = ++last;
    int isDirectory = *name == 0;
    note(isDirectory ? DIRECTORY_BEGIN : BEGIN, numberOf(file), number, NULL, NULL, NULL, 0);
    pthread_mutex_unlock(&gate);
    if (fate == HALF) die();
    if (fate == SLOW) sleep(getenv("TORTURE_SECONDS") ? atoi(getenv("TORTURE_SECONDS")) : 10);
    // Other threads write during this call; whether their data is on the disk is unknown.
    int result = fate == FAIL ? -1 : real(file);
    int error = fate == FAIL ? code : errno;
    pthread_mutex_lock(&gate);
    if (!result) {
        note(isDirectory ? DIRECTORY_END : END, numberOf(file), number, NULL, NULL, NULL, 0);
    }
    if (fate == AFTER) die();
    pthread_mutex_unlock(&gate);
    errno = error;
    return result;
}
int fsync(int file) {
    REAL(fsync);
    return synchronized(real, "fsync", file);
}
int fdatasync(int file) {
    REAL(fdatasync);
    return synchronized(real, "fdatasync", file);
}

int renameat(int from, const char *old, int to, const char *new) {
    REAL(renameat);
    char path[PATH_MAX], other[PATH_MAX];
    const char *name = insideAt(from, old, path), *newName = insideAt(to, new, other);
    if (!name || !newName) return real(from, old, to, new);
    int result;
    THROUGH(
        "rename", newName, result = real(from, old, to, new),
        note(RENAME, 0, 0, name, newName, NULL, 0));
}
int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int unlinkat(int from, const char *old, int flags) {
    REAL(unlinkat);
    char path[PATH_MAX];
    const char *name = insideAt(from, old, path);
    struct stat status;
    // A missing file is not a change.
    if (!name || fstatat(from, old, &status, AT_SYMLINK_NOFOLLOW)) return real(from, old, flags);
    int result;
    THROUGH(
        "unlink", name, result = real(from, old, flags), note(UNLINK, 0, 0, name, NULL, NULL, 0));
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
