import Foundation
import ReactorClient
import ReactorCore
import ReactorDaemonCommand
import ReactorTesting
import TestPrograms
import Testing

// What the tutorial shows, line for line: another test holds the two together. Its reactor stands
// beside; that its programs are a program's own, `@main` says in the examples.

struct GuestbookTests {
    @Test("a guest signs, and strikes only what is there")
    func signing() {
        let store = TestStore(Guestbook())
        store.send(.sign(name: "Ada", text: "hello")) {
            $0.lastNumber = 1
            $0.entries[1] = "Ada: hello"
        }
        store.sendRejected(.strike(7), "unknown")
        store.finish()
    }

    @Test("what one guest signs, another sees")
    func mirrors() throws {
        let daemon = TestDaemon(Guestbook())
        let book = try daemon.connect().mirror(Guestbook.self)
        let ada = daemon.connect()
        _ = try ada.dispatch(Guestbook.Action.sign(name: "Ada", text: "hello"))
        #expect(book.state.entries[1] == "Ada: hello")
    }
}

struct GuestbookDaemon: DaemonCommand {
    static let abstract = "Keeps a guestbook."
    static var reactors: DaemonReactors { .root(Guestbook()) }
}

struct Sign {
    static func main() async throws {
        let client = try await Client.connect()
        let book = try await client.mirror(Guestbook.self, at: "/")
        let outcome = await book.dispatch(.sign(name: "Bob", text: "hello back"))
        if case .rejected(let rejection) = outcome { print(rejection.message) }
        for await entries in book.states(\.entries) {
            for number in entries.keys.sorted() { print(number, entries[number] ?? "") }
        }
    }
}

@Suite("guide: the tutorial", .timeLimit(.minutes(1)))
struct TutorialTests {
    /// The lines of the tutorial's blocks of one kind.
    private static func lines(of kind: String) throws -> [String] {
        let path = Built.root + "/Sources/ReactorCore/ReactorCore.docc/Tutorial.md"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.components(separatedBy: "```\(kind)\n").dropFirst().flatMap { rest in
            rest.prefix(while: { $0 != "`" }).split(separator: "\n").map(String.init)
        }
    }

    /// Runs a line in a shell that knows the products and the daemon.
    private func run(
        _ line: String, _ daemon: LiveDaemon, in directory: TestDirectory
    ) async throws -> (code: Int32?, output: String) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let folder = Built.product("").trimmingCharacters(in: ["/"])
        let process = try ChildProcess(
            "/bin/sh", ["-c", line],
            environment: ["PATH": "/\(folder):\(path)", "REACTORD_SOCKET": daemon.path],
            in: directory, name: UUID().uuidString)
        guard case .exited(let code) = await process.ended() else { return (nil, process.output) }
        return (code, process.output)
    }

    @Test("its shell lines do what it says")
    func shell() async throws {
        let daemon = try LiveDaemon(Guestbook())
        let directory = TestDirectory()
        let lines = try Self.lines(of: "sh run")
        #expect(lines.count == 4)
        for line in lines {
            let (code, output) = try await run(line, daemon, in: directory)
            #expect(code == 0, "\(line)")
            if line.contains("get") { #expect(output.contains("Ada: hello")) }
        }
        let refused = try Self.lines(of: "sh fails")
        #expect(refused.count == 1)
        for line in refused {
            let (code, _) = try await run(line, daemon, in: directory)
            #expect(code != nil && code != 0, "\(line)")
        }
    }

    @Test("its daemon serves its reactor, and its client's mirror shows what is signed")
    func client() async throws {
        guard case .root(let root) = GuestbookDaemon.reactors else {
            Issue.record("the tutorial's daemon serves what a configuration says")
            return
        }
        #expect(root is Guestbook)
        let daemon = try LiveDaemon(Guestbook())
        let client = try await Client.connect(to: daemon.path)
        let book = try await client.mirror(Guestbook.self, at: "/")
        guard case .applied = await book.dispatch(.sign(name: "Bob", text: "hello back")) else {
            Issue.record("the entry was not signed")
            return
        }
        #expect(book.state.entries[1] == "Bob: hello back")
        client.close()
    }
}
