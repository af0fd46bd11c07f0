import ReactorThreads
import Testing

@testable import ReactorCore

@Suite("A saga's position in a log")
struct SagaPositionTests {
    private let log = SagaLog<Tracker>(SagaRuntime(.inert))

    private func locked(_ body: () -> Void) { log.runtime.lock.withLock(body) }

    @Test("before its first take, a position receives nothing while its saga waits")
    func waiting() {
        let position = SagaPosition(log)
        #expect(position.cursor == 0)
        locked { position.pauseWhileLocked() }
        _ = log.append(.action(.stop))
        #expect(position.cursor == nil && log.keptCount == 0)
        locked { position.wakeWhileLocked(at: nil) }
        #expect(position.cursor == 1 && position.resumed == 1)
    }

    @Test(
        "after its first take, a position stays while its saga waits; a copy begins there")
    func reading() {
        let position = SagaPosition(log)
        position.wakeNow()
        locked { position.pauseWhileLocked() }
        for _ in 0..<3 { _ = log.append(.action(.stop)) }
        #expect(position.cursor == 0 && position.resumed == nil && log.keptCount == 3)
        #expect(position.copy().cursor == 3)
        locked { position.wakeWhileLocked(at: nil) }
        #expect(position.cursor == 0 && position.resumed == 3)
        #expect(position.copy().cursor == 3 && position.twin(isReading: true).cursor == 0)
    }

    @Test("notes of the saga's own puts are dropped after its next take")
    func own() {
        let position = SagaPosition(log)
        position.skip(0..<1)
        #expect(position.skipped == [])
        position.wakeNow()
        for _ in 0..<6 { _ = log.append(.action(.stop)) }
        let ranges: [Range<UInt64>] = [1..<2, 3..<3, 4..<5]
        for range in ranges { position.skip(range) }
        #expect(position.skipped == [1..<2, 4..<5])
        position.take(2)
        #expect(position.skipped == [4..<5])
    }

    @Test("a position continues after the values taken by its copies, and sees the remaining ones")
    func released() {
        let position = SagaPosition(log)
        for _ in 0..<9 { _ = log.append(.action(.stop)) }
        let wasReading = position.hold()
        let one = position.twin(isReading: wasReading)
        let other = position.twin(isReading: wasReading)
        #expect(!wasReading && one.cursor == 0)
        one.take(2)
        other.take(5)
        position.release(wasReading, to: [one, other], besides: [])
        #expect(position.cursor == 3 && position.skipped == [5..<6])
        // A loser's take has no effect.
        _ = position.hold()
        let winner = position.twin(isReading: true)
        let loser = position.twin(isReading: true)
        winner.take(7)
        loser.take(4)
        position.release(true, to: [winner], besides: [loser])
        #expect(position.cursor == 4 && position.skipped == [5..<6, 7..<8])
        // A copy that only waited has passed over the values that it received.
        _ = position.hold()
        let waiting = position.twin(isReading: true)
        waiting.pass(8)
        position.release(true, to: [], besides: [waiting])
        #expect(position.cursor == 8)
        _ = position.hold()
        position.release(true, to: [position.twin(isReading: true)], besides: [])
        #expect(position.cursor == 8)
    }

    @Test("a log keeps nothing once no position needs it")
    func closed() {
        let position = SagaPosition(log)
        position.wakeNow()
        _ = log.append(.action(.stop))
        #expect(log.keptCount == 1)
        locked { position.closeWhileLocked() }
        #expect(log.keptCount == 0)
        position.wakeNow()
        #expect(position.cursor == nil)
    }
}
