import Testing

@testable import ReactorLoop

@Suite struct SpinGovernorTests {
    @Test("it polls for its limit after prompt traffic, and never without a limit")
    func pollsAfterTraffic() {
        var governor = SpinGovernor(limit: 100_000)
        #expect(governor.deadline == nil)
        governor.noteTraffic(at: 1_000_000)
        #expect(governor.deadline == 1_100_000)
        governor.noteTraffic(at: 1_050_000)
        #expect(governor.deadline == 1_150_000)

        var off = SpinGovernor(limit: 0)
        off.noteTraffic(at: 1_000_000)
        #expect(off.deadline == nil)
    }

    @Test("traffic that keeps coming late ends the polling, prompt traffic brings it back")
    func learns() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000
        for _ in 0..<SpinGovernor.creditMax {
            now += 10_000_000
            governor.noteTraffic(at: now)
        }
        #expect(governor.deadline == nil)
        // asleep, so the next message comes later by what waking up costs
        now += 100_000 + SpinGovernor.wakeUpCost
        governor.noteTraffic(at: now)
        #expect(governor.deadline == now + 100_000)
    }
}
