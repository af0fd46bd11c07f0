import Foundation

/// One line of the result.
struct Row {
    let measure: String
    let placement: String
    let unit: Unit
    let ours: Double
    let peer: Double?
    /// What the peer is.
    let against: String
    /// What is asked of `ours / peer`, or of `ours` where there is no peer.
    let target: Target?

    enum Unit: String {
        case perSecond = "1/s"
        case nanoseconds = "ns"
        case bytes
        case count
    }

    /// A bound, and on which side of it is good.
    enum Target {
        /// The ratio is at least this.
        case atLeast(Double)
        /// The ratio is at most this.
        case atMost(Double)
        /// Less than the peer.
        case below
        /// `ours` is under this many.
        case under(Double)

        /// What is asked, of a measure in `unit`.
        func text(_ unit: Unit) -> String {
            switch self {
            case .atLeast(let bound): "at least \(bound)x"
            case .atMost(let bound): "at most \(bound)x"
            case .below: "less than the peer"
            case .under(let bound): "under \(Table.number(bound, unit))"
            }
        }
    }

    /// Ours divided by the peer's.
    var ratio: Double? { peer.map { $0 == 0 ? .infinity : ours / $0 } }

    /// Whether the target is met; `nil` without one.
    var isMet: Bool? {
        switch target {
        case nil: nil
        case .atLeast(let bound): ratio.map { $0 >= bound }
        case .atMost(let bound): ratio.map { $0 <= bound }
        case .below: ratio.map { $0 < 1 }
        case .under(let bound): ours < bound
        }
    }

    /// The row as the JSON file has it.
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
