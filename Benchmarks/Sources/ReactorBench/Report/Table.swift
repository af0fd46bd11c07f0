import Foundation

/// The rows as text in aligned columns.
struct Table {
    let rows: [Row]

    /// The table with its header row.
    var text: String {
        let head = ["measure", "placement", "ours", "peer", "against", "ratio", "target", "met"]
        let lines = [head] + rows.map(cells)
        let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let rule = widths.map { String(repeating: "-", count: $0) }
        return ([lines[0], rule] + lines.dropFirst()).map { line in
            "| "
                + zip(line, widths).map { cell, width in
                    cell + String(repeating: " ", count: width - cell.count)
                }.joined(separator: " | ") + " |\n"
        }.joined()
    }

    private func cells(_ row: Row) -> [String] {
        [
            row.measure, row.placement, Self.number(row.ours, row.unit),
            row.peer.map { Self.number($0, row.unit) } ?? "", row.against,
            row.ratio.map { String(format: "%.2f", $0) } ?? "", row.target?.text(row.unit) ?? "",
            row.isMet.map { $0 ? "yes" : "NO" } ?? "",
        ]
    }

    /// A number with a readable unit.
    static func number(_ value: Double, _ unit: Row.Unit) -> String {
        switch unit {
        case .perSecond:
            switch value {
            case 1e6...: String(format: "%.2f M/s", value / 1e6)
            case 1e5...: String(format: "%.0f k/s", value / 1e3)
            default: String(format: "%.1f k/s", value / 1e3)
            }
        case .nanoseconds:
            switch value {
            case 1e6...: String(format: "%.2f ms", value / 1e6)
            case 1e3...: String(format: "%.1f µs", value / 1e3)
            default: String(format: "%.1f ns", value)
            }
        case .bytes: String(format: "%.0f bytes", value)
        case .count: String(format: "%.2f", value)
        case .instructions: Int(value.rounded()).grouped
        }
    }
}

extension Int {
    /// The number with separators: 1,000,000.
    var grouped: String {
        var text = ""
        for (index, digit) in String(self).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.insert(",", at: text.startIndex) }
            text.insert(digit, at: text.startIndex)
        }
        return text
    }
}
