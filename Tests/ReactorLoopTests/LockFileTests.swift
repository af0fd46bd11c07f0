import Glibc
import ReactorLoop
import Testing

@Suite struct LockFileTests {
    @Test("S42: a second holder learns the pid of the first, and the file is unchanged")
    func excludes() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        let address = try directory.address("r.sock")
        let lock = try LockFile(for: address, in: runtime)
        #expect(lock.path == directory.path("r.sock.lock"))
        #expect(Files.mode(of: lock.path) == S_IFREG | 0o600)
        for _ in 0..<2 {
            #expect(throws: LoopError.alreadyRunning(lockPath: lock.path, pid: getpid())) {
                try LockFile(for: address, in: runtime)
            }
        }
        withExtendedLifetime(lock) {}
    }

    @Test("S41: the lock is free again after its holder has ended, and the file stays")
    func isReleased() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        for _ in 0..<3 {
            let lock = try LockFile(named: "r.lock", in: runtime)
            withExtendedLifetime(lock) {}
        }
        #expect(directory.names == ["r.lock"])
    }

    @Test("a successor shares the lock, and keeps it if either of the two ends")
    func isShared() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        let address = try directory.address("r.sock")
        func isHeld() -> Bool { (try? LockFile(for: address, in: runtime)) == nil }
        var former: LockFile? = try LockFile(for: address, in: runtime)
        let descriptor = try #require(former?.descriptor)
        do {
            let failed = try LockFile(succeedingAt: dup(descriptor), for: address, in: runtime)
            withExtendedLifetime(failed) {}
        }
        #expect(isHeld())
        var successor: LockFile? = try LockFile(
            succeedingAt: dup(descriptor), for: address, in: runtime)
        successor?.claim()
        withExtendedLifetime(former) {}
        former = nil
        // Within one process, the end of the former releases the lock; another process exits.
        successor = nil
        #expect(!isHeld())
        let other = unsafe open(directory.path("other"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        #expect(throws: LoopError.self) {
            try LockFile(succeedingAt: other, for: address, in: runtime)
        }
    }

    @Test("S42: a holder that has not written its pid yet is still a holder")
    func holderWithoutPid() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        let path = directory.path("r.lock")
        let other = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: LoopError.alreadyRunning(lockPath: path, pid: nil)) {
            try LockFile(named: "r.lock", in: runtime)
        }
    }

    @Test("X115: a link in place of the lock file is not followed")
    func refusesALink() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        Files.makeLink(directory.path("r.lock"), to: directory.path("elsewhere"))
        let error = #expect(throws: LoopError.self) { try LockFile(named: "r.lock", in: runtime) }
        #expect(error?.failure?.name == "ELOOP")
        #expect(directory.names == ["r.lock"])
    }

    @Test("X115: a hard link in place of the lock file is refused, and its file stays as it was")
    func refusesAHardLink() throws {
        let directory = TemporaryDirectory()
        let runtime = try RuntimeDirectory(at: directory.path)
        let (victim, path) = (directory.path("victim"), directory.path("r.lock"))
        Files.write([1, 2, 3], to: victim)
        #expect(unsafe link(victim, path) == 0)
        #expect(throws: LoopError.unsafeFile(path: path)) {
            try LockFile(named: "r.lock", in: runtime)
        }
        #expect(try FileSystem.bytes(at: victim) == [1, 2, 3])
        #expect(unsafe unlink(path) == 0)
        Files.write([], to: path)
        Files.setMode(0o622, of: path)
        #expect(throws: LoopError.unsafeFile(path: path)) {
            try LockFile(named: "r.lock", in: runtime)
        }
        Files.setMode(0o600, of: path)
        _ = try LockFile(named: "r.lock", in: runtime)
    }

    @Test("S41: a killed holder leaves the lock free")
    func isFreeAfterAKill() async throws {
        let directory = TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
            let lock = try LockFile(named: "r.lock", in: RuntimeDirectory(at: path))
            withExtendedLifetime(lock) { _ = kill(getpid(), SIGKILL) }
        }
        #expect(directory.names == ["r.lock"])
        _ = try LockFile(named: "r.lock", in: RuntimeDirectory(at: directory.path))
    }
}
