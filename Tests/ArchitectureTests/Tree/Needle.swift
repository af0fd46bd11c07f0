/// A word to look for in code: found as a whole word where it begins or ends like one.
struct Needle {
    private let bytes: [UInt8]
    private let isPart: Bool
    private let isFree: Bool

    /// Makes a needle.
    ///
    /// With `isPart` it is also found inside longer words; with `isFree` only the call of a free
    /// function is found, not that of a member or the declaration of one.
    init(_ text: String, isPart: Bool = false, isFree: Bool = false) {
        bytes = Array(text.utf8)
        self.isPart = isPart
        self.isFree = isFree
    }

    /// Whether `line` holds the word.
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

    /// Whether a name that follows `before` is a member's, or being declared.
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
