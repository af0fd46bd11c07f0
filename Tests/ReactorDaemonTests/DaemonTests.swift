import Foundation
import Logging
import ReactorCore
import ReactorDaemon
import StockReactors
import TestPrograms
import Testing

/// A daemon embedded in another program.
///
/// Drives ``ServerShell``.
struct DaemonTests {
    private func daemon(
        _ directory: TestDirectory, whenOpen: @escaping (Tree) throws -> Void = { _ in }
    ) throws -> Daemon {
        let text = """
            socket: \(directory.path("s"))
            data:
              directory: \(directory.path("data"))
            """
        return try Daemon(
            root: Counter(), config: DaemonConfig(yaml: text, file: "d.yaml", reactors: .inCode),
            environment: [:], uid: geteuid(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, whenOpen: whenOpen)
    }

    @Test("after a daemon is released, another can use the same socket and data")
    func again() throws {
        let directory = TestDirectory()
        for _ in 0..<3 { _ = try daemon(directory) }
        let held = try daemon(directory)
        #expect(throws: DaemonError.self) { try daemon(directory) }
        #expect(held.socketPath == directory.path("s"))
    }

    @Test("a daemon whose whenOpen throws releases its socket and data too")
    func refused() throws {
        struct Refused: Error {}
        let directory = TestDirectory()
        #expect(throws: DaemonError.self) {
            try daemon(directory) { _ in throw Refused() }
        }
        _ = try daemon(directory)
    }
}
