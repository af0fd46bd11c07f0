import Testing

@testable import ReactorLoop

@Suite("InheritedSocket")
struct InheritedSocketTests {
    private func socket(
        _ pid: String? = "7", _ count: String? = "1", names: String? = "reactord"
    ) throws(LoopError) -> InheritedSocket? {
        var environment: [String: String] = [:]
        environment["LISTEN_PID"] = pid
        environment["LISTEN_FDS"] = count
        environment["LISTEN_FDNAMES"] = names
        return try InheritedSocket(environment, of: "reactord", pid: 7)
    }

    @Test(
        "one socket for this process is descriptor 3, under the daemon's name or none",
        arguments: ["reactord", "reactord.socket", "unknown", "", nil])
    func fits(name: String?) throws {
        #expect(try socket(names: name)?.descriptor == 3)
    }

    @Test("without the variables there is no socket")
    func none() throws {
        #expect(try socket(nil, nil, names: nil) == nil)
        #expect(try socket(nil, nil) == nil)
    }

    private static let unfit: [(pid: String?, count: String?, name: String, reason: String)] = [
        ("8", "1", "reactord", "LISTEN_PID is \"8\", expected 7"),
        (nil, "1", "reactord", "LISTEN_PID is missing"),
        ("", "1", "reactord", "LISTEN_PID is \"\""),
        ("7", "0", "reactord", "LISTEN_FDS is \"0\", expected 1"),
        ("7", "2", "reactord:admin", "LISTEN_FDS is \"2\", expected 1"),
        ("7", nil, "reactord", "LISTEN_FDS is missing"),
        ("7", "1", "other", "LISTEN_FDNAMES is \"other\", expected reactord"),
        ("7", "1", "reactord:admin", "LISTEN_FDNAMES"),
        ("7\u{1b}[2J", "1", "reactord", "LISTEN_PID is \"7\\u"),
    ]

    @Test("P80: sockets for another process, another number, or of another name are refused")
    func refused() {
        for (pid, count, name, reason) in Self.unfit {
            let error = #expect(throws: LoopError.self) { try socket(pid, count, names: name) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(reason), "\(text)")
        }
    }
}
