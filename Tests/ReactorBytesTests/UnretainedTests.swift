import Testing

@testable import ReactorBytes

/// Drives ``Unretained``.
@Suite("Unretained")
struct UnretainedTests {
    private final class Counter {
        var count = 0
    }

    @Test("it reaches the object, and does not keep it alive")
    func unretained() {
        weak var released: Counter?
        do {
            let counter = Counter()
            released = counter
            let reference = Unretained(counter)
            let add = { reference.with { $0.count += 1 } }
            add()
            add()
            #expect(reference.with { $0.count } == 2 && counter.count == 2)
        }
        #expect(released == nil)
    }
}
