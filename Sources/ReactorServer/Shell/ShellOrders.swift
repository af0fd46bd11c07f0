import DequeModule
import ReactorBytes
import ReactorWire

/// The server's outputs for its shell: orders, log lines and counters; and the time of the shell's
/// call.
///
/// *Place*: every part of the server appends to it; the shell takes the orders after each call.
/// *Shape*: orders leave in the order in which they were appended. There is no other invariant;
/// ``EventGate`` states its own.
final class ShellOrders {
    private let queue = Cell(UniqueDeque<ServerOutput>())
    private let counters = Cell(ServerStats())
    private var gate: EventGate
    /// The time of the shell's call, in nanoseconds.
    private(set) var now: UInt64 = 0

    /// Allows an equal fault of a peer to be logged once in `logInterval` nanoseconds.
    init(logInterval: UInt64, eventsMax: Int) {
        gate = EventGate(interval: logInterval, eventsMax: eventsMax)
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) {
        gate.setLimits(interval: limits.logInterval, eventsMax: limits.loggedFaultsMax)
    }

    /// The counters.
    var stats: ServerStats {
        @inline(__always) _read { yield counters.value }
        @inline(__always) _modify { yield &counters.value }
    }

    /// Begins a call of the shell.
    @inline(__always)
    func begin(at now: UInt64) { self.now = now }

    /// Appends an order.
    @inline(__always)
    func append(_ output: consuming ServerOutput) { queue.value.append(output) }

    /// Takes the first order.
    @inline(__always)
    func next() -> ServerOutput? { queue.value.popFirst() }

    /// Whether no order waits.
    var isEmpty: Bool { queue.value.isEmpty }

    /// Takes all orders, in order.
    func takeAll() -> [ServerOutput] {
        var outputs: [ServerOutput] = []
        outputs.reserveCapacity(queue.value.count)
        while let output = next() { outputs.append(output) }
        return outputs
    }

    /// Logs a peer's fault, unless one of the same kind was logged a moment ago.
    func report(_ peer: Peer, _ code: FaultCode, _ event: (_ leftOut: UInt64) -> ServerEvent) {
        guard let leftOut = gate.admit(peer, code, at: now) else {
            stats.eventsLeftOut &+= 1
            return
        }
        append(.log(event(leftOut)))
    }

    /// Logs a fault without a peer.
    func complain(_ text: String) {
        guard let leftOut = gate.admitComplaint(at: now) else {
            stats.eventsLeftOut &+= 1
            return
        }
        append(.log(.complaint(text, leftOut: leftOut)))
    }
}
