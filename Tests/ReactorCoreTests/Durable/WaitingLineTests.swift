import Testing

@testable import ReactorCore

/// Who waits, in order.
struct WaitingLineTests {
    @Test("what came first leaves first, however coming and leaving alternate")
    func order() {
        var line = WaitingLine<Int>()
        var (next, expected) = (0, 0)
        for (coming, leaving) in [(3, 1), (2, 3), (4, 1), (0, 4)] {
            for _ in 0..<coming {
                line.append(next)
                next += 1
            }
            for _ in 0..<leaving {
                #expect(line.popFirst() == expected)
                expected += 1
            }
            #expect(line.count == next - expected && line.isEmpty == (next == expected))
        }
        #expect(line.popFirst() == nil)
    }
}
