import Testing

/// A library has no more public declarations than the plan permits.
struct SurfaceTests {
    static func findings(counts: [String: Int], maxima: [String: Int]) -> [Finding] {
        Set(counts.keys).union(maxima.keys).sorted().compactMap { room in
            let count = counts[room, default: 0]
            let max = maxima[room, default: 0]
            guard count > max || count + Surface.slackMax < max else { return nil }
            return Finding(
                path: "Tests/ArchitectureTests/Plan/Surface.swift", line: 1,
                what: "\(room) has \(count) public declarations, and the plan says \(max)",
                remedy: count > max
                    ? "make those `package` that no author's or client's program uses"
                    : "lower the number")
        }
    }

    @Test("no library has more public declarations than the plan permits")
    func tree() {
        let libraries = Set(
            Manifest(Repository.text(at: "Package.swift")).targets.filter { $0.kind == "target" }
                .map(\.name))
        let counts = Survey.current.rooms.filter { libraries.contains($0.key) }
            .mapValues { $0.map(\.publicCount).reduce(0, +) }
        expectNone(Self.findings(counts: counts, maxima: Surface.publicMax))
    }

    @Test("a count above its limit is found, and a limit far above its count")
    func planted() {
        func rooms(_ counts: [String: Int], _ maxima: [String: Int]) -> [String] {
            Self.findings(counts: counts, maxima: maxima).map { String($0.what.prefix(1)) }
        }
        #expect(rooms(["A": 5, "B": 6], ["A": 5, "B": 5]) == ["B"])
        #expect(rooms(["A": 1], [:]) == ["A"])
        #expect(rooms(["A": 5], ["A": 5 + Surface.slackMax]) == [])
        #expect(rooms(["A": 5], ["A": 6 + Surface.slackMax]) == ["A"])
    }
}
