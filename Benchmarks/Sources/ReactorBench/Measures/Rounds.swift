/// Takes turns: every round runs each contender once, so that what disturbs one disturbs all.
struct Rounds {
    /// What a contender's rounds brought, by name of the result.
    private var values: [String: [Double]] = [:]

    /// Runs all `contenders` as often as `count` says; the results of each are named
    /// `contender.result`.
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

    /// The median of a result.
    func median(_ name: String) throws -> Double {
        guard let sorted = values[name]?.sorted(), !sorted.isEmpty else {
            throw LoadError("\(name): no load told it")
        }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
