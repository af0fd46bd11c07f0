#pragma once
#include <sys/socket.h>
#include <malloc.h>
#include <uv.h>

/* Accepts one connection, non-blocking and close-on-exec from birth. Here because glibc shows
 * accept4 only to code that asks for its GNU extensions, which Swift's importer does not. */
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
static inline int reactor_accept(int listener) {
    return accept4(listener, (struct sockaddr *)0, (socklen_t *)0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Makes a file in memory, close-on-exec. Here for the same reason as accept4. */
extern int memfd_create(const char *, unsigned int);
static inline int reactor_memory_file(const char *name) { return memfd_create(name, 1u); }

/* Has the kernel send `signal` to this process when the thread that started it ends. Here because
 * Swift imports no variadic function. */
#include <sys/prctl.h>
static inline int reactor_end_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

/* Sets whether the kernel may dump the memory of this process. Here for the same reason. */
static inline int reactor_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable); }
