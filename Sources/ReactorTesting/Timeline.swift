/// Virtual time: what is due runs in the order of its due times, and takes no time.
public final class Timeline {
    /// Nanoseconds since the beginning.
    public private(set) var now: UInt64 = 0
    /// How much has happened.
    public private(set) var eventCount = 0
    private var heap: [Event] = []
    private var count: UInt64 = 0

    /// Starts at zero with nothing due.
    public init() {}

    private struct Event {
        var due: UInt64
        // because what is due at the same time runs in the order in which it was asked for
        var number: UInt64
        var action: () -> Void

        func precedes(_ other: Event) -> Bool {
            due != other.due ? due < other.due : number < other.number
        }
    }

    /// Has `action` run `delay` nanoseconds from now.
    public func after(_ delay: UInt64, _ action: @escaping () -> Void) {
        count += 1
        heap.append(Event(due: now &+ delay, number: count, action: action))
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].precedes(heap[parent]) else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    /// When the next of what is due is; `nil` if nothing is.
    public var nextDue: UInt64? { heap.first?.due }

    /// Runs what is due next, if anything is.
    public func runNext() {
        guard let event = heap.first else { return }
        removeFirst()
        now = max(now, event.due)
        eventCount += 1
        event.action()
    }

    /// Stands at `time`, before which nothing may be due.
    public func advance(to time: UInt64) {
        precondition(nextDue ?? time >= time, "something is due at \(nextDue ?? 0)")
        now = max(now, time)
    }

    /// Runs everything that is due up to `end`, and stands there then.
    public func run(until end: UInt64) {
        while let due = nextDue, due <= end { runNext() }
        now = max(now, end)
    }

    private func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var index = 0
        while true {
            var first = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].precedes(heap[first]) { first = child }
            guard first != index else { return }
            heap.swapAt(index, first)
            index = first
        }
    }
}
