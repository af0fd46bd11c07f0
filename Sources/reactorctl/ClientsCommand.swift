import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl clients`: lists the daemon's open connections.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "List the daemon's open connections, oldest first.",
        discussion: """
            Only for the daemon's user and root. The connection of this command is listed too. \
            `queueBytes` waits for the client to read it, `inputBytes` for the daemon to handle it.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Print a line of JSON per connection, on a terminal too.")
    var json = false

    mutating func run() async throws {
        let client = try await connection.connect()
        let entries = try await Failure.explain { () throws(ClientError) in
            try await client.clients()
        }
        client.close()
        guard Output.isTerminal, !json else {
            for entry in entries { try Output.line(entry.json) }
            return
        }
        for line in TextTable.lines([ClientEntry.titles] + entries.map(\.cells)) {
            try Output.line(line)
        }
    }
}

/// `reactorctl kick`: ends a connection of the daemon.
struct KickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kick",
        abstract: "End a connection of the daemon.",
        discussion: """
            Only for the daemon's user and root. The client gets the output that waits for it, loses \
            what it owned, and may connect again. `reactorctl clients` shows the numbers.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The number of the connection.")
    var number: UInt64

    mutating func run() async throws {
        let client = try await connection.connect()
        let number = number
        let entry = try await Failure.explain { () throws(ClientError) in
            try await client.kick(number)
        }
        client.close()
        try Output.line(entry.json)
    }
}

extension ClientEntry {
    /// The entry as one line of JSON.
    fileprivate var json: String {
        WireValue.json(object: [
            "connection": .number(connection), "uid": .number(UInt64(uid)),
            "gid": .number(UInt64(gid)), "pid": .number(UInt64(max(0, pid))),
            "program": .text(program), "ageMilliseconds": .number(age),
            "queueBytes": .number(queueBytes), "inputBytes": .number(inputBytes),
            "subscriptions": .number(subscriptions), "actions": .number(actions),
            "inFlight": .number(inFlight),
        ])
    }

    /// The titles of a table's columns.
    fileprivate static let titles = [
        "ID", "UID", "PID", "PROGRAM", "AGE", "QUEUE", "INPUT", "SUBSCR", "ACTIONS", "IN FLIGHT",
    ]

    /// The entry as a row of a table.
    fileprivate var cells: [String] {
        [
            "\(connection)", "\(uid)", "\(pid)", program, "\(age / 1_000)s", "\(queueBytes)",
            "\(inputBytes)", "\(subscriptions)", "\(actions)", "\(inFlight)",
        ]
    }
}

/// Rows of text, as lines with aligned columns.
enum TextTable {
    /// The lines of `rows`, which have equally many cells; numbers and their titles are at the
    /// right. A hyphen stands for a missing number.
    static func lines(_ rows: [[String]]) -> [String] {
        guard let first = rows.first else { return [] }
        let columns = first.indices.map { column in
            (
                width: rows.map { $0[column].count }.max() ?? 0,
                isNumber: rows.dropFirst().allSatisfy { isNumber($0[column]) }
            )
        }
        return rows.map { row in
            let cells = zip(row, columns).map { cell, column in
                let gap = String(repeating: " ", count: column.width - cell.count)
                return column.isNumber ? gap + cell : cell + gap
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func isNumber(_ cell: String) -> Bool {
        let digits = ["+", "-"].contains(cell.first) ? cell.dropFirst() : cell[...]
        return digits.first?.isNumber ?? (cell == "-")
    }
}
