import Foundation

/// One line of the result.
struct Row {
    let measure: String
    let placement: String
    let unit: Unit
    let ours: Double
    let peer: Double?
    /// The name of the peer.
    let against: String
    /// The bound for `ours / peer`, or for `ours` without a peer.
    let target: Target?

    enum Unit: String {
        case perSecond = "1/s"
        case nanoseconds = "ns"
        case bytes
        case count
        case instructions
    }

    /// A bound and its direction.
    enum Target {
        /// The ratio must be at least this.
        case atLeast(Double)
        /// The ratio must be at most this.
        case atMost(Double)
        /// `ours` must be less than the peer's.
        case below
        /// `ours` must be less than this.
        case under(Double)

        /// The target as text, for a measure in `unit`.
        func text(_ unit: Unit) -> String {
            switch self {
            case .atLeast(let bound): "at least \(bound)x"
            case .atMost(let bound): "at most \(bound)x"
            case .below: "less than the peer"
            case .under(let bound): "under \(Table.number(bound, unit))"
            }
        }
    }

    /// `ours` divided by the peer's.
    var ratio: Double? { peer.map { $0 == 0 ? .infinity : ours / $0 } }

    /// Whether the target is met; `nil` without a target.
    var isMet: Bool? {
        switch target {
        case nil: nil
        case .atLeast(let bound): ratio.map { $0 >= bound }
        case .atMost(let bound): ratio.map { $0 <= bound }
        case .below: ratio.map { $0 < 1 }
        case .under(let bound): ours < bound
        }
    }

    /// The row in the JSON file.
    var json: [String: Any] {
        [
            "measure": "\(measure), \(placement)", "unit": unit.rawValue, "ours": rounded(ours),
            "peer": peer.map(rounded) ?? NSNull(), "against": against,
            "ratio": ratio.map { ($0 * 1_000).rounded() / 1_000 } ?? NSNull(),
            "target": target?.text(unit) ?? NSNull(), "met": isMet ?? NSNull(),
        ]
    }

    private func rounded(_ value: Double) -> Any {
        abs(value) < 1_000 ? (value * 100).rounded() / 100 : value.rounded()
    }
}
