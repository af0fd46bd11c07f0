import Foundation
import TestPrograms
import Testing

/// The files for systemd and Prometheus that are installed with the daemon, from the repository.
@Suite("Units", .timeLimit(.minutes(10)))
struct ServiceUnitTests {
    /// `Config/setup tests` installs it.
    private static let analyze = "/usr/bin/systemd-analyze"
    private static let units = [
        "reactord.service", "reactord.socket", "reactord-admin.socket", "reactord-backup.service",
        "reactord-backup.timer", "reactord-etcd.service", "reactord-spiped-server@.service",
        "reactord-spiped-client@.service",
    ]
    private let directory = TestDirectory()

    private static func text(_ name: String) throws -> String {
        try String(contentsOfFile: Built.root + "/Config/" + name, encoding: .utf8)
    }

    /// The value of a key that occurs once.
    private static func value(_ key: String, in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix(key + "=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    private func run(_ arguments: [String]) async throws -> (ChildProcess.Ending, String) {
        let process = try ChildProcess(
            Self.analyze, arguments, in: directory, name: UUID().uuidString)
        let ending = await process.ended()
        return (ending, process.output + process.errors)
    }

    @Test(
        "X119: the exposure of a service is at most 1.0, without a manager that runs",
        arguments: ["reactord.service", "reactord-backup.service"])
    func exposure(name: String) async throws {
        try await expectExposure(of: name, atMost: 10)
    }

    @Test(
        "the exposure of etcd's service and of the tunnels is at most 1.2: they need the network",
        arguments: [
            "reactord-etcd.service", "reactord-spiped-server@.service",
            "reactord-spiped-client@.service",
        ])
    func networkExposure(name: String) async throws {
        try await expectExposure(of: name, atMost: 12)
    }

    @Test("the tunnels between daemons end at once, and replace the socket of their last run")
    func tunnels() throws {
        for side in ["server", "client"] {
            let text = try Self.text("systemd/reactord-spiped-\(side)@.service")
            // After SIGTERM, spiped waits for its connections.
            #expect(Self.value("KillSignal", in: text) == "SIGINT")
        }
        let client = try Self.text("systemd/reactord-spiped-client@.service")
        #expect(client.contains("\nExecStartPre=") && client.contains("/run/reactord-peers/"))
        let daemon = try Self.text("systemd/reactord.service")
        #expect(daemon.contains("\nReadWritePaths=-/run/reactord-peers"))
        let files = try Self.text("systemd/tmpfiles.d/reactord.conf")
        #expect(files.contains("/run/reactord-peers"))
    }

    /// Expects the exposure of a service, in tenths.
    private func expectExposure(of name: String, atMost tenths: Int) async throws {
        let path = try directory.write(try Self.text("systemd/" + name), to: name)
        let (ending, text) = try await run(
            ["security", "--offline=true", "--threshold=\(tenths)", "--no-pager", path])
        #expect(ending == .exited(0), "\(text)")
        // A template is examined as its instance `i`.
        let instance = name.replacing("@.", with: "@i.")
        #expect(text.contains("Overall exposure level for \(instance): "))
        #expect(text.contains("PrivateUsers=") && text.contains("RestrictAddressFamilies=~"))
    }

    @Test("systemd understands every line of the units")
    func verify() async throws {
        // The programs are not installed where the tests run.
        let paths = try Self.units.map { name in
            let text = try Self.text("systemd/" + name)
                .replacing("/usr/bin/reactorctl", with: Built.product("reactorctl"))
                .replacing("/usr/bin/reactord ", with: Built.product("reactord") + " ")
                .replacing("/usr/bin/etcd ", with: "/bin/true ")
                .replacing("/usr/bin/spiped ", with: "/bin/true ")
            return try directory.write(text, to: name)
        }
        let (ending, text) = try await run(["verify", "--man=no"] + paths)
        #expect(ending == .exited(0) && text.isEmpty, "\(text)")
        let wrong = try directory.write(
            "[Service]\nExecStart=/bin/true\nNoSuchKey=1\n", to: "w.service")
        #expect(try await run(["verify", "--man=no", wrong]).1.contains("NoSuchKey"))
    }

    @Test("the service leaves out what breaks the daemon, and names what a restart cannot help")
    func service() throws {
        let text = try Self.text("systemd/reactord.service")
        #expect(!text.contains("\nPrivateUsers="))
        #expect(Self.value("Restart", in: text) == "on-failure")
        #expect(Self.value("RestartPreventExitStatus", in: text) == "64 65 78")
        #expect(Self.value("Environment", in: text) == "SWIFT_BACKTRACE=enable=no")
        #expect(text.contains("\nEnvironment=REACTORD_BOOT_ID=%b\n"))
        let socket = try Self.text("systemd/reactord.socket")
        let path = try #require(Self.value("ListenStream", in: socket))
        #expect(Self.value("SocketMode", in: socket) == "0660")
        let admin = try Self.text("systemd/reactord-admin.socket")
        #expect(Self.value("SocketMode", in: admin) == "0600")
        #expect(Self.value("FileDescriptorName", in: admin) == "reactord-admin")
        for name in ["reactord.service", "reactord-backup.service"] {
            #expect(try Self.text("systemd/" + name).contains("--socket \(path)\n"))
        }
    }

    @Test("etcd and the daemon may be restarted alone, and no socket of etcd's last run is left")
    func etcd() throws {
        let text = try Self.text("systemd/reactord-etcd.service")
        for key in ["BindsTo", "PartOf", "Requires", "Requisite"] {
            #expect(Self.value(key, in: text) == nil)
        }
        let directory = try #require(Self.value("WorkingDirectory", in: text))
        #expect(Self.value("RuntimeDirectory", in: text).map { "/run/\($0)" } == directory)
        #expect(Self.value("RuntimeDirectoryMode", in: text) == "0700")
        #expect(Self.value("RuntimeDirectoryPreserve", in: text) == "no")
        // etcd's data are where systemd makes the directory, and its socket where the daemon looks.
        let settings = try Self.text("cluster/etcd.conf.yml")
        let state = try #require(Self.value("StateDirectory", in: text))
        #expect(settings.contains("\ndata-dir: /var/lib/\(state)\n"))
        let socket = try #require(settings.firstMatch(of: /\nlisten-client-urls: unix:\/\/(.+)\n/))
        let page = try String(
            contentsOfFile: Built.root
                + "/Sources/ReactorDaemon/ReactorDaemon.docc/Clusters.md", encoding: .utf8)
        #expect(page.contains("engine: \(directory)/\(socket.output.1)\n"))
    }

    @Test("the commands of the units do what they are for")
    func commands() async throws {
        let folder = directory.path("backups")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        let daemon = try await DaemonProcess.start(
            config: "data: { directory: \(directory.path("data")) }\n" + DaemonProcess.example,
            in: directory)
        for (key, name) in [
            ("ExecReload", "reactord.service"), ("ExecStart", "reactord-backup.service"),
        ] {
            let line = try #require(Self.value(key, in: try Self.text("systemd/" + name)))
            let words = line.split(separator: " ").map { word in
                switch word {
                case "/var/backups/reactord": folder
                case "/run/reactord/reactord.sock": daemon.socketPath
                default: String(word)
                }
            }
            #expect(words.first == "/usr/bin/reactorctl")
            let process = try ChildProcess(
                Built.product("reactorctl"), Array(words.dropFirst()), in: directory, name: key)
            #expect(await process.ended() == .exited(0), "\(process.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
        #expect(await holds { daemon.log.contains("applied the configuration") })
    }

    @Test("a daemon with data has every metric in the alerts")
    func alerts() async throws {
        let daemon = try await DaemonProcess.start(
            config: "data: { directory: \(directory.path("data")), bytesMax: 8GiB }\n"
                + DaemonProcess.example, in: directory)
        let control = Reactorctl(daemon: daemon)
        #expect(try await control("snapshot").code == 0)
        let metrics = try await control("metrics").output
        let rules = try Self.text("prometheus/reactord.rules.yaml")
        let expressions = rules.split(separator: "\n").filter { $0.contains("expr: ") }
        let alone = expressions.filter { !$0.contains("reactord_cluster_") }
        #expect(expressions.count == 15 && alone.count == 11)
        for expression in alone {
            let names = expression.matches(of: /reactord_[a-z_]+/).map { String($0.output) }
            #expect(!names.isEmpty)
            for name in names {
                #expect(
                    metrics.contains("\n\(name) ") || metrics.contains("\n\(name){"), "\(name)")
            }
        }
        // The names of alerts are those of the page about them.
        let page = try String(
            contentsOfFile: Built.root
                + "/Sources/ReactorDaemon/ReactorDaemon.docc/Production.md", encoding: .utf8)
        for alert in rules.matches(of: /alert: (\w+)/) {
            #expect(page.contains("`\(alert.output.1)`"), "\(alert.output.1)")
        }
    }
}
