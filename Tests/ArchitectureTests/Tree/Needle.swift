/// A word to find in code; matches whole words only, where the needle begins or ends with a
/// letter.
struct Needle {
    private let bytes: [UInt8]
    private let isPart: Bool
    private let isFree: Bool

    /// Creates a needle.
    ///
    /// With `isPart` it also matches inside longer words. With `isFree` it matches only calls of
    /// a free function, not of a member, and not its declaration.
    init(_ text: String, isPart: Bool = false, isFree: Bool = false) {
        bytes = Array(text.utf8)
        self.isPart = isPart
        self.isFree = isFree
    }

    /// Whether `line` contains the word.
    func isFound(in line: String) -> Bool {
        let line = Array(line.utf8)
        guard let first = bytes.first, let last = bytes.last, line.count >= bytes.count else {
            return false
        }
        for start in 0...(line.count - bytes.count) where line[start] == first {
            let end = start + bytes.count
            guard line[start..<end].elementsEqual(bytes) else { continue }
            if isPart { return true }
            let opens = start == 0 || !Self.isWord(first) || !Self.isWord(line[start - 1])
            let closes = end == line.count || !Self.isWord(last) || !Self.isWord(line[end])
            guard opens, closes else { continue }
            if !isFree || !Self.belongs(line[..<start]) { return true }
        }
        return false
    }

    /// Whether the name after `before` is a member's, or is being declared.
    private static func belongs(_ before: ArraySlice<UInt8>) -> Bool {
        before.last == UInt8(ascii: ".")
            || ["func ", "case "].contains { before.suffix(5).elementsEqual($0.utf8) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: byte >= 0x80
        }
    }
}
