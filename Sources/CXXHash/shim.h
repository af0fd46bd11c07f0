#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

/* The kernel's number for the kind of file system that a file lies on; -1 if it will not say.
 * Here because Swift's Glibc does not show statfs. */
static inline long reactor_file_system(int descriptor) {
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 ? (long)system.f_type : -1;
}

/* Which file a name in a directory is, or the directory itself where the name is empty: device and
 * inode, and if `changed` is not null the nanosecond of its last change; 0, or -1 with errno.
 *
 * By statx, which Swift's Glibc does not show: stat asks for the times as well, and since Linux
 * 6.13 the next write to a file whose times were asked for costs its file system a transaction. */
static inline int reactor_file_identity(
    int directory, const char *name, int follows, unsigned long long *device,
    unsigned long long *inode, long long *changed) {
    int flags = (follows ? 0 : AT_SYMLINK_NOFOLLOW) | (*name ? 0 : 0x1000 /* AT_EMPTY_PATH */);
    struct statx status;
    if (syscall(SYS_statx, directory, name, flags, STATX_INO | (changed ? STATX_MTIME : 0), &status) ==
        0) {
        *device = (unsigned long long)status.stx_dev_major << 32 | status.stx_dev_minor;
        *inode = status.stx_ino;
        if (changed) *changed = status.stx_mtime.tv_sec * 1000000000LL + status.stx_mtime.tv_nsec;
        return 0;
    }
    if (errno != ENOSYS && errno != EPERM) return -1;
    struct stat older;
    if (fstatat(directory, name, &older, flags) != 0) return -1;
    *device = older.st_dev;
    *inode = older.st_ino;
    if (changed) *changed = older.st_mtim.tv_sec * 1000000000LL + older.st_mtim.tv_nsec;
    return 0;
}
