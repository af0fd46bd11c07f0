import Testing

@testable import ReactorCore

/// A parcel with a weight that is not a whole number.
@Reactor
private struct Cargo {
    enum Action { case weigh(Double) }
    struct State: Equatable { var weight = 0.0 }

    func mutate(action: Action) -> Mutations<Action> { [action] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .weigh(let weight): state.weight = weight
        }
    }
}

@Reactor
private struct Truck {
    let visits: VisitCount
    @Children var loads = { (_: Int) in Cargo() }
    @Derived var weight = Derivation.sum(over: \Truck.$loads) { $0.weight }
    @Derived var lightest = Derivation.minimum(over: \Truck.$loads) { $0.weight }
    @Derived var heaviest: Derivation<Double?>

    init(visits: VisitCount = VisitCount()) {
        self.visits = visits
        heaviest = Derivation.maximum(over: \Truck.$loads) { load in
            visits.value += 1
            return load.weight
        }
    }

    enum Action {
        case add(Int)
        case drop(Int)
    }
    struct State: Equatable {}

    func mutate(action: Action) -> Mutations<Action> {
        switch action {
        case .add(let key): Mutations.none.creating($loads, key)
        case .drop(let key): Mutations.none.removing($loads, key)
        }
    }
}

@Suite("PartSummary")
struct PartSummaryTests {
    private func sum(_ numbers: [Double], without removed: [Double] = []) -> Double {
        var sum = ExactSum<Double>()
        for number in numbers { sum.add(number) }
        for number in removed { sum.remove(number) }
        return sum.value(of: [])
    }

    @Test("a sum is exact, and rounded once")
    func exact() {
        #expect(sum([]) == 0)
        #expect(sum([1e308, 1, -1e308]) == 1)
        #expect(sum([0.1, 0.2, 0.3], without: [0.1, 0.2]) == 0.3)
        #expect(sum([1e16, 1, 1, 1, 1]) == 1e16 + 4)
        #expect(sum([-1.5, -2.25]) == -3.75)
        #expect(sum([.leastNonzeroMagnitude, 1, -1]) == .leastNonzeroMagnitude)
        #expect(
            sum([-.leastNonzeroMagnitude, .leastNormalMagnitude]).nextUp == .leastNormalMagnitude)
        // Half a unit is rounded to even, and anything above it up.
        let unit = Double(1 << 53)
        #expect(sum([unit, 1]) == unit)
        #expect(sum([unit, 1, .leastNonzeroMagnitude]) == unit + 2)
        #expect(sum([unit + 2, 1]) == unit + 4)
    }

    @Test("a sum beyond the largest number is infinite until numbers are removed")
    func overflow() {
        let most = Double.greatestFiniteMagnitude
        #expect(sum([most, most]) == .infinity)
        #expect(sum([-most, -most]) == -.infinity)
        #expect(sum([most, most], without: [most]) == most)
        #expect(sum([.infinity, 1]) == .infinity && sum([-.infinity, 1]) == -.infinity)
        #expect(sum([.infinity, -.infinity]).isNaN && sum([.nan, 1]).isNaN)
        #expect(sum([.infinity, .nan, 2], without: [.infinity, .nan]) == 2)
    }

    @Test("neither the order of the numbers nor removed ones influence a sum")
    func order() {
        let seed = UInt64.random(in: 0 ... .max)
        for seed in [seed] + (1...50).map({ UInt64($0) }) {
            var random = SeededGenerator(seed: seed)
            let numbers = (0..<20).map { _ in
                Double(
                    sign: Bool.random(using: &random) ? .plus : .minus,
                    exponent: Int.random(in: -1_070...1_000, using: &random),
                    significand: Double.random(in: 1..<2, using: &random))
            }
            let whole = sum(numbers)
            #expect(sum(numbers.shuffled(using: &random)) == whole, "seed \(seed)")
            #expect(sum(numbers + numbers, without: numbers) == whole, "seed \(seed)")
            #expect(sum(numbers, without: numbers) == 0, "seed \(seed)")
            // Integers below 2⁵³ add up without rounding.
            let integers = numbers.map { _ in Int.random(in: -(1 << 46)...(1 << 46), using: &random)
            }
            #expect(
                sum(integers.map { Double($0) }) == Double(integers.reduce(0, +)), "seed \(seed)")
            let floats = numbers.map { Float($0.significand) }
            var small = ExactSum<Float>()
            for float in floats { small.add(float) }
            #expect(
                small.value(of: floats) == Float(floats.map { Double($0) }.reduce(0, +)),
                "seed \(seed)")
        }
    }

    @Test("an extreme part is searched only when the last child with it leaves")
    func extreme() {
        var least = ExtremePart<Int> { $0 < $1 }
        var parts: [Int] = []
        #expect(least.value(of: parts) == nil)
        for part in [5, 3, 3, 9] {
            least.add(part)
            parts.append(part)
        }
        #expect(least.value(of: parts) == 3)
        least.remove(3)
        // The remaining child with it is enough: no part is looked at.
        #expect(least.value(of: []) == 3)
        least.remove(3)
        #expect(least.value(of: [5, 9]) == 5)
        least.add(1)
        #expect(least.value(of: []) == 1)
    }

    @Test("values of a collection follow its children")
    func derived() throws {
        let visits = VisitCount()
        let tree = Tree(Truck(visits: visits), epoch: 1)
        #expect(try tree.json("/lightest") == "null" && tree.json("/weight") == "0.0")
        for key in 1...3 {
            try tree.send(Truck.Action.add(key))
            try tree.send(Cargo.Action.weigh(Double(key) / 10), to: "/loads/\(key)")
        }
        #expect(try tree.json("/weight") == "0.6")
        #expect(try tree.json("/lightest") == "0.1" && tree.json("/heaviest") == "0.3")
        visits.value = 0
        try tree.send(Truck.Action.drop(3))
        // The tree keeps the parts, so a search reads no child.
        #expect(visits.value == 0)
        // What is left is the sum of the others, as if the removed child had never been.
        #expect(try tree.json("/heaviest") == "0.2" && tree.json("/weight") == "\(0.1 + 0.2)")
        try tree.send(Cargo.Action.weigh(7), to: "/loads/1")
        #expect(visits.value == 1)
        #expect(try tree.json("/lightest") == "0.2" && tree.json("/heaviest") == "7.0")
    }

    @Test("a refused transaction leaves sum and extremes as they were")
    func refusal() throws {
        let tree = Tree(Truck(), epoch: 1)
        for key in 1...2 {
            try tree.send(Truck.Action.add(key))
            try tree.send(Cargo.Action.weigh(Double(key)), to: "/loads/\(key)")
        }
        #expect(
            try tree.sendTogether([
                ("/loads/1", Cargo.Action.weigh(100)), ("/", Truck.Action.drop(2)),
                ("/", Truck.Action.add(1)),
            ]) == "rejected CONFLICT")
        #expect(try tree.json("/weight") == "3.0")
        try tree.send(Cargo.Action.weigh(5), to: "/loads/1")
        #expect(try tree.json("/weight") == "7.0")
        #expect(try tree.json("/lightest") == "2.0" && tree.json("/heaviest") == "5.0")
    }
}
