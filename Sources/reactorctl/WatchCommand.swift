import ArgumentParser
import Glibc
import ReactorClient
import ReactorWire

/// `reactorctl watch`: prints a slice's state now and after every change.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a slice's state, now and whenever it changes.",
        discussion: """
            Changes that arrive faster than they are read are combined. If the connection is lost, \
            the command reports it on standard error and waits for the daemon.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or a field of its state.")
    var path: String

    @Option(name: .long, help: ArgumentHelp("End after so many lines.", valueName: "n"))
    var count: Int?

    @Flag(
        name: .long,
        help: ArgumentHelp(
            "After the first line, print only what changed.",
            discussion: "A line has a JSON merge patch as its state: null for a removed key."))
    var changes = false

    @OptionGroup var recency: SyncOptions

    @OptionGroup var selecting: SelectionOptions

    mutating func validate() throws {
        if let count, count < 1 { throw ValidationError("--count \(count): expected 1 or more") }
    }

    mutating func run() async throws {
        let selection = try selecting.selection()
        let client = try await connection.connect()
        try await recency.sync(client)
        let report = ConnectionReport.start(client)
        defer { report.cancel() }
        var left = count ?? .max
        var last: WireValue??
        Output.watchReader { Glibc.exit(0) }
        do {
            for try await (revision, value) in client.watch(path, selecting: selection) {
                guard let shown = difference(value, from: &last, selection) else { continue }
                try Output.line(stateLine(revision, shown))
                left -= 1
                if left == 0 { break }
            }
        } catch let error as ClientError {
            report.cancel()
            throw Failure(error, path: path)
        }
        // Before the client ends its connection itself, which is no loss.
        report.cancel()
        client.close()
    }

    /// The state to print: the value, or with `--changes` its difference from the last one. Returns
    /// `nil` if there is none.
    private func difference(
        _ value: WireValue?, from last: inout WireValue??, _ selection: Selection?
    ) -> WireValue?? {
        guard changes else { return .some(value.map { selection?.shown($0) ?? $0 }) }
        defer { last = value }
        guard case .some(.some(let old)) = last, let value else { return value }
        return value.mergePatch(from: old).map { .some($0) }
    }
}

/// Tells the user of a waiting command when the connection is lost.
enum ConnectionReport {
    /// Reports on standard error when the connection is lost and when there is one again, until the
    /// task is cancelled.
    static func start(_ client: Client) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                guard let number = try? await client.connectionCount(),
                    (try? await client.connectionEnds(number)) != nil, !Task.isCancelled
                else { return }
                Output.complain(
                    "lost the connection to \(client.socketPath): waiting for the daemon")
                guard (try? await client.becomesLive()) != nil, !Task.isCancelled,
                    (try? await client.isLive()) == true
                else { return }
                Output.complain("connected to \(client.socketPath) again")
            }
        }
    }
}
