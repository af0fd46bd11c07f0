import ArgumentParser
import Foundation
import LoginExample
import ReactorClient

/// `login-demo show`: prints the form after every change, until a person logs in.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the form after every change.")

    @Option(help: "The daemon's socket; by default the usual places of login-daemon.")
    var socket: String?

    func run() async throws {
        let client = try await Client.connect(
            to: socket.map { .socket($0) } ?? .daemon("login-daemon"))
        let form = try await client.mirror(Login.self, at: "/")
        for await state in form.states() {
            StandardOutput.write(state.drawing)
            if state.isLoggedIn { break }
        }
    }
}

extension Login.State {
    fileprivate var drawing: String {
        let dots = String(repeating: "•", count: passwordLength)
        let verdict = isLoggedIn ? "welcome, \(user)" : message ?? "ready to log in"
        return "user [\(user)]  password [\(dots)]  \(verdict)"
    }
}

/// The lines that the commands print.
enum StandardOutput {
    /// Writes a line without buffering.
    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
