import Testing

@testable import ReactorLoop

@Suite("InheritedSockets")
struct InheritedSocketsTests {
    private func sockets(
        _ pid: String? = "7", _ count: String? = "1", names: String? = "reactord"
    ) throws(LoopError) -> InheritedSockets? {
        var environment: [String: String] = [:]
        environment["LISTEN_PID"] = pid
        environment["LISTEN_FDS"] = count
        environment["LISTEN_FDNAMES"] = names
        return try InheritedSockets(environment, of: "reactord", pid: 7)
    }

    @Test(
        "one socket for this process is descriptor 3, under the daemon's name or none",
        arguments: ["reactord", "reactord.socket", "unknown", "", nil])
    func fits(name: String?) throws {
        let sockets = try sockets(names: name)
        #expect(sockets?.main == 3 && sockets?.admin == nil)
    }

    @Test(
        "of two sockets, the names tell which is for administrators",
        arguments: [
            ("reactord:reactord-admin", 3, 4), ("reactord-admin:reactord", 4, 3),
            ("reactord-admin.socket:reactord.socket", 4, 3),
        ])
    func pair(names: String, main: Int32, admin: Int32) throws {
        let sockets = try sockets("7", "2", names: names)
        #expect(sockets?.main == main && sockets?.admin == admin)
    }

    @Test(
        "a single socket may be the socket for administrators, by its name",
        arguments: ["reactord-admin", "reactord-admin.socket"])
    func alone(name: String) throws {
        let sockets = try sockets(names: name)
        #expect(sockets?.main == nil && sockets?.admin == 3)
    }

    @Test("without the variables there is no socket")
    func none() throws {
        #expect(try sockets(nil, nil, names: nil) == nil)
        #expect(try sockets(nil, nil) == nil)
    }

    private static let unfit: [(pid: String?, count: String?, name: String, reason: String)] = [
        ("8", "1", "reactord", "LISTEN_PID is \"8\", expected 7"),
        (nil, "1", "reactord", "LISTEN_PID is missing"),
        ("", "1", "reactord", "LISTEN_PID is \"\""),
        ("7", "0", "reactord", "LISTEN_FDS is \"0\", expected 1 or 2"),
        ("7", "3", "reactord:reactord-admin:x", "LISTEN_FDS is \"3\", expected 1 or 2"),
        ("7", "2", "reactord:admin", "LISTEN_FDNAMES is \"reactord:admin\", expected reactord:"),
        ("7", "2", "reactord:reactord", "LISTEN_FDNAMES"),
        ("7", "2", "reactord-admin:reactord-admin.socket", "LISTEN_FDNAMES"),
        ("7", "2", "reactord", "LISTEN_FDNAMES"),
        ("7", nil, "reactord", "LISTEN_FDS is missing"),
        ("7", "1", "other", "LISTEN_FDNAMES is \"other\", expected reactord"),
        ("7", "1", "reactord:admin", "LISTEN_FDNAMES"),
        ("7\u{1b}[2J", "1", "reactord", "LISTEN_PID is \"7\\u"),
    ]

    @Test("P80: sockets for another process, another number, or of another name are refused")
    func refused() {
        for (pid, count, name, reason) in Self.unfit {
            let error = #expect(throws: LoopError.self) { try sockets(pid, count, names: name) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(reason), "\(text)")
        }
    }
}
