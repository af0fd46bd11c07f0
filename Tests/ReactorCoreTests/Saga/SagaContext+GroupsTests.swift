import Testing

@testable import ReactorCore

@Suite("SagaContext+Groups")
struct SagaGroupsTests {
    private static func after(
        _ seconds: Int, _ value: Int, _ notes: Notes = Notes()
    ) -> SagaContext<Tracker>.Member<Int> {
        { saga in
            do {
                try await saga.sleep(for: .seconds(seconds))
                return value
            } catch {
                notes.add("\(value) cancelled")
                throw error
            }
        }
    }

    private static let failing: SagaContext<Tracker>.Member<Int> = { saga in
        try await saga.sleep(for: .seconds(1))
        throw Broken()
    }

    private static let cancelling: SagaContext<Tracker>.Member<Int> = { _ in
        throw CancellationError()
    }

    @Test("F40: all returns the results in the order of its members, whichever ends first")
    func all() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.all([Self.after(3, 1), Self.after(1, 2), Self.after(2, 3)])
        }
        bench.advance(by: .seconds(2))
        #expect(bench.outcome(of: handle) == "none yet")
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: handle) == "[1, 2, 3]")
    }

    @Test("F40: all of an empty list returns immediately")
    func allOfNothing() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.all([SagaContext<Tracker>.Member<Int>]())
        }
        #expect(bench.outcome(of: handle) == "[]")
    }

    @Test("F40: all runs a function for each element of a list concurrently")
    func allOver() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.all([3, 1, 2]) { saga, number in
                try await saga.sleep(for: .seconds(number))
                return number * 10
            }
        }
        bench.advance(by: .seconds(3))
        #expect(bench.outcome(of: handle) == "[30, 10, 20]")
    }

    @Test("F40: all takes members of different types")
    func allOfDifferent() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let (number, text, sum) = try await saga.all(
                { _ in 4 }, { saga in try await saga.take(Tracker.text) },
                { saga in try await saga.select(\.sum) })
            return "\(number) \(text) \(sum)"
        }
        try bench.send(.search("tea"))
        #expect(bench.outcome(of: handle) == "4 tea 0")
    }

    @Test("F40: allOf takes any number of members of different types, and keeps their order")
    func allOfMany() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let (number, text, sum, isTrue, late, parts) = try await saga.allOf(
                { @Sendable _ in 4 }, { @Sendable saga in try await saga.take(Tracker.text) },
                { @Sendable saga in try await saga.select(\.sum) }, { @Sendable _ in true },
                Self.after(2, 5),
                { @Sendable _ in [1.5] })
            return "\(number) \(text) \(sum) \(isTrue) \(late) \(parts)"
        }
        try bench.send(.search("tea"))
        bench.advance(by: .seconds(2))
        #expect(bench.outcome(of: handle) == "4 tea 0 true 5 [1.5]")
    }

    @Test("F40: a failing member of allOf cancels the others, and its error is thrown")
    func allOfFailing() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            do {
                _ = try await saga.allOf(
                    Self.after(9, 1, notes), { @Sendable _ in "text" }, Self.failing,
                    { @Sendable _ in true },
                    Self.after(9, 2, notes))
            } catch {
                notes.add("\(error)")
            }
        }
        bench.advance(by: .seconds(1))
        #expect(Set(notes.all) == ["broken", "1 cancelled", "2 cancelled"])
        #expect(!handle.isRunning)
    }

    @Test("F40: a failing member of all cancels the others, and its error is thrown")
    func failing() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            do {
                _ = try await saga.all([
                    Self.after(9, 1, notes),
                    Self.failing,
                ])
            } catch {
                notes.add("\(error)")
            }
        }
        bench.advance(by: .seconds(1))
        #expect(Set(notes.all) == ["broken", "1 cancelled"])
        #expect(bench.outcome(of: handle) == "()" && bench.state.failures.isEmpty)
    }

    // SwiftState waited forever.
    @Test("F40: a cancelled member ends the wait, and the end of the wait cancels the members")
    func cancelled() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            try await saga.all([Self.after(9, 1, notes), Self.cancelling])
        }
        bench.advance(by: .seconds(9))
        #expect(bench.outcome(of: handle) == "cancelled")
        let other = bench.run { saga in try await saga.all([Self.after(9, 2, notes)]) }
        other.cancel()
        bench.settle()
        #expect(notes.all == ["2 cancelled"] && !other.isRunning)
    }

    @Test("F40: first returns the first result, and cancels the others")
    func first() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            try await saga.first(Self.after(3, 1, notes), Self.after(1, 2, notes))
        }
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: handle) == "2")
        #expect(notes.all == ["1 cancelled"])
        #expect(!handle.isRunning)
    }

    // SwiftState started the members after an immediate winner, and never cancelled them.
    @Test("F40: the losers are cancelled even if one needs no time")
    func firstAtOnce() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            try await saga.race(
                { _ in 1 }, Self.after(3, 2, notes),
                { saga in
                    _ = try await saga.take(Tracker.text)
                    try await saga.put(.run("lost"))
                    return 3
                })
        }
        #expect(bench.outcome(of: handle) == "1")
        try bench.send(.search("x"))
        #expect(!handle.isRunning && bench.clock.sleeperCount == 0)
        #expect(bench.state.runs.isEmpty)
    }

    // SwiftState hung forever.
    @Test("F40: a race without members is an immediate error")
    func nobody() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.first([SagaContext<Tracker>.Member<Int>]())
        }
        #expect(bench.outcome(of: handle) == "\(SagaError.noMembers)")
    }

    @Test("F40: the first failure fails the race; a cancelled member only leaves it")
    func failingRace() throws {
        let bench = StoreBench(Tracker())
        let failing = bench.run { saga in
            try await saga.first(Self.after(3, 1), Self.failing)
        }
        let leaving = bench.run { saga in
            try await saga.first(Self.after(3, 1), Self.cancelling)
        }
        bench.advance(by: .seconds(3))
        #expect(bench.outcome(of: failing) == "broken")
        #expect(bench.outcome(of: leaving) == "1")
    }
}
