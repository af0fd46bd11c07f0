import ArgumentParser
import Glibc
import ReactorClient
import ReactorWire

/// `reactorctl slowlog`: prints the operations that took long.
struct SlowLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slowlog",
        abstract: "Print the latest operations that took long, oldest first.",
        discussion: """
            Only for the daemon's user and root. The configuration's `slowLog:` sets the thresholds. \
            Actions that arrive together are measured together: if they went to several reactors, \
            the line shows the last one, and `mixed`.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Continue with new entries as they appear, about once a second.")
    var follow = false

    @Flag(name: .long, help: "Print a line of JSON per entry, on a terminal too.")
    var json = false

    mutating func run() async throws {
        let client = try await connection.connect()
        if follow { Output.watchReader { Glibc.exit(0) } }
        let isJSON = json || !Output.isTerminal
        var last: UInt64 = 0
        repeat {
            let after = last
            let entries = try await Failure.explain { () throws(ClientError) in
                try await client.slowLog(after: after)
            }
            for entry in entries { try Output.line(isJSON ? entry.json : entry.text) }
            last = entries.last?.number ?? last
            if follow { try await Task.sleep(for: .seconds(1)) }
        } while follow
        client.close()
    }
}

extension SlowEntry {
    /// The entry as one line of JSON.
    fileprivate var json: String {
        var fields: [(String, WireValue)] = [
            ("number", .number(number)), ("time", .text(TimestampText.format(milliseconds: time))),
            ("kind", .text(kind.rawValue)), ("nanoseconds", .number(nanoseconds)),
        ]
        if let connection { fields.append(("connection", .number(connection))) }
        if let uid { fields.append(("uid", .number(UInt64(uid)))) }
        if let pid { fields.append(("pid", .number(UInt64(max(0, pid))))) }
        if let question { fields.append(("question", .text(question))) }
        if let path { fields.append(("path", .text(path))) }
        if isMixed { fields.append(("mixed", .bool(true))) }
        if actions > 0 { fields.append(("actions", .number(actions))) }
        if bytes > 0 { fields.append(("bytes", .number(bytes))) }
        let pairs = fields.map { "\(WireValue.text($0.0).json()):\($0.1.json())" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// The entry as text for a terminal.
    fileprivate var text: String {
        var words = [
            TimestampText.format(milliseconds: time), kind.rawValue,
            DurationLabel.text(nanoseconds),
        ]
        if let uid, let pid { words.append("uid \(uid) pid \(pid)") }
        if let connection { words.append("connection \(connection)") }
        if let question { words.append(question) }
        if actions > 0 { words.append("\(actions) actions") }
        if bytes > 0 { words.append("\(bytes) bytes") }
        if let path { words.append(isMixed ? "\(path) and others" : path) }
        return words.joined(separator: "  ")
    }
}

/// Durations and amounts as short texts.
enum DurationLabel {
    /// Nanoseconds with three digits and a unit: `12.3ms`.
    static func text(_ nanoseconds: UInt64) -> String {
        let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")]
        for (size, unit) in units where nanoseconds >= size {
            return digits(nanoseconds * 10 / size) + unit
        }
        return "\(nanoseconds)ns"
    }

    /// An amount with at most four digits and a unit of a thousand: `12.3k`.
    static func amount(_ number: Double) -> String {
        let units = [(1e9, "G"), (1e6, "M"), (1e4, "k")]
        for (size, unit) in units where number >= size {
            return digits(UInt64(number * 10 / (unit == "k" ? 1e3 : size))) + unit
        }
        return digits(UInt64(max(0, number) * 10))
    }

    /// Bytes with a unit of 1,024: `12.3 KiB`.
    static func bytes(_ count: UInt64) -> String {
        let units: [(UInt64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        for (size, unit) in units where count >= size {
            return digits(count * 10 / size) + " " + unit
        }
        return "\(count) B"
    }

    /// Tenths as a number; without the tenth from 100 on.
    private static func digits(_ tenths: UInt64) -> String {
        tenths >= 1_000 || tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
