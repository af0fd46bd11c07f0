import Testing

@testable import ReactorLoop

@Suite struct SpinGovernorTests {
    @Test("it polls for its limit after prompt traffic, and never without a limit")
    func pollsAfterTraffic() {
        var governor = SpinGovernor(limit: 100_000)
        #expect(governor.deadline(isAwaiting: false) == nil)
        governor.noteTraffic(at: 1_000_000, isAwaited: false)
        #expect(governor.deadline(isAwaiting: false) == 1_100_000)
        governor.noteTraffic(at: 1_050_000, isAwaited: false)
        #expect(governor.deadline(isAwaiting: false) == 1_150_000)

        var off = SpinGovernor(limit: 0)
        off.noteTraffic(at: 1_000_000, isAwaited: false)
        #expect(off.deadline(isAwaiting: false) == nil)
    }

    @Test("traffic that keeps coming late ends the polling, prompt traffic brings it back")
    func learns() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000
        for _ in 0..<SpinGovernor.creditMax {
            now += 10_000_000
            governor.noteTraffic(at: now, isAwaited: false)
        }
        #expect(governor.deadline(isAwaiting: false) == nil)
        // asleep, so the next message comes later by what waking up costs
        now += 100_000 + SpinGovernor.wakeUpCost
        governor.noteTraffic(at: now, isAwaited: false)
        #expect(governor.deadline(isAwaiting: false) == now + 100_000)
    }

    @Test(
        "for an answer that is due it polls ten times as long, as long as answers come in that time"
    )
    func awaits() {
        var governor = SpinGovernor(limit: 50_000)
        var now: UInt64 = 1_000_000
        for _ in 0..<100 {
            governor.noteTraffic(at: now, isAwaited: false)
            #expect(governor.deadline(isAwaiting: true) == now + 500_000)
            now += 400_000
            governor.noteTraffic(at: now, isAwaited: true)
            now += 10_000
        }
        // a slow disk, and requests that follow soon
        for _ in 0..<SpinGovernor.creditMax {
            governor.noteTraffic(at: now, isAwaited: false)
            now += 5_000_000
            governor.noteTraffic(at: now, isAwaited: true)
            now += 10_000
        }
        governor.noteTraffic(at: now, isAwaited: false)
        #expect(governor.deadline(isAwaiting: true) == now + 50_000)
        governor.noteTraffic(at: now + 540_000, isAwaited: true)
        #expect(governor.deadline(isAwaiting: true) == now + 540_000 + 500_000)
    }

    @Test("a program that takes the processor ends the polling for a while, a peer does not")
    func givesWay() {
        var governor = SpinGovernor(limit: 100_000)
        let start: UInt64 = 1_000_000_000
        governor.noteTraffic(at: start, isAwaited: false)
        governor.noteYield(taking: SpinGovernor.yieldCostMax, at: start, onlyProcessor: false)
        #expect(governor.deadline(isAwaiting: false) != nil)
        governor.noteYield(taking: SpinGovernor.yieldCostMax + 1, at: start, onlyProcessor: false)
        #expect(governor.deadline(isAwaiting: false) == nil)
        #expect(firstPolling(of: &governor, after: start) == start + SpinGovernor.restMin + 50_000)
    }

    @Test("what happens again and again ends it for longer and longer, up to a limit")
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

    @Test("on its only processor it rests once peers that run there have answered in a row")
    func sharesProcessor() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000_000
        for _ in 1..<SpinGovernor.sharedYieldsMax {
            governor.noteTraffic(at: now, isAwaited: false)
            now += 5_000
            governor.noteYield(taking: 5_000, at: now, onlyProcessor: true)
            #expect(governor.deadline(isAwaiting: false) != nil)
        }
        governor.noteTraffic(at: now, isAwaited: false)
        governor.noteYield(taking: 5_000, at: now, onlyProcessor: true)
        #expect(governor.deadline(isAwaiting: false) == nil)
        #expect(firstPolling(of: &governor, after: now) == now + SpinGovernor.restMin + 50_000)
    }

    @Test("an interrupt now and then does not end the polling on its only processor")
    func bearsInterrupts() {
        var governor = SpinGovernor(limit: 100_000)
        var now: UInt64 = 1_000_000_000
        for step in 0..<100 {
            governor.noteTraffic(at: now, isAwaited: false)
            now += 8_000
            governor.noteYield(taking: step % 2 == 0 ? 30_000 : 500, at: now, onlyProcessor: true)
            #expect(governor.deadline(isAwaiting: false) != nil)
        }
    }

    /// When it would poll again, with a message every 50 microseconds.
    private func firstPolling(of governor: inout SpinGovernor, after start: UInt64) -> UInt64 {
        var now = start
        repeat {
            now += 50_000
            governor.noteTraffic(at: now, isAwaited: false)
        } while governor.deadline(isAwaiting: false) == nil
        return now
    }
}
