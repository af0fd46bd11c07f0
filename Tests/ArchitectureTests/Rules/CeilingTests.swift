import Testing

/// The table of values above their limits must be exact.
struct CeilingTests {
    @Test("a value above, below and without its entry, and an unneeded entry, are found")
    func findings() {
        func figure(_ subject: String, _ value: Int, _ measure: Measure = .meanings) -> Figure {
            Figure(
                measure: measure, room: "ReactorWire", subject: subject, value: value, limit: 4,
                path: "a", line: 0, detail: "some")
        }
        let table = [
            NotYet(.meanings, "ReactorWire", "grown", 6),
            NotYet(.meanings, "ReactorWire", "shrunk", 6),
            NotYet(.meanings, "ReactorWire", "kept", 6),
            NotYet(.meanings, "ReactorWire", "good", 6),
            NotYet(.meanings, "ReactorWire", "gone", 6), NotYet(.shortFiles, "ReactorWire", "", 6),
        ]
        let figures = [
            figure("grown", 7), figure("shrunk", 5), figure("kept", 6), figure("good", 4),
            figure("new", 5),
        ]
        let found = Figure.findings(figures, [.meanings], notYet: table)
        #expect(
            found.map(\.what) == [
                "meanings 7 of grown of ReactorWire is above its entry of 6: some",
                "meanings 5 of shrunk of ReactorWire is below its entry of 6: some",
                "meanings 5 of new of ReactorWire is above the limit of 4: some",
                "meanings ReactorWire gone keeps the limit and is listed with 6",
                "meanings ReactorWire good keeps the limit and is listed with 6",
            ])
    }

    @Test("no value is listed twice")
    func duplicates() {
        let keys = NotYet.table.map(\.key)
        #expect(Set(keys).count == keys.count)
    }
}
