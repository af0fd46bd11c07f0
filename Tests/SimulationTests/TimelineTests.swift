import ReactorTesting
import Testing

/// Tests of virtual time.
struct TimelineTests {
    @Test("events run in the order of their due times, then of their scheduling, and not earlier")
    func order() {
        let timeline = Timeline()
        var ran: [Int] = []
        for (index, due) in ([30, 10, 20, 10, 40] as [UInt64]).enumerated() {
            timeline.after(due) { ran.append(index) }
        }
        timeline.after(15) { timeline.after(1) { ran.append(9) } }
        timeline.drain(until: 30)
        #expect(ran == [1, 3, 9, 2, 0])
        #expect(timeline.now == 30)
        timeline.drain(until: 100)
        #expect(ran.last == 4 && timeline.now == 100)
    }

    @Test("removed events do not run, and the timeline releases their actions")
    func removal() {
        final class Token {}
        let timeline = Timeline()
        weak var held: Token?
        do {
            let token = Token()
            held = token
            timeline.after(10) { Issue.record("\(token) runs") }
        }
        #expect(held != nil)
        timeline.removeAll()
        #expect(held == nil && timeline.nextDue == nil)
        timeline.drain(until: 20)
    }
}
