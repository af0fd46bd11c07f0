import ArgumentParser
import LoginExample
import ReactorClient
import ReactorCore

/// `login-demo type`: reads lines from standard input and sends them to the form.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Fill in the form: `user TEXT`, `password TEXT`, `login`.")

    @Option(help: "The daemon's socket; by default the usual places of login-daemon.")
    var socket: String?

    func run() async throws {
        let client = try await Client.connect(
            to: socket.map { .socket($0) } ?? .daemon("login-daemon"))
        let form = try await client.mirror(Login.self, at: "/")
        while let line = readLine() {
            guard let action = Login.Action(line: line) else {
                StandardOutput.write("type `user TEXT`, `password TEXT` or `login`")
                continue
            }
            if case .rejected(let rejection) = await form.dispatch(action) {
                StandardOutput.write("not yet: \(rejection.message)")
            }
        }
    }
}

extension Login.Action {
    /// Parses a line; nil if it is not a command.
    fileprivate init?(line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch words.first {
        case "user": self = .user(words.dropFirst().first ?? "")
        case "password": self = .password(words.dropFirst().first ?? "")
        case "login": self = .logIn
        default: return nil
        }
    }
}
