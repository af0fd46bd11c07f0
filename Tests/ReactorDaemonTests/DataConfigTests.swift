import ReactorJournal
import ReactorWire
import Testing

@testable import ReactorDaemon

@Suite("DataConfig")
struct DataConfigTests {
    private func read(_ section: String) throws -> DataConfig? {
        try DaemonConfig(
            yaml: section + "\nreactors: { a: { kind: counter } }\n", file: "r.yaml"
        ).data
    }

    private func refusal(_ section: String) -> String {
        do {
            return "accepted: \(String(describing: try read(section)))"
        } catch {
            return "\(error)"
        }
    }

    @Test("without a data section all state is in memory; with one, on disk")
    func sections() throws {
        #expect(try read("") == nil)
        let data = try #require(try read("data: { durability: strict }"))
        #expect(data == DataConfig())
        #expect(data.directory == nil && data.durability == .strict)
    }

    @Test("every key is read")
    func keys() throws {
        let data = try #require(
            try read(
                """
                data:
                  directory: /srv/data
                  durability: relaxed
                  snapshotBytes: 2MiB
                  snapshotInterval: 5m
                  keepDuration: 0s
                  keepBytes: 0
                  bytesMax: 8GiB
                  reserveBytes: 8MiB
                  dropped: /old /a/b
                """))
        #expect(data.directory == "/srv/data" && data.durability == .relaxed)
        #expect(data.snapshotBytes == 2 << 20 && data.snapshotInterval == .seconds(300))
        #expect(data.keepDuration == .zero && data.keepBytes == 0)
        #expect(data.reserveBytes == 8 << 20 && data.bytesMax == 8 << 30)
        #expect(data.dropped.map(\.description) == ["/old", "/a/b"])
        let rows = data.rows(directory: "/srv/data")
        #expect(rows.contains { $0 == ("dropped", "/old /a/b") })
        #expect(rows.contains { $0 == ("directory", "/srv/data") })
    }

    @Test(
        "an invalid value is refused, with its location and the expected value",
        arguments: [
            ("data: { directory: here }", "expected an absolute path"),
            ("data: { durability: eventual }", "expected strict or relaxed"),
            ("data: { snapshotBytes: 3 }", "expected 1MiB to"),
            ("data: { snapshotInterval: 1us }", "expected 1s to"),
            ("data: { keepBytes: lots }", "lots"),
            ("data: { reserveBytes: -1 }", "reserveBytes"),
            ("data: { bytesMax: 63MiB }", "expected 64MiB to"),
            ("data: { dropped: old }", "old"),
            ("data: { dropped: /old / }", "not the root"),
            ("data: { dir: /a }", "unknown key \"dir\""),
            ("data: 3", "expected keys such as `durability:`"),
        ])
    func mistakes(_ section: String, _ expected: String) {
        let text = refusal(section)
        #expect(text.hasPrefix("r.yaml:1:"), "\(text)")
        #expect(text.contains(expected) || text.contains("unknown key"), "\(text)")
    }
}
