/// The identity of a journal: random, assigned when it is created, and never changed.
package struct JournalInstance: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits.
    package let high: UInt64, low: UInt64
    /// Creation time in milliseconds since 1970.
    package let creationTime: Int64

    init(high: UInt64, low: UInt64, creationTime: Int64) {
        self.high = high
        self.low = low
        self.creationTime = creationTime
    }

    /// Creates a random identity.
    static func random(at time: Int64) -> JournalInstance {
        JournalInstance(
            high: .random(in: 0 ... .max), low: .random(in: 0 ... .max), creationTime: time)
    }

    /// *Shape*: high, low, creation time.
    package var words: [UInt64] { [high, low, UInt64(bitPattern: creationTime)] }

    /// The identity of these ``words``; nil if they are not three.
    package init?(words: [UInt64]) {
        guard words.count == 3 else { return nil }
        self.init(high: words[0], low: words[1], creationTime: Int64(bitPattern: words[2]))
    }

    /// The seed of the first row's checksum.
    var seed: UInt64 { Checksum.of(words, behind: 0) }

    /// 32 hexadecimal digits.
    package var description: String { Self.digits(high) + Self.digits(low) }

    private static func digits(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
