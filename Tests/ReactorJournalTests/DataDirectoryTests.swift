import Foundation
import ReactorBytes
import TestPrograms
import Testing

@testable import ReactorJournal

@Suite("The data directory")
struct DataDirectoryTests {
    let home = TestDirectory()

    @Test("J66: a second daemon in one directory is refused with the pid of the first")
    func lock() throws {
        let first = try DataDirectory(at: home.path("data"))
        let again = failure { _ = try DataDirectory(at: home.path("./data")) }
        #expect(again == .inUse(path: home.path("./data"), pid: getpid()))
        #expect("\(again.map { "\($0)" } ?? "")".contains("already used by pid \(getpid())"))
        withExtendedLifetime(first) {}
    }

    @Test(
        "R104: words in a file remain for the next process that opens the directory, with mode 0600"
    )
    func words() throws {
        let directory = try DataDirectory(at: home.path("data"))
        do {
            let words = try SharedWords(of: "last", in: directory, count: 5)
            #expect((0..<5).allSatisfy { words[$0] == 0 })
            words[4] = 11
        }
        let words = try SharedWords(of: "last", in: directory, count: 5)
        #expect(words[4] == 11 && words[0] == 0)
        var status = stat()
        #expect(unsafe stat(home.path("data/last"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600 && status.st_size == 40)
    }

    @Test("a successor shares the lock, does not release it, and refuses another file")
    func succession() throws {
        let path = home.path("data")
        let former = try DataDirectory(at: path)
        do {
            let successor = try DataDirectory(at: path, succeedingTo: dup(former.lock))
            #expect(!successor.isClaimed && successor.isInPlace)
        }
        #expect(failure { _ = try DataDirectory(at: path) } == .inUse(path: path, pid: getpid()))
        let successor = try DataDirectory(at: path, succeedingTo: dup(former.lock))
        successor.claim()
        #expect(successor.isClaimed)
        let other = try DataDirectory(at: home.path("other"))
        #expect(failure { _ = try DataDirectory(at: path, succeedingTo: dup(other.lock)) } != nil)
        withExtendedLifetime((former, other)) {}
    }

    @Test("the lock is released with its holder")
    func release() throws {
        _ = try DataDirectory(at: home.path("data"))
        _ = try DataDirectory(at: home.path("data"))
    }

    @Test("the directory is created with mode 0700, and one that others may enter is refused")
    func mode() throws {
        let path = home.path("data")
        _ = try DataDirectory(at: path)
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        unsafe chmod(path, 0o750)
        #expect(
            failure { _ = try DataDirectory(at: path) }
                == .unusableDirectory(path: path, .isOpenToOthers(mode: 0o750)))
    }

    @Test("a link, a file and a missing parent are refused by name")
    func kinds() throws {
        _ = try DataDirectory(at: home.path("data"))
        unsafe symlink(home.path("data"), home.path("link"))
        #expect(
            failure { _ = try DataDirectory(at: home.path("link")) }
                == .unusableDirectory(path: home.path("link"), .isSymbolicLink))
        let file = try home.write("x", to: "file")
        #expect(
            failure { _ = try DataDirectory(at: file) }
                == .unusableDirectory(path: file, .isNotADirectory))
        let lost = home.path("no/data")
        #expect(
            failure { _ = try DataDirectory(at: lost) }
                == .unusableDirectory(path: lost, .isWithoutParent))
    }

    @Test("a directory that this user may not open is not reported as a failure of the disk")
    func forbidden() {
        for call in ["lstat", "open"] {
            let error = DataDirectory.refusal(of: call, at: "/data", code: EACCES)
            #expect(error == .unusableDirectory(path: "/data", .isForbidden))
        }
        let failed = DataDirectory.refusal(of: "open", at: "/data", code: EIO)
        #expect(failed == .system(SystemFailure(call: "open", path: "/data", code: EIO)))
    }

    @Test("J66: a network file system is refused, since its locks are not reliable")
    func remote() throws {
        let path = home.path("data")
        #expect(
            failure { _ = try DataDirectory(at: path, to: .own, fileSystem: 0x6969) }
                == .unusableDirectory(path: path, .isRemote(fileSystem: "NFS")))
    }

    @Test("J65: a replaced directory is detected")
    func replaced() throws {
        let directory = try DataDirectory(at: home.path("data"))
        #expect(directory.isInPlace)
        unsafe rename(home.path("data"), home.path("other"))
        #expect(!directory.isInPlace)
        unsafe mkdir(home.path("data"), 0o700)
        #expect(!directory.isInPlace)
    }

    @Test("J66: a replaced lock file is detected")
    func replacedLock() throws {
        let directory = try DataDirectory(at: home.path("data"))
        unsafe unlink(home.path("data/journal.lock"))
        #expect(!directory.isInPlace)
        let other = try DataDirectory(at: home.path("data"))
        #expect(!directory.isInPlace && other.isInPlace)
    }

    @Test("J66: the pid in the lock file has a fixed width")
    func pid() throws {
        _ = try DataDirectory(at: home.path("data"))
        let text = home.read("data/journal.lock")
        #expect(text.count == 12 && text.hasSuffix("\(getpid())\n"))
    }

    @Test(
        "X115: a planted link, second name, owner or mode of a file of the history is refused",
        arguments: ["journal.sqlite", "journal.sqlite-wal", "snapshot-7.sqlite", "reserve"])
    func planted(name: String) throws {
        let (path, victim) = (home.path("data"), try home.write("keep", to: "victim"))
        let file = path + "/" + name
        _ = try DataDirectory(at: path)
        func fault() -> FileFault? {
            guard
                case .unusableDirectory(path, .contains(name, let fault))? = failure({
                    _ = try DataDirectory(at: path)
                })
            else { return nil }
            return fault
        }
        #expect(unsafe symlink(victim, file) == 0)
        #expect(fault() == .isNotRegular)
        unsafe unlink(file)
        #expect(unsafe mkfifo(file, 0o600) == 0)
        #expect(fault() == .isNotRegular)
        unsafe unlink(file)
        unsafe chmod(victim, 0o600)
        #expect(unsafe link(victim, file) == 0)
        #expect(fault() == .hasNames(count: 2))
        // The first name goes, and the file with the second one is the history's own.
        unsafe unlink(victim)
        #expect(fault() == nil)
        unsafe chmod(file, 0o620)
        #expect(fault() == .isWritableByOthers(mode: 0o620))
        unsafe chmod(file, 0o600)
        if geteuid() == 0 {
            unsafe chown(file, 1_001, 1_001)
            #expect(fault() == .isOwnedBy(owner: 1_001, expected: 0))
            unsafe chown(file, 0, 0)
        }
        _ = try DataDirectory(at: path)
    }

    @Test("X115: the error of a planted file names it, and what to do")
    func plantedText() throws {
        let path = home.path("data")
        _ = try DataDirectory(at: path)
        #expect(unsafe symlink("/etc/passwd", path + "/journal.sqlite") == 0)
        let error = failure { _ = try DataDirectory(at: path) }
        #expect(
            error.map { "\($0)" }
                == "data directory \(path) has the file journal.sqlite, which is a link or no "
                + "regular file; put the file itself in its place, or restore a backup")
        // A file that no history has is not the daemon's concern.
        unsafe unlink(path + "/journal.sqlite")
        #expect(unsafe symlink("/etc/passwd", path + "/notes") == 0)
        _ = try DataDirectory(at: path)
    }

    @Test("a file grows with zeros after its content")
    func grow() throws {
        let directory = try DataDirectory(at: home.path("data"))
        try Data([1, 2]).write(to: URL(filePath: home.path("data/log")))
        #expect(try directory.grow("log", to: 5))
        #expect(try directory.read("log", at: 0, count: 9) == [1, 2, 0, 0, 0])
        #expect(try directory.grow("log", to: 3))
        #expect(try directory.byteCount(of: "log") == 5)
        #expect(try directory.names() == ["journal.lock", "log"])
    }
}
