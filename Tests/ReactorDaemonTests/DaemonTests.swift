import Foundation
import Logging
import ReactorCore
import ReactorDaemon
import StockReactors
import TestPrograms
import Testing

/// A daemon in a program of somebody's own.
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

    @Test("who lets go of a daemon may make another at the same socket, of the same data")
    func again() throws {
        let directory = TestDirectory()
        for _ in 0..<3 { _ = try daemon(directory) }
        let held = try daemon(directory)
        #expect(throws: DaemonError.self) { try daemon(directory) }
        #expect(held.socketPath == directory.path("s"))
    }

    @Test("one that its program refuses lets go of all as well")
    func refused() throws {
        struct Refused: Error {}
        let directory = TestDirectory()
        #expect(throws: DaemonError.self) {
            try daemon(directory) { _ in throw Refused() }
        }
        _ = try daemon(directory)
    }
}
