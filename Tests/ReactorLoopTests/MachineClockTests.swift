import Foundation
import Testing

@testable import ReactorLoop

struct MachineClockTests {
    @Test("the clock shows milliseconds since 1970")
    func unit() {
        let before = Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
        let time = MachineClock.milliseconds
        // The clock may step between the two, but not by a day.
        #expect(abs(time - before) < 86_400_000)
    }
}
