import ReactorWire
import Testing

@Suite("Integers of 65 bits")
struct WireIntegerTests {
    @Test("integers have 65 bits, compare as numbers and print as such")
    func integers() {
        let edges: [Int128] = [
            -18_446_744_073_709_551_616, -18_446_744_073_709_551_615, -9_223_372_036_854_775_809,
            -9_223_372_036_854_775_808, -1, 0, 1, 9_223_372_036_854_775_807,
            18_446_744_073_709_551_615,
        ]
        for left in edges {
            let integer = WireInteger(exactly: left)
            #expect(integer?.value == left)
            #expect(integer?.description == left.description)
            #expect(integer.flatMap { Int64(exactly: $0) } == Int64(exactly: left))
            for right in edges {
                #expect(
                    (WireInteger(integerLiteral: left) < WireInteger(integerLiteral: right))
                        == (left < right))
            }
        }
        #expect(WireInteger(exactly: 18_446_744_073_709_551_616 as Int128) == nil)
        #expect(WireInteger(exactly: -18_446_744_073_709_551_617 as Int128) == nil)
        #expect(WireInteger(exactly: Int8.min)?.description == "-128")
    }
}
