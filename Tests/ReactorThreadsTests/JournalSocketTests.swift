import Glibc
import ReactorThreads
import Testing

/// A socket in the place of journald's, and a pipe in the place of standard error.
private final class StandIn {
    let path: String
    private let descriptor: Int32
    private var ends: [Int32] = [0, 0]

    init() throws {
        var template = "/tmp/journal-XXXXXX".utf8.map { CChar($0) } + [0]
        let made: String? = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        let directory = try #require(made)
        path = directory + "/s"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8)
        }
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0)
        #expect(unsafe pipe(&ends) == 0)
    }

    deinit {
        close(descriptor)
        close(ends[0])
        close(ends[1])
        remove()
        unsafe rmdir(String(path.dropLast(2)))
    }

    var errorDescriptor: Int32 { ends[1] }

    /// Removes the socket's file, as if journald had ended.
    func remove() { _ = unsafe unlink(path) }

    /// Waits for the next datagram.
    func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads what was written to standard error.
    func readError() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

/// Drives ``JournalSocket`` and ``LogRecord``.
@Suite("Entries for journald", .timeLimit(.minutes(10)))
struct JournalSocketTests {
    @Test("an entry is one datagram, and its line is not written; other lines are")
    func entries() throws {
        let standIn = try StandIn()
        let socket = try #require(JournalSocket(at: standIn.path))
        let writer = try LineWriter(to: standIn.errorDescriptor, socket) { LogRecord("\($0)\n") }
        writer.write(LogRecord("<5>one\n", entry: Array("MESSAGE=one\nPRIORITY=5\n".utf8)))
        writer.write("a line\n")
        writer.write(LogRecord("<4>two\n", entry: Array("MESSAGE=two\n".utf8)))
        #expect(writer.flush(milliseconds: 60_000))
        #expect(standIn.receive() == "MESSAGE=one\nPRIORITY=5\n")
        #expect(standIn.receive() == "MESSAGE=two\n")
        #expect(standIn.readError() == "a line\n")
    }

    @Test("without journald, an event is written as a line")
    func fallback() throws {
        let standIn = try StandIn()
        let socket = try #require(JournalSocket(at: standIn.path))
        let writer = try LineWriter(to: standIn.errorDescriptor, socket) { LogRecord("\($0)\n") }
        standIn.remove()
        writer.write(LogRecord("<5>one\n", entry: Array("MESSAGE=one\n".utf8)))
        writer.write(LogRecord("<4>two\n", entry: Array("MESSAGE=two\n".utf8)))
        #expect(writer.flush(milliseconds: 60_000))
        #expect(standIn.readError() == "<5>one\n<4>two\n")
        #expect(writer.droppedCount == 0)
    }

    @Test(
        "a journald that reads nothing delays no caller: events are dropped, counted and reported")
    func stalled() throws {
        let standIn = try StandIn()
        let socket = try #require(JournalSocket(at: standIn.path))
        let writer = try LineWriter(to: standIn.errorDescriptor, socket, byteCountMax: 4_096) {
            LogRecord("", entry: Array("MESSAGE=dropped \($0)\n".utf8))
        }
        let count = 20_000
        for number in 0..<count {
            writer.write(LogRecord("", entry: Array("MESSAGE=\(number)\n".utf8)))
        }
        let dropped = Int(writer.droppedCount)
        #expect(dropped > 0 && dropped < count)
        var (received, reported) = (0, 0)
        while received + reported < count {
            let text = standIn.receive()
            if let number = text.split(separator: "dropped ").last, text.contains("dropped ") {
                reported += Int(number.dropLast()) ?? 0
            } else {
                received += 1
            }
        }
        #expect(reported == dropped && received == count - dropped)
        #expect(writer.flush(milliseconds: 60_000))
    }

    @Test("a descriptor leads to journald exactly if the environment has its device and inode")
    func stream() throws {
        let standIn = try StandIn()
        var status = stat()
        #expect(unsafe fstat(standIn.errorDescriptor, &status) == 0)
        let (device, inode) = (status.st_dev, status.st_ino)
        #expect(JournalSocket.reads(standIn.errorDescriptor, stream: "\(device):\(inode)"))
        #expect(!JournalSocket.reads(standIn.errorDescriptor, stream: "\(device):\(inode + 1)"))
        #expect(!JournalSocket.reads(standIn.errorDescriptor, stream: nil))
        #expect(!JournalSocket.reads(-1, stream: "\(device):\(inode)"))
        #expect(JournalSocket(at: String(repeating: "x", count: 108)) == nil)
    }
}
