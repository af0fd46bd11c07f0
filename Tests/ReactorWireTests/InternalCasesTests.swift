import Testing

@testable import ReactorWire

@WireCodable
private enum Signal: Hashable {
    case go
    @WireInternal case stop
}

/// Signals below each other.
@WireCodable
private struct Route: Equatable {
    var parts: [Route] = []
    var signal: Signal?
}

/// A type whose arguments change places at each step down.
@WireCodable
private indirect enum Swap<Left: WireCodable, Right: WireCodable> {
    case left(Left)
    case right(Right)
    case both(Swap<Right, Left>, Swap<Right, Left>)
}

/// The same, where the type inside does not contain the signal.
@WireCodable
private indirect enum Turn<Mine: WireCodable, Other: WireCodable> {
    case mine(Mine)
    case swap(Turn<Other, Mine>)
}

/// A type with such a case that contains itself.
@WireCodable
private indirect enum Step {
    case all([Step])
    case later(Plan)
    case go
    @WireInternal case stop

    @WireCodable
    struct Plan { var then: Step? }
}

/// Drives ``InternalCases``.
@Suite("Finding the cases that only the daemon sends")
struct InternalCasesTests {
    @Test("the number of steps grows with the size of a value")
    func depth() throws {
        let cases = try #require(InternalCases(of: Route.wireSchema))
        var (stopped, free) = (Route(signal: .stop), Route(signal: .go))
        for _ in 0..<18 {
            stopped = Route(parts: [free, stopped])
            free = Route(parts: [free])
        }
        // More steps than eight for each part would throw.
        #expect(try cases.find(in: stopped.wireBytes()) == "stop")
        #expect(try cases.find(in: free.wireBytes()) == nil)
        let wide = Route(parts: Array(repeating: free, count: 100))
        #expect(try cases.find(in: wide.wireBytes()) == nil)
    }

    @Test("a type that contains itself with other arguments is read in each way, up to the limit")
    func swapped() throws {
        let cases = try #require(InternalCases(of: Swap<Signal, Int>.wireSchema))
        let stopped = Swap<Signal, Int>.both(.right(.stop), .left(1))
        #expect(try cases.find(in: stopped.wireBytes()) == "both.right.stop")
        let deep = Swap<Signal, Int>.both(.both(.right(1), .left(.stop)), .left(7))
        #expect(try cases.find(in: deep.wireBytes()) == "both.both.left.stop")
        var free = Swap<Signal, Int>.left(.go)
        for _ in 0..<8 { free = .both(.both(free, free), .left(1)) }
        #expect(throws: InternalCases.Exhausted.self) { try cases.find(in: free.wireBytes()) }
    }

    @Test("a type with other arguments inside refers to the types around it")
    func turned() throws {
        let cases = try #require(InternalCases(of: Turn<Signal, Int>.wireSchema))
        let stopped = Turn<Signal, Int>.swap(.swap(.mine(.stop)))
        #expect(try cases.find(in: stopped.wireBytes()) == "swap.swap.mine.stop")
        let going = Turn<Signal, Int>.swap(.swap(.mine(.go)))
        #expect(try cases.find(in: going.wireBytes()) == nil)
        #expect(try cases.find(in: Turn<Signal, Int>.swap(.mine(3)).wireBytes()) == nil)
    }

    @Test("a type that contains itself is searched below its top, another one is not")
    func inside() throws {
        let cases = try #require(InternalCases(of: Step.wireSchema))
        #expect(cases.areInside)
        #expect(try cases.find(in: Step.stop.wireBytes()) == "stop")
        #expect(try cases.find(in: Step.all([.go, .all([.stop])]).wireBytes()) == "all.all.stop")
        let plan = Step.later(Step.Plan(then: .stop))
        #expect(try cases.find(in: plan.wireBytes()) == "later.stop")
        #expect(try cases.find(in: Step.all([.go, .later(Step.Plan())]).wireBytes()) == nil)
        #expect(InternalCases(of: Signal.wireSchema)?.areInside == false)
        #expect(throws: WireError.self) { try cases.find(in: [0xff]) }
    }

    @Test("a type without such cases needs no search, and its schema stays the same")
    func free() {
        #expect(InternalCases(of: Swap<Int, String>.wireSchema) == nil)
        let schema = Swap<Int, String>.wireSchema
        #expect(InternalCases.removed(from: schema) == schema)
        #expect(InternalCases.removed(from: Signal.wireSchema) != Signal.wireSchema)
    }
}
