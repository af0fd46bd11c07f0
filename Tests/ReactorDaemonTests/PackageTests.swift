import Foundation
import TestPrograms
import Testing

@testable import ReactorDaemon

/// The Debian package that `Config/package` makes, from the programs of the tests, and its
/// installation on a system without a service manager.
@Suite("Debian package", .timeLimit(.minutes(20)))
struct PackageTests {
    private static let packages = TestDirectory()
    private static let versions = ["\(Daemon.version)+1", "\(Daemon.version)+2"]
    /// The packages of two versions; made once for all tests.
    private static let made = Task {
        for version in versions {
            let process = try ChildProcess(
                Built.root + "/Config/package",
                [
                    "--programs",
                    URL(filePath: Built.product("reactord")).deletingLastPathComponent().path(),
                    "--version", version, packages.path,
                ], environment: ["DPKG_DEB_COMPRESSOR_TYPE": "none"], in: packages,
                name: "package-\(version)")
            guard await process.ended() == .exited(0) else {
                throw DaemonProcess.Failure(reason: "has no package", log: process.errors)
            }
        }
    }

    private static func file(_ version: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: packages.path)
        return try #require(names.first { $0.hasPrefix("reactord_\(version)_") })
    }

    /// Runs a tool on the package of the first version.
    private func read(_ tool: String, _ arguments: [String]) async throws -> String {
        try await Self.made.value
        let path = Self.packages.path(try Self.file(Self.versions[0]))
        let process = try ChildProcess(
            tool, arguments + [path], in: Self.packages, name: UUID().uuidString)
        #expect(await process.ended() == .exited(0), "\(process.errors)")
        return process.output
    }

    // MARK: Content

    @Test("the package has programs, units, configuration, alerts, manual pages and completions")
    func content() async throws {
        let list = try await read("/usr/bin/dpkg-deb", ["--contents"])
        for path in [
            "usr/bin/reactord", "usr/bin/reactorctl", "etc/reactord/reactord.yaml",
            "usr/lib/systemd/system/reactord.service", "usr/lib/systemd/system/reactord.socket",
            "usr/lib/systemd/system/reactord-admin.socket",
            "usr/lib/systemd/system/reactord-backup.service",
            "usr/lib/systemd/system/reactord-backup.timer",
            "usr/lib/systemd/system/reactord-etcd.service", "usr/lib/sysusers.d/reactord.conf",
            "usr/lib/tmpfiles.d/reactord.conf",
            "usr/share/reactord/prometheus/reactord.rules.yaml",
            "usr/share/man/man8/reactord.8.gz", "usr/share/man/man1/reactorctl.1.gz",
            "usr/share/bash-completion/completions/reactord",
            "usr/share/bash-completion/completions/reactorctl",
            "usr/share/zsh/vendor-completions/_reactord",
            "usr/share/zsh/vendor-completions/_reactorctl",
            "usr/share/fish/vendor_completions.d/reactord.fish",
            "usr/share/fish/vendor_completions.d/reactorctl.fish",
            "usr/share/doc/reactord/copyright", "usr/share/doc/reactord/changelog.gz",
            "usr/share/doc/reactord/Production.md", "usr/share/doc/reactord/Clusters.md",
            "usr/share/doc/reactord/examples/etcd.conf.yml",
        ] {
            #expect(list.contains(" ./\(path)\n"), "\(path)")
        }
        for line in list.split(separator: "\n") {
            #expect(line.contains(" root/root "), "\(line)")
            #expect(line.prefix(10).allSatisfy { $0 != "s" && $0 != "t" }, "\(line)")
        }
        #expect(
            try await read("/usr/bin/dpkg-deb", ["--info"]).contains("libuv1 (>= "))
        let conffiles = try await read("/usr/bin/dpkg-deb", ["--ctrl-tarfile"])
        #expect(conffiles.contains("/etc/reactord/reactord.yaml\n"))
    }

    // MARK: Installation

    private static let rootNeed: Comment = "root, which may mount, installs the package"

    private static func makeRoot() async throws -> PackageRoot {
        try await made.value
        return try await PackageRoot(packages: packages.path)
    }

    @Test(
        "P122: an upgrade and a downgrade keep a watching client's connection; only a purge deletes",
        .enabled(rootNeed) { await PackageRoot.isPossible() })
    func lifecycle() async throws {
        let root = try await Self.makeRoot()
        try await install(0, in: root)
        try await expectInstalled(root)
        let admin = "admin: {socket: /run/reactord/admin.sock}"
        _ = try await root.shell("echo '\(admin)' >>/etc/reactord/reactord.yaml")
        let daemon = try await root.startDaemon()
        let watch = try root.start(["reactorctl", "watch", "/visits/count"], name: "watch")
        #expect(await watch.says(#""state":0"#), "\(watch.errors)")
        let before = try await connection(root)
        var pids = [try await root.serving().pid]
        for (count, version) in [(1, 1), (2, 0)] {
            let text = try await install(version, in: root)
            #expect(text.contains(#""closed":0"#), "\(text)")
            let serving = try await root.serving()
            #expect(serving.program == "/usr/bin/reactord")
            pids.append(serving.pid)
            try await increment(root)
            #expect(await watch.says(#""state":\#(count)"#), "\(watch.output)")
            #expect(try await connection(root) == before)
        }
        #expect(Set(pids).count == 3)
        // Root trusts the directory that it has given to the daemon's user.
        let clients = try await root.shell("reactorctl clients --socket /run/reactord/admin.sock")
        #expect(clients.code == 0, "\(clients.text)")
        #expect(await daemon.ended() == .exited(0))
        #expect(watch.output.split(separator: "\n").count == 3, "\(watch.output)")
        try await remove(root)
    }

    /// Installs the package of a version; returns what the installation printed.
    @discardableResult
    private func install(_ index: Int, in root: PackageRoot) async throws -> String {
        let run = try await root(
            "dpkg", "--install", "/mnt/" + (try Self.file(Self.versions[index])))
        #expect(run.code == 0, "\(run.text)")
        let shown = try await root("dpkg-query", "-W", "-f=${Status} ${Version}", "reactord")
        #expect(shown.text == "install ok installed \(Self.versions[index])")
        return run.text
    }

    private func increment(_ root: PackageRoot) async throws {
        let run = try await root("reactorctl", "dispatch", "/visits", #"{"increment":{"by":1}}"#)
        #expect(run.code == 0, "\(run.text)")
    }

    /// The first connection: that of the client that watches.
    private func connection(_ root: PackageRoot) async throws -> String? {
        let run = try await root("reactorctl", "clients")
        return try run.lines.first.flatMap { line in
            try #require(line.firstMatch(of: /"connection":\d+/)).output
        }.map(String.init)
    }

    /// What the installation has left: the user, the directories, the enabled units, pages.
    private func expectInstalled(_ root: PackageRoot) async throws {
        let run = try await root.shell(
            """
            getent passwd reactord | cut -d: -f1,6,7
            stat -c '%n %A %U %G' /run/reactord /var/lib/reactord /var/backups/reactord
            ls /etc/systemd/system/*.wants | grep reactord
            dpkg --verify reactord
            man -w reactord reactorctl
            bash -c '. /usr/share/bash-completion/completions/reactorctl && complete -p reactorctl'
            setpriv --reuid=reactord --regid=reactord --clear-groups \
                reactord --config /etc/reactord/reactord.yaml --check | grep -E '^(socket|  directory)'
            """)
        #expect(
            run.text == """
                reactord:/var/lib/reactord:/usr/sbin/nologin
                /run/reactord drwxr-xr-x reactord reactord
                /var/lib/reactord drwx------ reactord reactord
                /var/backups/reactord drwx------ reactord reactord
                reactord.service
                reactord-backup.timer
                /usr/share/man/man8/reactord.8.gz
                /usr/share/man/man1/reactorctl.1.gz
                complete -o filenames -F _reactorctl reactorctl
                socket    /run/reactord/reactord.sock (the system service)
                  directory                       /var/lib/reactord

                """)
    }

    /// Removes the package, installs it again, and purges it.
    private func remove(_ root: PackageRoot) async throws {
        let backup = try await root("reactorctl", "backup", "/var/backups/reactord", "--keep", "7")
        #expect(backup.code == 0, "\(backup.text)")
        #expect(try await root.stopDaemon())
        #expect(try await root("dpkg", "--remove", "reactord").code == 0)
        let left = try await root.shell(
            "ls /usr/bin/reactord /var/lib/reactord/journal.sqlite /etc/reactord/reactord.yaml")
        #expect(left.lines.count == 3 && left.text.contains("'/usr/bin/reactord'"), "\(left.text)")
        try await install(1, in: root)
        let daemon = try await root.startDaemon()
        #expect(try await root("reactorctl", "get", "/visits/count").text == "2\n")
        #expect(try await root.stopDaemon())
        #expect(await daemon.ended() == .exited(0))
        let purge = try await root("dpkg", "--purge", "reactord")
        #expect(purge.code == 0 && purge.text.contains("/var/backups/reactord stay"))
        let gone = try await root.shell(
            """
            ls -d /etc/reactord /var/lib/reactord /run/reactord /usr/share/*/reactord 2>/dev/null
            find /etc/systemd /var/lib/systemd -name '*reactord*'
            ls /var/backups/reactord
            """)
        #expect(gone.lines.count == 1 && gone.text.hasPrefix("backup-"), "\(gone.text)")
    }

    @Test(
        "P122: an upgrade leaves a daemon running that cannot hand over, and prints the reason",
        .enabled(rootNeed) { await PackageRoot.isPossible() })
    func refused() async throws {
        let root = try await Self.makeRoot()
        try await install(0, in: root)
        let daemon = try await root.startDaemon()
        try await increment(root)
        let pid = try await root.serving().pid
        let file = "/etc/reactord/reactord.yaml"
        #expect(try await root.shell("cp \(file) /mine && echo 'loop: [' >> \(file)").code == 0)
        let text = try await install(1, in: root)
        #expect(text.contains("the former program goes on serving"), "\(text)")
        let serving = try await root.serving()
        #expect(serving == .init(pid: pid, program: "/usr/bin/reactord (deleted)"))
        #expect(try await root("reactorctl", "get", "/visits/count").text == "1\n")
        // As the text says: after the repair, a restart.
        #expect(try await root.shell("cp /mine \(file)").code == 0)
        #expect(try await root("reactorctl", "restart").code == 0)
        #expect(try await root.serving().program == "/usr/bin/reactord")
        #expect(await daemon.ended() == .exited(0))
        #expect(try await root("reactorctl", "get", "/visits/count").text == "1\n")
        #expect(try await root.stopDaemon())
    }

    @Test(
        "an installation starts enabled sockets, then service and timer; a removal stops all",
        .enabled(rootNeed) { await PackageRoot.isPossible() })
    func serviceManager() async throws {
        let root = try await Self.makeRoot()
        // A script in the place of the service manager: it records its calls.
        let manager = try await root.shell(
            """
            mkdir -p /run/systemd/system
            rm /usr/bin/systemctl
            printf '%s\\n' '#!/bin/sh' 'echo "$@" >>/calls' \
                'case $* in *is-enabled*) echo enabled ;; *is-active*) exit 3 ;; esac' \
                >/usr/bin/systemctl
            chmod 755 /usr/bin/systemctl
            rm -f /usr/sbin/policy-rc.d
            """)
        #expect(manager.code == 0, "\(manager.text)")
        func calls() async throws -> String {
            try await root.shell("cat /calls; rm /calls").text
        }
        try await install(0, in: root)
        let first = try await calls()
        #expect(first.contains("--system daemon-reload\n"))
        // Sockets are enabled after a removal, if they were before.
        let starts = first.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /.* start (.*)/).map { String($0.output.1) }
        }
        #expect(
            starts == [
                "reactord.socket", "reactord-admin.socket",
                "reactord.service reactord-backup.timer",
            ], "\(first)")
        try await install(1, in: root)
        let second = try await calls()
        #expect(second.contains("daemon-reload") && !second.contains("stop"), "\(second)")
        #expect(try await root("dpkg", "--remove", "reactord").code == 0)
        let last = try await calls()
        #expect(last.hasPrefix("stop reactord.socket reactord-admin.socket"), "\(last)")
        #expect(last.hasSuffix("--system daemon-reload\n"), "\(last)")
    }
}
