import Foundation
import Glibc

/// A real `reactord`, or another daemon, started for one test, with a socket in its own
/// directory.
///
///     let daemon = try await DaemonProcess.start()
///     …
///     #expect(await daemon.stop() == .exited(0))
///
/// It is killed when the last reference is released. To start a second daemon in the place of a
/// first, pass the first one's ``directory`` to ``start(config:arguments:environment:in:)``.
package final class DaemonProcess: Sendable {
    /// Contains the configuration, the socket and the log; pass it on to start another daemon
    /// there.
    package let directory: TestDirectory
    package let socketPath: String
    private let process: ChildProcess

    /// Starts a daemon, and returns once its socket accepts connections. `executable` is the path of
    /// the program if it is not among the tests' products.
    ///
    /// *Throws*: ``Failure`` if the daemon ends instead, with its exit code and its output.
    package static func start(
        _ program: String = "reactord", config: String? = example, arguments: [String] = [],
        environment: [String: String] = [:], in directory: TestDirectory = TestDirectory(),
        at executable: String? = nil
    ) async throws -> DaemonProcess {
        let daemon = try DaemonProcess(
            program, config, arguments, environment, in: directory, at: executable)
        try await daemon.accept()
        return daemon
    }

    /// Runs a daemon that is expected to end by itself; returns its end and its output.
    package static func run(
        _ program: String = "reactord", config: String? = example, arguments: [String] = [],
        environment: [String: String] = [:], in directory: TestDirectory = TestDirectory()
    ) async throws -> (ending: ChildProcess.Ending, log: String, output: String) {
        let daemon = try DaemonProcess(
            program, config, arguments, environment, in: directory, name: "\(program)-run")
        let ending = await daemon.process.ended()
        return (ending, daemon.log, daemon.process.output)
    }

    private init(
        _ program: String, _ config: String?, _ arguments: [String],
        _ environment: [String: String], in directory: TestDirectory, name: String? = nil,
        at executable: String? = nil
    ) throws {
        self.directory = directory
        let name = name ?? program
        let configPath = try config.map { try directory.write($0, to: "\(name).yaml") }
        let socket = arguments.firstIndex(of: "--socket").map { arguments[$0 + 1] }
        socketPath = socket ?? directory.path("s")
        process = try ChildProcess(
            executable ?? Built.product(program),
            (configPath.map { ["--config", $0] } ?? [])
                + (socket == nil ? ["--socket", socketPath] : []) + arguments,
            environment: environment, in: directory, name: name)
    }

    /// A counter, a map and a lock: enough for most tests.
    package static let example = """
        reactors:
          visits:
            kind: counter
          settings:
            kind: map
          team:
            children:
              lock:
                kind: lock
        """

    /// The reason why a daemon does not serve.
    package struct Failure: Error, CustomStringConvertible {
        package var reason: String
        package var log: String

        package init(reason: String, log: String) {
            self.reason = reason
            self.log = log
        }

        package var description: String { "the daemon \(reason); it said:\n\(log)" }
    }

    package var pid: Int32 { process.pid }

    /// The standard error so far.
    package var log: String { process.errors }

    /// Sends SIGTERM and returns the daemon's end: `.exited(0)` for a success.
    @discardableResult
    package func stop() async -> ChildProcess.Ending {
        process.signal(SIGTERM)
        return await process.ended()
    }

    /// Sends SIGKILL: only the kernel cleans up.
    package func kill9() async {
        process.signal(SIGKILL)
        _ = await process.ended()
    }

    /// Sends a signal without waiting for its effect.
    package func signal(_ signal: Int32) { process.signal(signal) }

    /// Waits for the daemon to end by itself.
    package func ended() async -> ChildProcess.Ending { await process.ended() }
}

// MARK: - Waiting for the socket
extension DaemonProcess {
    /// Waits until the daemon serves. It binds its other sockets after this one, and accepts
    /// connections when all are bound.
    private func accept() async throws {
        var probe: Probe?
        var isServing = false
        _ = await holds {
            probe = probe ?? Probe(at: socketPath)
            isServing = probe?.hasEnded ?? false
            return isServing || !process.isRunning
        }
        guard process.isRunning else {
            throw Failure(reason: "ended with \(await process.ended())", log: log)
        }
        guard isServing else {
            throw Failure(reason: "does not accept at \(socketPath)", log: log)
        }
    }

    /// Whether a process listens at `path`.
    package static func accepts(_ path: String) -> Bool { Probe(at: path) != nil }
}

/// A connection that sends nothing and ends at once: the other end closes it when it accepts it.
private final class Probe {
    private let descriptor: Int32

    /// Connects; nil if no process listens at `path`.
    init?(at path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { return nil }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Whether the other end has closed the connection.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EINTR)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
