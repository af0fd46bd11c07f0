import ReactorCore
import Testing

@testable import StockReactors

@Suite("Sizes of values")
struct WireValueTests {
    @Test("a value with many small parts counts all of them")
    func parts() throws {
        let values: [WireValue] = [
            .array(Array(repeating: .null, count: 100)), .text(String(repeating: "x", count: 100)),
            .bytes([UInt8](repeating: 0, count: 100)), ["key": .array([["deep": .text("x")]])],
        ]
        for value in values.prefix(3) {
            #expect(throws: Never.self) { try value.check(bytesMax: 101, "it") }
            #expect(throws: Rejection.self) { try value.check(bytesMax: 100, "it") }
        }
        // Each of these heads counts one byte: a map, "key", an array, a map, "deep" and "x".
        #expect(throws: Never.self) { try values[3].check(bytesMax: 14, "it") }
        #expect(throws: Rejection.self) { try values[3].check(bytesMax: 13, "it") }
    }
}
