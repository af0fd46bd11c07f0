import ReactorWire
import Testing

@testable import ReactorServer

/// The common rule for faults: at most one log line per peer and kind in 10 s.
struct EventGateTests {
    private let second: UInt64 = 1_000_000_000

    private func peer(_ pid: Int32, uid: UInt32 = 1) -> Peer { Peer(uid: uid, gid: 1, pid: pid) }

    @Test(
        "a fault of one kind is logged once in an interval, and the next line counts the others")
    func interval() {
        var gate = EventGate(interval: 10 * second, eventsMax: 8)
        #expect(gate.admit(peer(1), .framing, at: second) == 0)
        for _ in 0..<5 { #expect(gate.admit(peer(1), .framing, at: 10 * second) == nil) }
        #expect(gate.leftOut == 5)
        #expect(gate.admit(peer(1), .framing, at: 11 * second) == 5)
        #expect(gate.admit(peer(1), .framing, at: 12 * second) == nil)
        #expect(gate.admit(peer(1), .framing, at: 21 * second) == 1)
    }

    @Test("another kind, another process and another user have log lines of their own")
    func keys() {
        var gate = EventGate(interval: 10 * second, eventsMax: 8)
        #expect(gate.admit(peer(1), .framing, at: 0) == 0)
        #expect(gate.admit(peer(1), .timeout, at: 0) == 0)
        #expect(gate.admit(peer(2), .framing, at: 0) == 0)
        #expect(gate.admit(peer(1, uid: 2), .framing, at: 0) == 0)
        #expect(gate.admit(peer(1), .framing, at: 0) == nil)
    }

    @Test("ever new processes fill neither the log nor the memory, and all faults are counted")
    func bounded() {
        var gate = EventGate(interval: 10 * second, eventsMax: 4)
        var told = 0
        var leftOut: UInt64 = 0
        for pid in 1...10_000 as ClosedRange<Int32> {
            guard let count = gate.admit(peer(pid), .framing, at: UInt64(pid) * second / 100)
            else { continue }
            told += 1
            leftOut += count
        }
        #expect(gate.count == 4)
        // 100 seconds contain ten intervals.
        #expect(told == 40)
        #expect(UInt64(told) + leftOut + gate.leftOut == 10_000)
    }

    @Test("faults without a peer have a limit of their own")
    func complaints() {
        var gate = EventGate(interval: 10 * second, eventsMax: 1)
        let told = (0..<100).filter { _ in gate.admitComplaint(at: 20 * second) != nil }
        #expect(told.count == EventGate.complaintsMax)
        #expect(gate.admitComplaint(at: 30 * second) == UInt64(100 - told.count))
    }

    @Test("a lower limit forgets the oldest faults, and another interval applies at once")
    func limits() {
        var gate = EventGate(interval: 10 * second, eventsMax: 4)
        for pid in 1...4 as ClosedRange<Int32> { _ = gate.admit(peer(pid), .framing, at: second) }
        gate.setLimits(interval: 2 * second, eventsMax: 2)
        #expect(gate.count == 2)
        #expect(gate.admit(peer(4), .framing, at: 2 * second) == nil)
        #expect(gate.admit(peer(4), .framing, at: 3 * second) == 1)
    }
}
