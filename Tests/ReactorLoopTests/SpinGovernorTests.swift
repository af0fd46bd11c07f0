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

    @Test("a yield that gave the processor to somebody ends the polling for many messages")
    func givesWay() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000
        governor.noteTraffic(at: now)
        governor.noteYield(taking: SpinGovernor.yieldCostMax)
        #expect(governor.deadline != nil)
        governor.noteYield(taking: SpinGovernor.yieldCostMax + 1)
        var messages = 0
        while governor.deadline == nil, messages < 1_000 {
            now += 50_000
            governor.noteTraffic(at: now)
            messages += 1
        }
        #expect(messages == SpinGovernor.contentionPenalty + 1)
    }

    @Test("late messages do not count towards polling again after somebody needed the processor")
    func lateMessagesDoNotCount() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000
        governor.noteTraffic(at: now)
        governor.noteYield(taking: 1_000_000)
        for _ in 0..<200 {
            now += 10_000_000
            governor.noteTraffic(at: now)
        }
        #expect(governor.deadline == nil)
    }
}
