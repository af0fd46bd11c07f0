import ReactorTesting
import Testing

/// Virtual time.
struct TimelineTests {
    @Test("what is due runs in order of its time, then of its asking, and not before")
    func order() {
        let timeline = Timeline()
        var ran: [Int] = []
        for (index, due) in ([30, 10, 20, 10, 40] as [UInt64]).enumerated() {
            timeline.after(due) { ran.append(index) }
        }
        timeline.after(15) { timeline.after(1) { ran.append(9) } }
        timeline.run(until: 30)
        #expect(ran == [1, 3, 9, 2, 0])
        #expect(timeline.now == 30)
        timeline.run(until: 100)
        #expect(ran.last == 4 && timeline.now == 100)
    }
}
