import ArgumentParser
import Glibc
import ReactorClient
import ReactorWire

/// `reactorctl log`: prints the history of actions, with user, time and changes.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Print the history of actions with user and time, as far back as it is kept.",
        discussion: """
            reactorctl log /visits
            reactorctl log / --from 9f86d081884c7d65:42 --follow --json

            An entry is a transaction at or below the path: its revision, time, user and process, \
            the action and its outcome, and the changes. Actions that were not applied have no \
            revision. Changes without an action follow from the action with the same number. What \
            the daemon's author marks as secret is shown as (secret), except to administrators.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor; entries of reactors below it are printed too.")
    var path = "/"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Begin with this revision: epoch:sequence, or a sequence of the current epoch.",
            valueName: "revision"))
    var from: String?

    @Flag(name: .long, help: "Continue with new entries as they appear.")
    var follow = false

    @Flag(name: .long, help: "Print a line of JSON per entry, on a terminal too.")
    var json = false

    mutating func validate() throws {
        guard let from, RevisionText.parse(from, epoch: 0) == nil else { return }
        throw ValidationError("--from \(from): expected \(RevisionText.expectation)")
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        if follow { Output.watchReader { Glibc.exit(0) } }
        let first = from.flatMap { RevisionText.parse($0, epoch: client.welcome.epoch) }
        let isJSON = json || !Output.isTerminal
        var mark: LogMark?
        var hasFound = first != nil
        repeat {
            let (path, after, waits) = (path, mark, follow && hasFound)
            let page = try await Failure.explain(path) { () throws(ClientError) in
                try await client.log(path, from: first, after: after, waits: waits)
            }
            if mark == nil { complain(page.begin, first) }
            hasFound = hasFound || !page.entries.isEmpty
            if !hasFound, page.isEnd {
                try await checkPath(client)
                hasFound = true
            }
            for entry in page.entries {
                try Output.lines(isJSON ? entry.json : entry.text)
            }
            mark = page.position
            if !follow, page.isEnd || reaches(client.welcome, page) { break }
        } while true
        client.close()
    }

    // Without --follow, only the history up to the connection is printed, however fast the daemon
    // adds more.
    private func reaches(_ welcome: Welcome, _ page: LogPage) -> Bool {
        guard let last = page.entries.last(where: { $0.revision != nil })?.revision else {
            return false
        }
        return last.epoch == welcome.epoch && last.sequence >= welcome.sequence
    }

    /// Fails if no reactor exists at the path; a reactor without history is not an error.
    private func checkPath(_ client: Client) async throws(Failure) {
        let path = path
        _ = try await Failure.explain(path) { () throws(ClientError) in
            try await client.describe(path)
        }
    }

    private func complain(_ begin: Revision, _ first: Revision?) {
        guard begin.sequence > 0,
            // Sequences of different epochs are not comparable.
            first.map({ $0.epoch == begin.epoch && $0.sequence <= begin.sequence }) ?? true
        else { return }
        Output.complain("the history up to revision \(begin) is no longer kept")
    }
}

extension LogEntry {
    /// The entry as one line of JSON.
    var json: String {
        var fields: [(String, WireValue)] = []
        if let revision { fields.append(("revision", .text(revision.description))) }
        fields.append(("time", .text(timeText)))
        if let caller {
            fields.append(("uid", .number(UInt64(caller.uid))))
            fields.append(("pid", .number(UInt64(max(0, caller.pid)))))
        }
        if origin != .daemon {
            fields.append(("client", .number(origin.client)))
            fields.append(("ordinal", .number(origin.ordinal)))
        }
        let items = actions.map { LogLine.item($0.path, $0.name, $0.action) }
        if items.count == 1, let action = actions.first {
            fields.append(("path", .text(action.path)))
            fields.append((action.name, LogLine.value(action.action)))
        } else if !items.isEmpty {
            fields.append(("actions", .array(items)))
        }
        if let omitted { fields.append(("omitted", LogLine.value(omitted))) }
        if let outcome { fields += LogLine.fields(of: outcome) }
        if !mutations.isEmpty {
            let items = mutations.map {
                LogLine.item($0.path, $0.isStructural ? "tree" : "mutation", $0.mutation)
            }
            fields.append(("mutations", .array(items)))
        }
        if !replaced.isEmpty {
            fields.append(("imported", .array(replaced.map { .text($0) })))
        }
        return LogLine.json(fields)
    }

    /// The entry as text for a terminal.
    var text: String {
        var words = [revision.map { "\($0)" } ?? "-", timeText]
        if let caller { words.append("uid \(caller.uid) pid \(caller.pid)") }
        if caller == nil, origin != .daemon {
            words.append("caused by action \(origin.ordinal) of client \(origin.client)")
        }
        words += actions.map { "\($0.path.shown) \(LogLine.value($0.action).json())" }
        if let omitted {
            words.append(
                omitted.paths.map(\.shown).joined(separator: " ")
                    + " an action of \(omitted.byteCount) bytes, checksum \(omitted.checksum)")
        }
        if let outcome, let text = LogLine.text(of: outcome) { words.append(text) }
        if !replaced.isEmpty {
            words.append("imported \(replaced.map(\.shown).joined(separator: " "))")
        }
        let changes = mutations.map {
            "\n    \($0.path.shown) \(LogLine.value($0.mutation).json())"
        }
        return words.joined(separator: "  ") + changes.joined()
    }

    /// The entry's time in ISO 8601, with milliseconds.
    private var timeText: String {
        TimestampText.format(milliseconds: time)
    }
}

extension LogAction {
    /// The field's name in a line of JSON.
    fileprivate var name: String { isRaw ? "bytes" : "action" }
}

/// Formats the parts of an entry.
private enum LogLine {
    static func value(_ embedded: WireEmbedded) -> WireValue {
        (try? embedded.decode(as: WireValue.self)) ?? .null
    }

    static func value(_ omitted: LogOmission) -> WireValue {
        (try? WireValue(wireBytes: omitted.wireBytes())) ?? .null
    }

    static func item(_ path: String, _ name: String, _ embedded: WireEmbedded) -> WireValue {
        var map = WireMap()
        map["path"] = .text(path)
        map[WireKey(name)] = value(embedded)
        return .map(map)
    }

    static func fields(of outcome: Outcome) -> [(String, WireValue)] {
        switch outcome {
        case .applied(_, let reply, _):
            [("outcome", "applied")] + (reply.map { [("reply", value($0))] } ?? [])
        case .accepted: [("outcome", "accepted")]
        case .rejected(let code, let message):
            [("outcome", "rejected"), ("code", .text(code)), ("message", .text(message))]
        case .failed(let message): [("outcome", "failed"), ("message", .text(message))]
        }
    }

    static func text(of outcome: Outcome) -> String? {
        switch outcome {
        case .applied, .accepted: nil
        case .rejected(_, let message): "rejected: \(message.shown)"
        case .failed(let message): "failed: \(message.shown)"
        }
    }

    /// An object of fields known only at run time, in their order.
    static func json(_ fields: [(String, WireValue)]) -> String {
        let pairs = fields.map { "\(WireValue.text($0.0).json()):\($0.1.json())" }
        return "{" + pairs.joined(separator: ",") + "}"
    }
}

extension String {
    /// The text of a peer, in quotation marks unless it is printable ASCII.
    fileprivate var shown: String {
        utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } ? self : quoted(bytesMax: 4_096)
    }
}
