/// A word to look for in code: found as a whole word where it begins or ends like one.
struct Needle {
    private let bytes: [UInt8]
    private let isPart: Bool

    /// Makes a needle; with `isPart` it is also found inside longer words.
    init(_ text: String, isPart: Bool = false) {
        bytes = Array(text.utf8)
        self.isPart = isPart
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
            if opens, closes { return true }
        }
        return false
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
