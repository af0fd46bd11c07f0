import Glibc
import ReactorThreads
import Testing

/// A pipe that is read only by the test.
private final class SlowPipe {
    private(set) var ends: [Int32] = [0, 0]
    /// Capacity of the pipe in bytes: one page, Linux's minimum.
    static let byteCount = 4_096

    init() {
        #expect(unsafe pipe(&ends) == 0)
        // The command F_SETPIPE_SZ, which Swift's Glibc module does not export.
        #expect(fcntl(ends[1], 1_031, Int32(Self.byteCount)) >= 0)
    }

    deinit {
        close(ends[0])
        close(ends[1])
    }

    /// Fills the pipe with one line.
    func fill() {
        let bytes = [UInt8](repeating: 0x66, count: Self.byteCount - 1) + [0x0a]
        #expect(unsafe write(ends[1], bytes, bytes.count) == bytes.count)
    }

    /// Reads until `text` has arrived; returns all bytes as text.
    func read(until text: String) -> String { read { $0.contains(text) } }

    /// Reads until the text is whole, the writer's end is closed, or nothing has arrived for five
    /// minutes; returns the text.
    func read(until isWhole: (String) -> Bool) -> String {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while !isWhole(String(decoding: all, as: UTF8.self)) {
            var entry = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&entry, 1, 300_000)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = unsafe Glibc.read(ends[0], &part, part.count)
            if count <= 0 { break }
            all += part[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }
}

@Suite("a writer of lines", .timeLimit(.minutes(10)))
struct LineWriterTests {
    private func writer(_ pipe: SlowPipe, byteCountMax: Int) throws -> LineWriter {
        try LineWriter(to: pipe.ends[1], byteCountMax: byteCountMax) {
            LogRecord("dropped \($0)\n")
        }
    }

    @Test("lines are written in order, and a flush waits for the last")
    func order() throws {
        let pipe = SlowPipe()
        let writer = try writer(pipe, byteCountMax: 1_024)
        for number in 0..<10 { writer.write("line \(number)\n") }
        #expect(writer.flush(milliseconds: 60_000))
        #expect(
            pipe.read(until: "line 9\n") == (0..<10).map { "line \($0)\n" }.joined())
        #expect(writer.droppedCount == 0)
    }

    @Test("a reader that does not read never blocks a writer; dropped lines are counted")
    func stalledReader() throws {
        let pipe = SlowPipe()
        pipe.fill()
        let writer = try writer(pipe, byteCountMax: 1_000)
        let line = String(repeating: "x", count: 99) + "\n"
        for _ in 0..<50 { writer.write(line) }
        let dropped = writer.droppedCount
        #expect(dropped == 40)
        #expect(!writer.flush(milliseconds: 0))

        // The thread reports those that were dropped before it took the first lines on their own.
        let text = pipe.read { Self.reported(in: $0) == dropped }
        #expect(Self.reported(in: text) == dropped)
        #expect(text.split(separator: "\n").count { $0.hasPrefix("x") } == 10)
        #expect(text.split(separator: "\n").last?.hasPrefix("dropped ") == true)
        // Until then, the written lines count as waiting.
        #expect(writer.flush(milliseconds: 60_000))
        writer.write("after\n")
        #expect(pipe.read(until: "after\n") == "after\n")
        #expect(writer.flush(milliseconds: 60_000))
    }

    /// The sum of the reported numbers of dropped lines.
    private static func reported(in text: String) -> UInt64 {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.reduce(0) { $0 + (UInt64($1.trimmingPrefix("dropped ")) ?? 0) }
    }

    @Test("a descriptor that refuses every write ends nothing")
    func refusal() throws {
        let pipe = SlowPipe()
        // The read end, which refuses writes.
        let writer = try LineWriter(to: pipe.ends[0]) { LogRecord("\($0)\n") }
        writer.write("line\n")
        #expect(writer.flush(milliseconds: 60_000))
    }
}
