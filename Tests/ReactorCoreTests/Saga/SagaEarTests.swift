import ReactorThreads
import Testing

@testable import ReactorCore

@Suite("A saga's position in a log")
struct SagaEarTests {
    private let log = SagaLog<Tracker>(SagaRoom(.inert))

    private func locked(_ body: () -> Void) { log.room.lock.withLock(body) }

    @Test("before its first take, an ear receives nothing while its saga waits")
    func waiting() {
        let ear = SagaEar(log)
        #expect(ear.cursor == 0)
        locked { ear.pauseWhileLocked() }
        _ = log.append(.action(.stop))
        #expect(ear.cursor == nil && log.keptCount == 0)
        locked { ear.wakeWhileLocked(at: nil) }
        #expect(ear.cursor == 1 && ear.resumed == 1)
    }

    @Test(
        "after its first take, an ear keeps its position while its saga waits; a copy begins there")
    func reading() {
        let ear = SagaEar(log)
        ear.wakeNow()
        locked { ear.pauseWhileLocked() }
        for _ in 0..<3 { _ = log.append(.action(.stop)) }
        #expect(ear.cursor == 0 && ear.resumed == nil && log.keptCount == 3)
        #expect(ear.copy().cursor == 3)
        locked { ear.wakeWhileLocked(at: nil) }
        #expect(ear.cursor == 0 && ear.resumed == 3)
        #expect(ear.copy().cursor == 3 && ear.twin(isReading: true).cursor == 0)
    }

    @Test("notes of the saga's own puts are dropped after its next take")
    func own() {
        let ear = SagaEar(log)
        ear.skip(0..<1)
        #expect(ear.skipped == [])
        ear.wakeNow()
        for _ in 0..<6 { _ = log.append(.action(.stop)) }
        let ranges: [Range<UInt64>] = [1..<2, 3..<3, 4..<5]
        for range in ranges { ear.skip(range) }
        #expect(ear.skipped == [1..<2, 4..<5])
        ear.take(2)
        #expect(ear.skipped == [4..<5])
    }

    @Test("an ear continues after the values taken by its copies, and sees the remaining ones")
    func released() {
        let ear = SagaEar(log)
        for _ in 0..<9 { _ = log.append(.action(.stop)) }
        let wasReading = ear.hold()
        let one = ear.twin(isReading: wasReading)
        let other = ear.twin(isReading: wasReading)
        #expect(!wasReading && one.cursor == 0)
        one.take(2)
        other.take(5)
        ear.release(wasReading, to: [one, other], besides: [])
        #expect(ear.cursor == 3 && ear.skipped == [5..<6])
        // A loser's take has no effect.
        _ = ear.hold()
        let winner = ear.twin(isReading: true)
        let loser = ear.twin(isReading: true)
        winner.take(7)
        loser.take(4)
        ear.release(true, to: [winner], besides: [loser])
        #expect(ear.cursor == 4 && ear.skipped == [5..<6, 7..<8])
        // A copy that only waited has passed over the values that it received.
        _ = ear.hold()
        let waiting = ear.twin(isReading: true)
        waiting.pass(8)
        ear.release(true, to: [], besides: [waiting])
        #expect(ear.cursor == 8)
        _ = ear.hold()
        ear.release(true, to: [ear.twin(isReading: true)], besides: [])
        #expect(ear.cursor == 8)
    }

    @Test("a log keeps nothing once no ear needs it")
    func closed() {
        let ear = SagaEar(log)
        ear.wakeNow()
        _ = log.append(.action(.stop))
        #expect(log.keptCount == 1)
        locked { ear.closeWhileLocked() }
        #expect(log.keptCount == 0)
        ear.wakeNow()
        #expect(ear.cursor == nil)
    }
}
