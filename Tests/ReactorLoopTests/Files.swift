import Glibc

/// Creates unusual files, and inspects files.
enum Files {
    /// Kind and permissions of the file at `path`, without following a link; 0 if it is missing.
    static func mode(of path: String) -> mode_t {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode : 0
    }

    /// When the file's permissions or content last changed, in nanoseconds.
    static func changeTime(of path: String) -> Int {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? nanoseconds(status.st_ctim) : 0
    }

    /// The clock from which files get their times, in nanoseconds.
    static var clockTime: Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return nanoseconds(now)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    static func setMode(_ mode: mode_t, of path: String) {
        check(unsafe chmod(path, mode))
    }

    static func give(_ path: String, to uid: uid_t) {
        check(unsafe chown(path, uid, uid))
    }

    static func makeDirectory(_ path: String) {
        check(unsafe mkdir(path, 0o700))
    }

    static func makeFile(_ path: String) {
        check(close(unsafe creat(path, 0o600)))
    }

    static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = unsafe creat(path, 0o600)
        check(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count ? 0 : -1)
        check(close(descriptor))
    }

    static func makeFifo(_ path: String) {
        check(unsafe mkfifo(path, 0o600))
    }

    static func makeLink(_ path: String, to target: String) {
        check(unsafe symlink(target, path))
    }

    static func move(_ path: String, to target: String) {
        check(unsafe rename(path, target))
    }

    private static func check(_ code: Int32) {
        precondition(code == 0, "errno \(errno)")
    }
}

extension Descriptors {
    /// Lowers the limit of this process to `limit` descriptors and opens all the remaining ones.
    static func takeAll(limit: Int) -> [Int32] {
        var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else {
            preconditionFailure("setrlimit: \(errno)")
        }
        var taken: [Int32] = []
        while case let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0
        {
            taken.append(descriptor)
        }
        return taken
    }
}
