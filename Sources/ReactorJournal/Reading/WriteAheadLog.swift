/// Checks SQLite's write-ahead log before SQLite opens it.
///
/// *Place*: SQLite ends the log at the first frame with a wrong checksum. That is right for a
/// commit torn by a power cut, and wrong for a flipped bit in the middle: the later frames were
/// acknowledged, and would be lost silently. The two cases can be told apart if every commit was
/// durable before the next one began: a complete commit after a bad frame, followed by another
/// frame, was once durable. A transaction of upkeep is not durable before the commit after it
/// begins, but everything before that transaction is. So a power cut may tear both, in any order,
/// and two complete commits after a bad frame show damage then. Without a power cut, one does.
///
/// *Shape*: a header of 32 bytes: magic (its lowest bit set: words of the checksum are big-endian),
/// version, page size, checkpoint, two salts, two checksums. Then frames: page number, pages of the
/// database (0 except for the last frame of a commit), two salts, two checksums, the page. All
/// big-endian. A frame's checksum continues that of the frame before, over its first 8 bytes and
/// the page.
struct WriteAheadLog {
    private let directory: DataDirectory
    private let pageByteCount: Int
    private let isBigEndian: Bool
    private let salts: [UInt8]
    private let frameCount: Int
    private var sum: (UInt32, UInt32)

    static let fileName = "journal.sqlite-wal"
    private static let headerByteCount = 32
    private static let frameHeaderByteCount = 24

    /// Whether the log exists and has a header.
    static func isBegun(in directory: DataDirectory) throws(JournalError) -> Bool {
        guard try directory.byteCount(of: fileName) ?? 0 >= headerByteCount else {
            return false
        }
        let header = try directory.read(fileName, at: 0, count: headerByteCount)
        return header.contains { $0 != 0 }
    }

    /// Returns the number of bytes of a torn commit that SQLite will drop.
    ///
    /// *Throws*: ``JournalDamage`` naming the bad frame, if more than a torn commit follows it and
    /// `isStrict` states that every commit was durable before the next began. After a power cut,
    /// which `mayBeCut` states, a transaction of upkeep may be torn besides. *Cost*: reads the
    /// whole log once, one frame at a time.
    static func tornByteCount(
        in directory: DataDirectory, isStrict: Bool, mayBeCut: Bool
    ) throws(JournalError) -> Int {
        guard let byteCount = try directory.byteCount(of: fileName) else { return 0 }
        let header = try directory.read(
            fileName, at: 0, count: headerByteCount)
        // A log that was allocated ahead and not used is all zeros.
        guard header.contains(where: { $0 != 0 }) else { return 0 }
        guard var log = WriteAheadLog(in: directory, header, byteCount: byteCount) else {
            guard isStrict, byteCount > headerByteCount else { return byteCount }
            throw .damage(
                JournalDamage(
                    file: directory.path(fileName), row: nil,
                    expected: "a header with a valid checksum at byte 0", got: "an invalid one"))
        }
        return try log.walk(tornEndsMax: isStrict ? (mayBeCut ? 1 : 0) : .max)
    }

    /// Returns nil if the header is not valid.
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

    /// Throws if more than `tornEndsMax` commits after a bad frame are followed by another frame.
    private mutating func walk(tornEndsMax: Int) throws(JournalError) -> Int {
        var bad: Int?
        var endCount = 0
        var wholeEnd = 0
        var lastEnd = 0
        var previous: Frame?
        for index in 0..<frameCount {
            var frame = try frame(index)
            let isNext = adds(frame, from: sum)
            guard frame.salts == salts || bad == nil && isNext else {
                // Frames of an earlier use of the log begin here, unless current ones follow.
                if bad == nil { bad = index }
                previous = nil
                continue
            }
            lastEnd = index + 1
            // The flipped bit may be in the checksum itself, so the computed one is accepted too.
            if bad == nil { frame.rightSum = computed(frame, from: sum) }
            if bad == nil, isNext, frame.salts == salts {
                sum = frame.sum
                if frame.isCommit { wholeEnd = index + 1 }
            } else {
                if bad == nil { bad = index }
                if index > bad ?? 0, let previous, previous.isCommit, follows(frame, previous) {
                    endCount += 1
                    if endCount > tornEndsMax { throw damage(at: bad ?? 0) }
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
                file: directory.path(Self.fileName), row: nil,
                expected: "the checksum of frame \(index) at byte \(offset)",
                got: "another, followed by complete commits"))
    }

    private struct Frame {
        let isCommit: Bool
        let salts: [UInt8]
        let sum: (UInt32, UInt32)
        let bytes: [UInt8]
        /// The correct value of ``sum``, if all frames before are valid.
        var rightSum: (UInt32, UInt32)?
    }

    private func offset(of index: Int) -> Int {
        Self.headerByteCount + index * (pageByteCount + Self.frameHeaderByteCount)
    }

    private func frame(_ index: Int) throws(JournalError) -> Frame {
        let bytes = try directory.read(
            Self.fileName, at: offset(of: index),
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
