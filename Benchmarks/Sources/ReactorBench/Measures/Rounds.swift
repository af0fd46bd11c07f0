/// Runs every contender once per round, so that a disturbance affects all contenders.
struct Rounds {
    /// The values of all rounds, by name of the result.
    private var values: [String: [Double]] = [:]

    /// Runs all `contenders` `count` times; their results are named `contender.result`.
    init(
        _ count: Int, _ contenders: [(name: String, run: () throws -> [String: Double])]
    ) throws {
        for _ in 0..<count {
            for contender in contenders {
                for (result, value) in try contender.run() {
                    values["\(contender.name).\(result)", default: []].append(value)
                }
            }
        }
    }

    /// The median of a result over all rounds.
    func median(_ name: String) throws -> Double {
        guard let sorted = values[name]?.sorted(), !sorted.isEmpty else {
            throw LoadError("\(name): no load reported it")
        }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
