import Testing

@testable import ReactorServer

/// The sessions that may have ended.
struct EndedSessionsTests {
    private func secret(_ number: Int) -> [UInt8] {
        [UInt8(number >> 16 & 0xff), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
    }

    @Test("C87: beyond the limit, a session from before the last forgotten end counts as ended")
    func watermark() {
        var ended = EndedSessions()
        for number in 0..<EndedSessions.countMax {
            ended.remember(secret(number), at: UInt64(number))
        }
        #expect(ended.forgottenUpTo == nil && ended.count == EndedSessions.countMax)
        #expect(ended.mayHold(secret(0), since: 100_000))
        #expect(!ended.mayHold([9], since: 0) && !ended.mayHold([9], since: nil))
        for number in 0..<6 { ended.remember(secret(1 << 20 + number), at: 50_000) }
        #expect(ended.count == EndedSessions.countMax && ended.forgottenUpTo == 5)
        #expect(ended.mayHold(secret(5), since: 5) && ended.mayHold([9], since: 4))
        #expect(ended.mayHold([9], since: nil))
        // A session that began after the forgotten ends is none of the forgotten ones.
        #expect(!ended.mayHold([9], since: 6))
    }

    @Test("a session that ended twice counts from its last end")
    func twice() {
        var ended = EndedSessions()
        ended.remember([1], at: 7)
        ended.remember([1], at: 5)
        #expect(ended.all == [EndedSession(secret: [1], sequence: 7)])
    }
}
