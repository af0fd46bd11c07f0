import Observation
import Testing

@testable import ReactorClient

@Suite("ChangeSignal", .timeLimit(.minutes(10)))
struct ChangeSignalTests {
    @Test("a wait for a change that was already made returns at once")
    func passed() async {
        let signal = ChangeSignal()
        let version = signal.version
        signal.publish()
        await signal.change(after: version)
        #expect(signal.version != version)
    }

    @Test("one change wakes all waiting tasks")
    func wakes() async {
        let signal = ChangeSignal()
        let version = signal.version
        let woken = Notes<Int>()
        for index in 0..<10 {
            Task {
                await signal.change(after: version)
                woken.add(index)
            }
        }
        await Task.yield()
        signal.publish()
        #expect(Set(await woken.until(10)) == Set(0..<10))
    }

    @Test("after the last change no task waits")
    func ended() async {
        let signal = ChangeSignal()
        signal.publish(isLast: true)
        #expect(signal.isEnded)
        await signal.change(after: signal.version)
    }

    @Test("a cancelled task does not wait, whenever it was cancelled")
    func cancelled() async {
        let signal = ChangeSignal()
        let version = signal.version
        for _ in 0..<50 {
            let waiting = Task { await signal.change(after: version) }
            if Bool.random() { await Task.yield() }
            waiting.cancel()
            await waiting.value
        }
        #expect(signal.version == version)
    }

    @Test("the signal calls an observer after the change is in place, with no lock held")
    func observers() {
        let signal = ChangeSignal()
        let seen = Notes<UInt64>()
        withObservationTracking {
            signal.access()
        } onChange: {
            seen.add(signal.version)
        }
        signal.publish()
        #expect(seen.all == [1])
    }
}
