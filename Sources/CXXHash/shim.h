#pragma once
#include <sys/vfs.h>
#include <xxhash.h>

/* The kernel's number for the kind of file system that a file lies on; -1 if it will not say.
 * Here because Swift's Glibc does not show statfs. */
static inline long reactor_file_system(int descriptor) {
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 ? (long)system.f_type : -1;
}
