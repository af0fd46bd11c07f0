import Foundation

/// A bar chart of the rows with a peer: how many times better or worse, on a logarithmic scale.
struct Chart {
    let rows: [Row]
    private static let rowHeight = 18.0
    private static let middle = 560.0
    /// Width of a factor of two.
    private static let doubling = 60.0

    var svg: String {
        let shown = rows.filter { $0.ratio.map { $0 > 0 && $0.isFinite } ?? false }
        let height = Self.rowHeight * Double(shown.count) + 60
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 \(height)" \
            font-family="sans-serif" font-size="11">
            <rect width="900" height="\(height)" fill="white"/>
            <text x="10" y="20" font-size="14">reactord, how many times better than its peer</text>

            """
        for step in -3...4 {
            let x = Self.middle + Double(step) * Self.doubling
            let label = step >= 0 ? "\(1 << step)x" : "1/\(1 << -step)"
            svg += """
                <path d="M\(x) 42V\(height - 8)" stroke="\(step == 0 ? "#444" : "#ddd")"/>
                <text x="\(x)" y="38" text-anchor="middle" fill="#666">\(label)</text>

                """
        }
        for (index, row) in shown.enumerated() {
            svg += bar(row, at: 48 + Double(index) * Self.rowHeight)
        }
        return svg + "</svg>\n"
    }

    private func bar(_ row: Row, at y: Double) -> String {
        let factor = row.unit == .perSecond ? (row.ratio ?? 1) : 1 / (row.ratio ?? 1)
        let width = min(max(log2(factor), -3.5), 4.8) * Self.doubling
        let color = row.isMet.map { $0 ? "#2a7" : "#c43" } ?? "#89a"
        let x = min(Self.middle, Self.middle + width)
        return """
            <text x="370" y="\(y + 11)" text-anchor="end">\(row.measure), \(row.placement)</text>
            <rect x="\(x)" y="\(y + 2)" width="\(abs(width))" height="12" fill="\(color)"/>

            """
    }
}
