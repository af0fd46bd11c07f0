#define _GNU_SOURCE
#include "CBench.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

int bench_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

static void echo(int descriptor, size_t message_bytes) {
    char message[4096];
    for (;;) {
        size_t count = 0;
        while (count < message_bytes) {
            ssize_t got = read(descriptor, message + count, message_bytes - count);
            if (got <= 0) _exit(0);
            count += (size_t)got;
        }
        if (write(descriptor, message, message_bytes) != (ssize_t)message_bytes) _exit(1);
    }
}

int bench_start_echo(size_t message_bytes, int core) {
    int pair[2];
    if (message_bytes > 4096 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        if (core >= 0) {
            cpu_set_t cores;
            CPU_ZERO(&cores);
            CPU_SET(core, &cores);
            sched_setaffinity(0, sizeof cores, &cores);
        }
        echo(pair[1], message_bytes);
    }
    close(pair[1]);
    return pair[0];
}

int bench_is_in_memory(const char *path) {
    const long tmpfs_magic = 0x01021994;
    struct statfs system;
    if (statfs(path, &system) != 0) return -1;
    return system.f_type == tmpfs_magic;
}

// Counts allocations and calls the C library's own allocator.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static __thread uint64_t allocation_count;

uint64_t bench_allocation_count(void) { return allocation_count; }

void *malloc(size_t size) {
    allocation_count++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocation_count++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    allocation_count++;
    return __libc_realloc(pointer, size);
}
