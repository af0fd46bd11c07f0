/// Which journal it is: drawn by lot when it was made, and never changed.
public struct JournalInstance: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits.
    public let high: UInt64, low: UInt64
    /// Milliseconds since 1970 at which it was made.
    public let creationTime: Int64

    init(high: UInt64, low: UInt64, creationTime: Int64) {
        self.high = high
        self.low = low
        self.creationTime = creationTime
    }

    /// A new one.
    static func random(at time: Int64) -> JournalInstance {
        JournalInstance(
            high: .random(in: 0 ... .max), low: .random(in: 0 ... .max), creationTime: time)
    }

    /// *Shape*: high, low, creation time.
    var words: [UInt64] { [high, low, UInt64(bitPattern: creationTime)] }

    init?(words: [UInt64]) {
        guard words.count == 3 else { return nil }
        self.init(high: words[0], low: words[1], creationTime: Int64(bitPattern: words[2]))
    }

    /// What the first row's checksum is seeded with.
    var seed: UInt64 { Checksum.of(words, behind: 0) }

    /// 32 hexadecimal digits.
    public var description: String { Self.digits(high) + Self.digits(low) }

    private static func digits(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
