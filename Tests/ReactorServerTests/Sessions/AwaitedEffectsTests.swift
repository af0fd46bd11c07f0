import Testing

@testable import ReactorServer

/// Notices of the end of effects: which connection gets one, and when.
struct AwaitedEffectsTests {
    @Test("F47: the end of an action's effects is reported once, and counts until then")
    func told() {
        var awaited = AwaitedEffects()
        awaited.start(1)
        #expect(awaited.count == 1)
        let told = [1, 1, 2].map { awaited.stop($0, isAnswerOwed: false) }
        #expect(told == [true, false, false])
        #expect(awaited.count == 0)
    }

    @Test("F47: the end of effects waits for an owed answer")
    func answerFirst() {
        var awaited = AwaitedEffects()
        awaited.start(1)
        let isTold = awaited.stop(1, isAnswerOwed: true)
        let follows = [awaited.takeEarlyEnd(of: 1), awaited.takeEarlyEnd(of: 1)]
        #expect(!isTold && follows == [true, false])
    }

    @Test("effects that another process ran end at once, for those that ask here")
    func takeRunning() {
        var awaited = AwaitedEffects()
        awaited.start(4)
        awaited.start(2, isAsked: false)
        awaited.start(3)
        _ = awaited.stop(4, isAnswerOwed: true)
        #expect(awaited.isRunning(2) && awaited.isRunning(3) && !awaited.isRunning(4))
        #expect(awaited.takeRunning() == [3])
        #expect(awaited.count == 0 && awaited.asked == [4])
    }

    @Test("F47: on another connection, only a client that asked there learns of the end")
    func otherConnection() {
        var awaited = AwaitedEffects()
        for ordinal in [1, 2, 3] as [UInt64] { awaited.start(ordinal) }
        _ = awaited.stop(3, isAnswerOwed: true)
        #expect(awaited.isAsked)
        awaited.endConnection()
        // A connection that asked for no notice need not stay for that of another.
        #expect(!awaited.isAsked)
        let follows = awaited.takeEarlyEnd(of: 3)
        let runs = [1, 3].map { awaited.askAgain(for: $0) }
        let told = [1, 2].map { awaited.stop($0, isAnswerOwed: false) }
        #expect(!follows && runs == [true, false] && told == [true, false])
        #expect(awaited.count == 0)
    }
}
