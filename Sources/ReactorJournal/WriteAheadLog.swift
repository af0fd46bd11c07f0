/// SQLite's write-ahead log, looked at before SQLite does.
///
/// *Place*: SQLite ends the log at the first frame that does not add up, which is right for a
/// commit that a power cut tore, and wrong for a bit that flipped in the middle: what follows was
/// acknowledged, and would silently be gone. The difference shows where every commit was made
/// durable before the next began: then a whole commit behind a bad frame, with another frame
/// behind it, was durable once.
///
/// *Shape*: a header of 32 bytes: magic (its lowest bit set: words of the checksum are
/// big-endian), version, page size, checkpoint, two salts, two checksums. Then frames: page number,
/// pages of the database (0 but for the last of a commit), two salts, two checksums, the page. All
/// big-endian. A frame's checksum goes on from the one before, over its first 8 bytes and the page.
struct WriteAheadLog {
    private let directory: DataDirectory
    private let pageByteCount: Int
    private let isBigEndian: Bool
    private let salts: [UInt8]
    private let frameCount: Int
    private var sum: (UInt32, UInt32)

    private static let headerByteCount = 32
    private static let frameHeaderByteCount = 24

    /// Whether there is a log that has been begun: it has a header.
    static func isBegun(in directory: DataDirectory) throws(JournalError) -> Bool {
        guard try directory.byteCount(of: JournalFile.logName) ?? 0 >= headerByteCount else {
            return false
        }
        let header = try directory.read(JournalFile.logName, at: 0, count: headerByteCount)
        return header.contains { $0 != 0 }
    }

    /// Answers how many bytes of a torn commit SQLite is going to drop.
    ///
    /// *Throws*: ``JournalDamage`` naming the bad frame, where more than a torn commit is behind
    /// it and `isStrict` says that a commit never began before the one before was durable.
    /// *Cost*: reads the whole log once, one frame at a time.
    static func check(
        in directory: DataDirectory, isStrict: Bool
    ) throws(JournalError) -> Int {
        guard let byteCount = try directory.byteCount(of: JournalFile.logName) else { return 0 }
        let header = try directory.read(
            JournalFile.logName, at: 0, count: headerByteCount)
        // because a log that was made long beforehand and not begun is zeros
        guard header.contains(where: { $0 != 0 }) else { return 0 }
        guard var log = WriteAheadLog(in: directory, header, byteCount: byteCount) else {
            guard isStrict, byteCount > headerByteCount else { return byteCount }
            throw .damage(
                JournalDamage(
                    file: directory.path(JournalFile.logName), row: nil,
                    expected: "a header whose checksum is right at byte 0", got: "another"))
        }
        return try log.walk(isStrict: isStrict)
    }

    /// Nil where the header is none.
    private init?(in directory: DataDirectory, _ header: [UInt8], byteCount: Int) {
        guard header.count == Self.headerByteCount else { return nil }
        self.directory = directory
        let magic = Self.word(header, 0)
        guard magic & ~1 == 0x377F_0682 else { return nil }
        isBigEndian = magic & 1 == 1
        pageByteCount = Int(Self.word(header, 8))
        guard (512...65_536).contains(pageByteCount) else { return nil }
        salts = Array(header[16..<24])
        frameCount =
            (byteCount - Self.headerByteCount) / (pageByteCount + Self.frameHeaderByteCount)
        sum = Self.sum(header[..<24], from: (0, 0), isBigEndian)
        guard sum == (Self.word(header, 24), Self.word(header, 28)) else { return nil }
    }

    private mutating func walk(isStrict: Bool) throws(JournalError) -> Int {
        var bad: Int?
        var wholeEnd = 0
        var lastEnd = 0
        var previous: Frame?
        for index in 0..<frameCount {
            var frame = try frame(index)
            let isNext = adds(frame, from: sum)
            guard frame.salts == salts || bad == nil && isNext else {
                // because frames of an older round begin here, unless ours go on behind
                if bad == nil { bad = index }
                previous = nil
                continue
            }
            lastEnd = index + 1
            // because it may be the checksum that was flipped, the one that is right counts as well
            if bad == nil { frame.rightSum = computed(frame, from: sum) }
            if bad == nil, isNext, frame.salts == salts {
                sum = frame.sum
                if frame.isCommit { wholeEnd = index + 1 }
            } else {
                if bad == nil { bad = index }
                if isStrict, index > bad ?? 0, let previous, previous.isCommit,
                    follows(frame, previous)
                {
                    throw damage(at: bad ?? 0)
                }
            }
            previous = frame
        }
        return max(0, lastEnd - wholeEnd) * (pageByteCount + Self.frameHeaderByteCount)
    }

    private func follows(_ frame: Frame, _ previous: Frame) -> Bool {
        adds(frame, from: previous.sum) || previous.rightSum.map { adds(frame, from: $0) } ?? false
    }

    private func damage(at index: Int) -> JournalError {
        let offset = offset(of: index)
        return .damage(
            JournalDamage(
                file: directory.path(JournalFile.logName), row: nil,
                expected: "the checksum of frame \(index) at byte \(offset)",
                got: "another, with whole commits behind it"))
    }

    private struct Frame {
        let isCommit: Bool
        let salts: [UInt8]
        let sum: (UInt32, UInt32)
        let bytes: [UInt8]
        /// What ``sum`` should be, where all before is good.
        var rightSum: (UInt32, UInt32)?
    }

    private func offset(of index: Int) -> Int {
        Self.headerByteCount + index * (pageByteCount + Self.frameHeaderByteCount)
    }

    private func frame(_ index: Int) throws(JournalError) -> Frame {
        let bytes = try directory.read(
            JournalFile.logName, at: offset(of: index),
            count: pageByteCount + Self.frameHeaderByteCount)
        return Frame(
            isCommit: Self.word(bytes, 4) != 0, salts: Array(bytes[8..<16]),
            sum: (Self.word(bytes, 16), Self.word(bytes, 20)), bytes: bytes)
    }

    private func adds(_ frame: Frame, from start: (UInt32, UInt32)) -> Bool {
        computed(frame, from: start) == frame.sum
    }

    private func computed(
        _ frame: Frame, from start: (UInt32, UInt32)
    ) -> (UInt32, UInt32) {
        let sum = Self.sum(frame.bytes[..<8], from: start, isBigEndian)
        return Self.sum(frame.bytes[Self.frameHeaderByteCount...], from: sum, isBigEndian)
    }

    private static func sum(
        _ bytes: ArraySlice<UInt8>, from start: (UInt32, UInt32), _ isBigEndian: Bool
    ) -> (UInt32, UInt32) {
        var (first, second) = start
        var index = bytes.startIndex
        while index < bytes.endIndex {
            first &+= word(bytes, index, isBigEndian) &+ second
            second &+= word(bytes, index + 4, isBigEndian) &+ first
            index += 8
        }
        return (first, second)
    }

    private static func word(
        _ bytes: ArraySlice<UInt8>, _ index: Int, _ isBigEndian: Bool
    ) -> UInt32 {
        let word =
            UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16
            | UInt32(bytes[index + 2]) << 8 | UInt32(bytes[index + 3])
        return isBigEndian ? word : word.byteSwapped
    }

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        word(bytes[...], index, true)
    }
}
