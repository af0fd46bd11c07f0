import Testing

@testable import ReactorLoop

@Suite struct SpinGovernorTests {
    @Test("the governor polls up to its limit after prompt traffic, and never without a limit")
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

    @Test("repeatedly late traffic ends the polling, prompt traffic resumes it")
    func learns() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000
        for _ in 0..<SpinGovernor.creditMax {
            now += 10_000_000
            governor.noteTraffic(at: now)
        }
        #expect(governor.deadline == nil)
        // The thread sleeps, so the next message is delayed by a wake-up.
        now += 100_000 + SpinGovernor.wakeUpCost
        governor.noteTraffic(at: now)
        #expect(governor.deadline == now + 100_000)
    }

    @Test("a program that takes the processor ends the polling for some time, a peer does not")
    func givesWay() {
        var governor = SpinGovernor(limit: 100_000)
        let start: UInt64 = 1_000_000_000
        governor.noteTraffic(at: start)
        governor.noteYield(taking: SpinGovernor.yieldCostMax, at: start, onlyProcessor: false)
        #expect(governor.deadline != nil)
        governor.noteYield(taking: SpinGovernor.yieldCostMax + 1, at: start, onlyProcessor: false)
        #expect(governor.deadline == nil)
        #expect(firstPolling(of: &governor, after: start) == start + SpinGovernor.restMin + 50_000)
    }

    @Test("repeated interruptions end the polling for longer and longer, up to a limit")
    func restsLonger() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000_000
        var rests: [UInt64] = []
        for _ in 0..<10 {
            governor.noteYield(taking: 1_000_000, at: now, onlyProcessor: false)
            let next = firstPolling(of: &governor, after: now)
            rests.append((next - now) / 1_000_000)
            now = next
        }
        #expect(rests == [10, 20, 40, 80, 160, 320, 640, 1_280, 2_000, 2_000])
        now += 3 * SpinGovernor.restMax
        governor.noteYield(taking: 1_000_000, at: now, onlyProcessor: false)
        #expect(firstPolling(of: &governor, after: now) == now + SpinGovernor.restMin + 50_000)
    }

    @Test(
        "on a single processor the governor rests after several answers of peers in a row")
    func sharesProcessor() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000_000
        for _ in 1..<SpinGovernor.sharedYieldsMax {
            governor.noteTraffic(at: now)
            now += 5_000
            governor.noteYield(taking: 5_000, at: now, onlyProcessor: true)
            #expect(governor.deadline != nil)
        }
        governor.noteTraffic(at: now)
        governor.noteYield(taking: 5_000, at: now, onlyProcessor: true)
        #expect(governor.deadline == nil)
        #expect(firstPolling(of: &governor, after: now) == now + SpinGovernor.restMin + 50_000)
    }

    @Test("an occasional interrupt does not end the polling on a single processor")
    func bearsInterrupts() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000_000
        for step in 0..<100 {
            governor.noteTraffic(at: now)
            now += 8_000
            governor.noteYield(taking: step % 2 == 0 ? 30_000 : 500, at: now, onlyProcessor: true)
            #expect(governor.deadline != nil)
        }
    }

    /// The time at which it polls again, with a message every 50 microseconds.
    private func firstPolling(of governor: inout SpinGovernor, after start: UInt64) -> UInt64 {
        var now = start
        repeat {
            now += 50_000
            governor.noteTraffic(at: now)
        } while governor.deadline == nil
        return now
    }
}
