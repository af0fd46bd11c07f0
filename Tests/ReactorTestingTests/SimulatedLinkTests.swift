import ReactorServer
import Testing

@testable import ReactorTesting

struct SimulatedLinkTests {
    private let link = SimulatedLink(
        ConnectionID(7), SimulatedChance(seed: 1, isCalm: true))

    @Test("a write is complete once all of its bytes are in the buffer")
    func write() {
        link.write([1, 2, 3, 4, 5])
        #expect(!link.fill(2) && link.isWriting && link.lastBytes == [1, 2, 3, 4, 5])
        #expect(link.deliver(1) == [1] && !link.fill(2))
        #expect(link.deliver(9) == [2, 3] && !link.hasOutput)
        #expect(link.fill(2) && !link.isWriting)
        #expect(!link.fill(2), "a complete write is reported once")
        #expect(link.deliver(9) == [4, 5])
    }

    @Test("without the rest of a write, the bytes in the buffer still arrive")
    func dropRest() {
        link.write([1, 2, 3])
        _ = link.fill(1)
        link.dropRest()
        #expect(link.lastBytes == [1])
        #expect(link.fill(9) && link.deliver(9) == [1])
    }

    @Test("one arrival at a time is scheduled, and none while a side does not read")
    func schedules() {
        link.send([1, 2, 3])
        #expect(link.scheduleUp() && !link.scheduleUp())
        link.pause(true)
        #expect(!link.arriveUp() && !link.scheduleUp())
        link.pause(false)
        #expect(link.scheduleUp() && link.arriveUp())
        #expect(link.scheduleDown() && !link.scheduleDown())
        link.stall(true)
        #expect(!link.arriveDown() && !link.scheduleDown())
        link.stall(false)
        #expect(link.scheduleDown() && link.arriveDown())
    }

    @Test("the server reads what was sent, and then the end of the stream")
    func input() {
        link.send([1, 2, 3])
        #expect(link.read(2) == [1, 2] && link.hasBytes)
        link.halfClose()
        #expect(link.read(9) == [3] && !link.hasBytes && link.hasInput)
        #expect(link.isHalfClosed && !link.isFinished)
    }

    @Test("a closed link schedules nothing, and an arrival that was scheduled finds it closed")
    func closed() {
        #expect(link.scheduleUp() && link.scheduleDown())
        link.close()
        #expect(!link.arriveUp() && !link.arriveDown())
        #expect(!link.scheduleUp() && !link.scheduleDown() && !link.isOpen)
    }

    @Test("batches are appended and reported in order, whatever their delays")
    func appends() {
        let schedule = AppendSchedule()
        #expect(schedule.append(at: 10, after: 50) == 60)
        #expect(schedule.append(at: 20, after: 0) == 60)
        #expect(schedule.report(behind: 60, after: 5) == 65)
        #expect(schedule.report(behind: 60, after: 0) == 65)
        schedule.clear()
        #expect(schedule.append(at: 20, after: 1) == 21)
        #expect(schedule.report(behind: 21, after: 2) == 23)
    }
}
