import Foundation
import TestPrograms

@testable import ReactorDaemon

/// A root file system into which a test may install packages: that of this machine, with all changes
/// in memory, in namespaces of mounts and of processes that end with the test.
final class PackageRoot {
    let directory = TestDirectory()
    private let holder: ChildProcess
    private let first: Int32

    /// Whether this process may make such a root: it must be root, with the right to mount.
    static func isPossible() async -> Bool { (try? await PackageRoot()) != nil }

    /// Mounts what a package needs; the last process becomes the first of the new namespace.
    private static let mounts = """
        set -e
        # The daemon's user must read the files in the root, with any umask of the tests.
        umask 022
        cd "$1"
        mkdir root
        mount -t tmpfs tmpfs root
        cd root
        mkdir changes work merged
        mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work merged
        mount -t proc proc merged/proc
        mount --rbind /dev merged/dev
        mount -t tmpfs -o mode=755 tmpfs merged/run
        mount --bind "$2" merged/mnt
        # Unoptimised programs use the libraries of the tool chain.
        ldd "$3" | grep -oE '/[^ ]+/' | sort -u | while read -r folder; do
            [ -e "merged$folder" ] || { mkdir -p "merged$folder"; mount --bind "$folder" "merged$folder"; }
        done
        # A daemon of this machine may have left its data.
        rm -rf merged/etc/reactord merged/var/lib/reactord merged/var/backups/reactord
        # The list of manual pages of the whole machine takes long.
        rm -f merged/var/lib/man-db/auto-update
        exec chroot merged sh -c 'echo ready; exec sleep infinity'
        """

    /// Makes the root, with the packages at `/mnt`.
    ///
    /// *Throws*: ``DaemonProcess/Failure`` if a namespace or a mount is refused.
    init(packages: String = "/mnt") async throws {
        let holder = try ChildProcess(
            "/usr/bin/unshare",
            [
                "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "sh",
                "-c", Self.mounts, "sh", directory.path, packages, Built.product("reactord"),
            ], in: directory, name: "holder")
        guard await holder.says("ready"),
            let list = try? String(
                contentsOfFile: "/proc/\(holder.pid)/task/\(holder.pid)/children", encoding: .utf8),
            let pid = Int32(list.trimmingCharacters(in: .whitespaces))
        else { throw DaemonProcess.Failure(reason: "has no root", log: holder.errors) }
        self.holder = holder
        first = pid
    }

    /// Starts a program inside.
    func start(_ command: [String], name: String) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/nsenter",
            ["--target", "\(first)", "--mount", "--pid", "--root", "--wdns=/", "--"] + command,
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"],
            in: directory, name: name)
    }

    /// The result of a program.
    struct Run {
        var code: Int32
        /// Standard output, and standard error after it.
        var text: String
        var lines: [Substring] { text.split(separator: "\n") }
    }

    /// Runs a program inside to its end.
    func callAsFunction(_ command: String...) async throws -> Run {
        let process = try start(command, name: UUID().uuidString)
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, text: process.output + process.errors)
        }
        return Run(code: code, text: process.output + process.errors)
    }

    /// Runs a shell script inside to its end.
    func shell(_ script: String) async throws -> Run { try await self("sh", "-c", script) }

    /// Starts the installed daemon as its unit does, and waits until it serves.
    func startDaemon() async throws -> ChildProcess {
        let daemon = try start(
            [
                "setpriv", "--reuid=reactord", "--regid=reactord", "--init-groups",
                "/usr/bin/reactord", "--config", "/etc/reactord/reactord.yaml",
            ], name: "daemon-\(UUID().uuidString)")
        _ = await holds { daemon.errors.contains(" ready\n") || !daemon.isRunning }
        guard daemon.isRunning else {
            throw DaemonProcess.Failure(reason: "has ended", log: daemon.errors)
        }
        return daemon
    }

    /// A daemon's process and the path of its program, which the kernel marks if the file was
    /// replaced.
    struct Serving: Equatable {
        var pid: String
        var program: String
    }

    /// The daemon that serves.
    func serving() async throws -> Serving {
        let lock = "/run/reactord/reactord.sock.lock"
        let run = try await shell("cat \(lock) && readlink /proc/$(cat \(lock))/exe")
        guard run.lines.count == 2 else {
            throw DaemonProcess.Failure(reason: "does not serve", log: run.text)
        }
        return Serving(pid: String(run.lines[0]), program: String(run.lines[1]))
    }

    /// Ends the daemon that serves, and waits until it has.
    func stopDaemon() async throws -> Bool {
        let pid = try await serving().pid
        let end = "kill \(pid) && while [ -S /run/reactord/reactord.sock ]; do :; done"
        return try await shell(end).code == 0
    }
}
