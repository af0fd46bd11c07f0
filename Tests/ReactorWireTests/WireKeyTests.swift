import ReactorWire
import Testing

@Suite("Keys")
struct WireKeyTests {
    @Test("W15: keys compare, hash and sort by their bytes, whatever their length")
    func keys() {
        let texts = [
            "", "a", "b", "ab", "abcdefg", "abcdefgh", "abcdefgi", "abcdefghi", "abcdefgh\u{e9}",
            "abcdefghe\u{301}", "\u{e9}", "e\u{301}", "\0", "\0\0", "a\0",
            String(repeating: "k", count: 64), String(repeating: "k", count: 65),
            String(repeating: "k", count: 64) + "\u{e9}",
            String(repeating: "k", count: 63) + "e\u{301}",
            "q\u{307}\u{323}", "q\u{323}\u{307}",
        ]
        for left in texts {
            for right in texts {
                let same = Array(left.utf8) == Array(right.utf8)
                let (left, right) = (WireKey(left), WireKey(right))
                #expect((left == right) == same)
                #expect(
                    (left < right) == left.wireBytes().lexicographicallyPrecedes(right.wireBytes()))
                if same { #expect(left.hashValue == right.hashValue) }
            }
        }
        // Different bytes must have different hashes, except with a probability of 2^-64.
        #expect(Set(texts.map { WireKey($0).hashValue }).count == texts.count)
        #expect(Set(texts.map { WireKey($0) }).count == texts.count)
    }
}
