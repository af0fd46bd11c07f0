/// Since when a node has had the log's state: bounds how old the state of its tree may be.
///
///     freshness.ask(at: now, read: 5, confirms: false)    // a look is sent
///     freshness.see(head: 7, read: 5)                     // its answer; the node has entry 5
///     freshness.read(upTo: 7)                             // asOf is the time of the look
///
/// *Shape*: the answer to a look that was sent at T names the log's last entry. Once the node has
/// that entry, its state is at most as old as T. A look that is answered while an earlier one waits
/// for its entry is ignored: the time advances also for a node that is always a little behind. So is
/// a look whose log ends before an entry that the node had: that log is another one, or an older copy.
/// The engine may answer a plain look with an older state, as etcd before 3.4.42 does after a pause.
/// Only calls that a majority applied answer wishes.
struct Freshness {
    private var looked = Progress()
    private var confirmed = Progress()
    private var asked: (at: UInt64, read: UInt64, confirms: Bool) = (0, 0, false)
    /// The state as of this time, or a later one, is wanted; nil if none is.
    private var wanted: UInt64?

    private struct Progress {
        var asOf: UInt64?
        var waiting: (head: UInt64, sentAt: UInt64)?

        mutating func see(head: UInt64, sentAt: UInt64) {
            if waiting == nil { waiting = (head, sentAt) }
        }

        mutating func read(upTo number: UInt64) {
            guard let waiting, waiting.head <= number else { return }
            confirm(sentAt: waiting.sentAt)
            self.waiting = nil
        }

        mutating func confirm(sentAt time: UInt64) { asOf = max(asOf ?? 0, time) }
    }

    /// Least nanoseconds between two calls for wishes: each is a write of the engine.
    static let wishInterval: UInt64 = 20_000_000

    /// When the node asked for the state that it has at least; nil before the first such answer.
    var asOf: UInt64? {
        guard let time = looked.asOf else { return confirmed.asOf }
        return max(time, confirmed.asOf ?? 0)
    }

    /// The same, as a majority of the engine's members confirmed it.
    var confirmedAsOf: UInt64? { confirmed.asOf }

    /// A look is sent, which `confirms` the state or not; the node has the entries up to `read`.
    mutating func ask(at now: UInt64, read: UInt64, confirms: Bool) {
        asked = (now, read, confirms)
    }

    /// The last look was answered: the log ends with entry `head`, the node has entry `read`.
    mutating func see(head: UInt64, read: UInt64) {
        guard head >= asked.read else { return }
        looked.see(head: head, sentAt: asked.at)
        if asked.confirms { confirmed.see(head: head, sentAt: asked.at) }
        self.read(upTo: read)
    }

    /// The node has the entries up to a number.
    mutating func read(upTo number: UInt64) {
        looked.read(upTo: number)
        confirmed.read(upTo: number)
    }

    /// The confirmed state as of `time`, or a later one, is wanted.
    mutating func want(asOf time: UInt64) { wanted = max(wanted ?? 0, time) }

    /// The time since which a call must be sent to confirm the wanted state; nil if none is wanted.
    mutating func unmetWish() -> UInt64? {
        if let wanted, confirmedAsOf ?? 0 >= wanted { self.wanted = nil }
        return wanted
    }

    /// When a look is due because of a wish; nil if none is.
    mutating func wishedLook(at now: UInt64) -> UInt64? {
        // An answer that waits for its entry is not replaced by the next.
        guard unmetWish() != nil, confirmed.waiting == nil else { return nil }
        return max(now, asked.at + Self.wishInterval)
    }

    /// When a call of the leader, which made the last one at `time`, is due because of a wish; nil if
    /// none is.
    mutating func wishedBeat(after time: UInt64, at now: UInt64) -> UInt64? {
        guard time < unmetWish() ?? 0 else { return nil }
        return max(now, time + Self.wishInterval)
    }

    /// What was known says nothing about the log from here on.
    mutating func forget() { (looked, confirmed) = (Progress(), Progress()) }

    /// The engine confirmed a call that was sent at `time`, by which the node has every entry: it
    /// leads.
    mutating func confirm(sentAt time: UInt64) {
        looked.confirm(sentAt: time)
        confirmed.confirm(sentAt: time)
    }
}
