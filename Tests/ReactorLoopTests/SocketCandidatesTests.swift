import ReactorLoop
import Testing

struct SocketCandidatesTests {
    private let environment = [
        "REACTORD_SOCKET": "/srv/own.sock", "XDG_RUNTIME_DIR": "/run/user/1000",
    ]

    @Test("the user's directory comes first, then the system's, and /tmp")
    func order() {
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        let candidates = SocketCandidates.list(environment: environment, uid: 1_000)
        #expect(
            candidates.map(\.path) == [
                "/run/user/1000/reactord.sock", "/run/reactord/reactord.sock",
                "/tmp/reactord-1000/reactord.sock",
            ])
        #expect(candidates.map(\.reason) == [.runtimeDirectory, .system, .temporary])
        #expect(candidates.allSatisfy { $0.refusal == nil })
        #expect(candidates.map(\.isDirectoryCreated) == [false, false, true])
    }

    @Test("each daemon has paths of its own name, and a named socket comes before any name")
    func otherName() throws {
        let tracker = try DaemonName("tracker-daemon")
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        let candidates = SocketCandidates.list(of: tracker, environment: environment, uid: 1_000)
        #expect(
            candidates.map(\.path) == [
                "/run/user/1000/tracker-daemon.sock", "/run/tracker-daemon/tracker-daemon.sock",
                "/tmp/tracker-daemon-1000/tracker-daemon.sock",
            ])
        let bound = try SocketCandidates.forDaemon(
            tracker, environment: environment, uid: 1_000, isOwnDirectory: { _ in true })
        #expect(bound == candidates[0])
        let named = SocketCandidates.list(of: tracker, environment: self.environment, uid: 1_000)
        #expect(named.map(\.path) == ["/srv/own.sock"])
    }

    @Test("only /run/NAME/NAME.sock and /run/NAME/admin.sock are sockets of a system service")
    func systemPath() {
        for path in ["/run/reactord/reactord.sock", "/run/a/a.sock", "/run/a/admin.sock"] {
            #expect(SocketCandidates.isSystemPath(path), "\(path)")
        }
        for path in [
            "", "/run/a/b.sock", "/run/a/a", "/run/../...sock", "/run//.sock", "/tmp/a/a.sock",
            "/run/user/1000/a.sock", "run/a/a.sock", "/run/a/a.sock/", "/run/admin.sock",
            "/tmp/a/admin.sock",
        ] {
            #expect(!SocketCandidates.isSystemPath(path), "\(path)")
        }
    }

    // [WIRE-1-1]
    @Test("a socket named by REACTORD_SOCKET is the only candidate, usable or not")
    func namedAlone() {
        let candidates = SocketCandidates.list(environment: environment, uid: 1_000)
        #expect(candidates.map(\.path) == ["/srv/own.sock"])
        #expect(candidates.map(\.reason) == [.variable])
        let bad = SocketCandidates.list(environment: ["REACTORD_SOCKET": "own.sock"], uid: 1_000)
        #expect(bad.map(\.path) == ["own.sock"] && bad.allSatisfy { $0.refusal != nil })
    }

    // [WIRE-1-2]
    @Test("root uses no place in /tmp; its daemon makes the system's directory instead")
    func root() throws {
        let candidates = SocketCandidates.list(environment: [:], uid: 0)
        #expect(candidates.map(\.path) == ["/run/reactord/reactord.sock"])
        let bound = try SocketCandidates.forDaemon(
            environment: [:], uid: 0, isOwnDirectory: { _ in false })
        #expect(bound == candidates[0] && bound.isDirectoryCreated)
    }

    @Test("an unset or empty variable is not a candidate")
    func unset() {
        let empty = ["REACTORD_SOCKET": "", "XDG_RUNTIME_DIR": ""]
        for environment in [[:], empty] {
            let candidates = SocketCandidates.list(environment: environment, uid: 7)
            #expect(candidates.map(\.reason) == [.system, .temporary])
        }
    }

    @Test("a slash at the end of the run-time directory is not doubled")
    func slash() {
        let candidates = SocketCandidates.list(environment: ["XDG_RUNTIME_DIR": "/x/"], uid: 0)
        #expect(candidates.first?.path == "/x/reactord.sock")
        #expect(candidates.first?.directory == "/x")
    }

    @Test("the daemon binds at the path in REACTORD_SOCKET, whatever directories exist")
    func daemonVariable() throws {
        let candidate = try SocketCandidates.forDaemon(
            environment: environment, uid: 1_000, isOwnDirectory: { _ in true })
        #expect(candidate.path == "/srv/own.sock")
    }

    @Test(
        "without REACTORD_SOCKET the daemon binds in the first directory of its user",
        arguments: [
            (["/run/user/1000", "/run/reactord"], "/run/user/1000/reactord.sock"),
            (["/run/reactord"], "/run/reactord/reactord.sock"),
            ([], "/tmp/reactord-1000/reactord.sock"),
        ])
    func daemonDirectories(own: [String], path: String) throws {
        let candidate = try SocketCandidates.forDaemon(
            environment: ["XDG_RUNTIME_DIR": "/run/user/1000"], uid: 1_000,
            isOwnDirectory: { own.contains($0) })
        #expect(candidate.path == path)
    }

    @Test("S44: the daemon refuses a bad path in REACTORD_SOCKET rather than using another")
    func daemonBadVariable() {
        #expect(throws: SocketPathError.self) {
            try SocketCandidates.forDaemon(
                environment: ["REACTORD_SOCKET": "own.sock"], uid: 0, isOwnDirectory: { _ in true })
        }
    }

    @Test("a run-time directory with a too long path is listed with the reason and skipped")
    func longDirectory() throws {
        let environment = ["XDG_RUNTIME_DIR": "/" + String(repeating: "d", count: 100)]
        let first = SocketCandidates.list(environment: environment, uid: 7).first
        #expect(first?.refusal?.condition == .tooLong)
        let candidate = try SocketCandidates.forDaemon(
            environment: environment, uid: 7, isOwnDirectory: { $0 != "/run/reactord" })
        #expect(candidate.path == "/tmp/reactord-7/reactord.sock")
    }

    @Test("S44: a path of 107 bytes is accepted, 108 and 200 are refused with both numbers")
    func length() {
        func path(_ bytes: Int) -> String { "/" + String(repeating: "p", count: bytes - 1) }
        #expect(SocketPathError(path(107)) == nil)
        for bytes in [108, 200] {
            let error = SocketPathError(path(bytes))
            #expect(error?.condition == .tooLong)
            #expect(error?.description.contains("\(bytes) bytes, expected at most 107") == true)
        }
        let accented = SocketPathError("/" + String(repeating: "é", count: 54))
        #expect(accented?.condition == .tooLong, "bytes count, not characters")
    }

    @Test(
        "a path that no socket can have is refused with the reason",
        arguments: [
            ("", SocketPathError.Condition.empty), ("reactord.sock", .relative),
            ("./x", .relative), ("~/x", .relative), ("/a\0b", .zeroByte), ("a\0b", .zeroByte),
            ("/run/", .directory), ("/", .directory),
        ])
    func refused(path: String, condition: SocketPathError.Condition) {
        #expect(SocketPathError(path)?.condition == condition)
    }

    @Test("a path in an error text cannot control the terminal")
    func escaped() {
        let description = SocketPathError("\u{1B}[2J")?.description ?? ""
        #expect(description.contains(#"\u{1B}[2J"#))
        #expect(!description.contains("\u{1B}"))
    }
}
