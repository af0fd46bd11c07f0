import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl export`: prints states as lines of JSON.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the states of reactors at one revision, as a line of JSON each.",
        discussion: """
            reactorctl export > all.jsonl
            reactorctl export /jobs --at 9f86d081884c7d65:42 > jobs.jsonl

            `reactord import` imports such a file while the daemon is not running. Objects owned by \
            connections are shown as after a restart of the daemon: locks are free, presences are \
            empty, claimed jobs wait.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor; all reactors below it are printed too.")
    var path = "/"

    @OptionGroup var past: PastOptions

    mutating func run() async throws {
        let client = try await connection.connect()
        var revision = past.revision(of: client)
        var skip: UInt64 = 0
        while true {
            let (path, at, from) = (path, revision, skip)
            let page = try await Failure.explain(path) { () throws(ClientError) in
                try await client.export(path, at: at, skip: from)
            }
            for node in page.nodes {
                let state = (try? node.state.decode(as: WireValue.self)) ?? .null
                try Output.line(
                    WireValue.json(object: [
                        "path": .text(node.path), "reactor": .text(node.reactor), "state": state,
                    ]))
            }
            guard let next = page.next else { break }
            (revision, skip) = (page.revision, next)
        }
        client.close()
    }
}

/// The revision option of queries about the past.
struct PastOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The state at this revision: epoch:sequence, or a sequence of the current epoch.",
            valueName: "revision"))
    var at: String?

    mutating func validate() throws {
        guard let at, RevisionText.parse(at, epoch: 0) == nil else { return }
        throw ValidationError("--at \(at): expected \(RevisionText.expectation)")
    }

    /// The revision of the option, or nil without it.
    func revision(of client: Client) -> Revision? {
        at.flatMap { RevisionText.parse($0, epoch: client.welcome.epoch) }
    }
}

/// Revisions as text.
enum RevisionText {
    static let expectation =
        "the form that `get --revision` prints, such as 9f86d081884c7d65:42, or a number"

    /// Parses a revision; a plain number is a sequence of `epoch`.
    static func parse(_ text: String, epoch: UInt64) -> Revision? {
        if let revision = Revision(text) { return revision }
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return UInt64(text).map { Revision(epoch: epoch, sequence: $0) }
    }
}
