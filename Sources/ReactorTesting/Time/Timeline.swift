/// Virtual time: runs scheduled events in the order of their due times.
package final class Timeline {
    /// Nanoseconds since the beginning.
    package private(set) var now: UInt64 = 0
    /// Number of events that have run.
    package private(set) var eventCount = 0
    private var heap: [Event] = []
    private var count: UInt64 = 0

    /// Creates a timeline at time zero without events.
    package init() {}

    private struct Event {
        var due: UInt64
        // Events due at the same time run in the order of their scheduling.
        var number: UInt64
        var action: () -> Void

        func precedes(_ other: Event) -> Bool {
            due != other.due ? due < other.due : number < other.number
        }
    }

    /// Schedules `action` to run `delay` nanoseconds from now.
    package func after(_ delay: UInt64, _ action: @escaping () -> Void) {
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

    /// The due time of the next event; `nil` without events.
    package var nextDue: UInt64? { heap.first?.due }

    /// Runs the next event, if there is one.
    package func runNext() {
        guard let event = heap.first else { return }
        removeFirst()
        now = max(now, event.due)
        eventCount += 1
        event.action()
    }

    /// Advances to `time`. *Traps*: if an event is due before it.
    package func advance(to time: UInt64) {
        precondition(nextDue ?? time >= time, "something is due at \(nextDue ?? 0)")
        now = max(now, time)
    }

    /// Runs all events due up to `end`, and advances to `end`.
    package func drain(until end: UInt64) {
        while let due = nextDue, due <= end { runNext() }
        now = max(now, end)
    }

    /// Removes all events, and releases what their actions hold.
    package func removeAll() { heap = [] }

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
