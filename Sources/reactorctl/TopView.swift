import ReactorWire

/// A report on a daemon's activity between two moments.
struct TopView {
    /// What happened for a path or a client in the time between.
    struct Rate {
        var name: String
        var perSecond: Double
    }

    private let now: DaemonActivity
    private let seconds: Double
    private let increases: [String: UInt64]
    /// Paths with actions, the busiest first.
    let paths: [Rate]
    /// Clients, the busiest first.
    let clients: [(entry: ClientEntry, perSecond: Double)]
    private let durations: [(name: String, counts: [UInt64])]

    /// Compares `now` with an earlier activity; if both are the same, with the daemon's start.
    init(_ now: DaemonActivity, since earlier: DaemonActivity) {
        self.now = now
        seconds = max(Double(now.time &- earlier.time) / 1e9, 1e-9)
        let isFirst = now.time == earlier.time
        let seconds = seconds
        func rate(_ count: UInt64, _ former: UInt64?) -> Double {
            isFirst ? 0 : Double(count - min(count, former ?? 0)) / seconds
        }
        increases = now.counters.reduce(into: [:]) { increases, counter in
            let former = earlier.counters[counter.key] ?? 0
            increases[counter.key] = counter.value - min(counter.value, former)
        }
        let formerNodes = Dictionary(
            earlier.nodes.map { ($0.path, $0.actions) }, uniquingKeysWith: { $1 })
        var paths = now.nodes.map {
            // A path that was not listed before may have had actions before.
            Rate(name: $0.path, perSecond: rate($0.actions, formerNodes[$0.path]))
        }
        let others = rate(now.otherActions, earlier.otherActions)
        if others > 0 { paths.append(Rate(name: "(others)", perSecond: others)) }
        self.paths = paths.filter { $0.perSecond > 0 || isFirst }
            .sorted { ($1.perSecond, $0.name) < ($0.perSecond, $1.name) }
        let formerClients = Dictionary(
            earlier.clients.map { ($0.connection, $0.actions) }, uniquingKeysWith: { $1 })
        clients = now.clients.map { ($0, rate($0.actions, formerClients[$0.connection])) }
            .sorted {
                ($1.perSecond, $1.entry.queueBytes, $0.entry.connection)
                    < ($0.perSecond, $0.entry.queueBytes, $1.entry.connection)
            }
        func increase(_ counts: [UInt64], _ former: [UInt64]) -> [UInt64] {
            isFirst ? counts : zip(counts, former).map { $0 - min($0, $1) }
        }
        durations = [
            ("turn", increase(now.turnDurations, earlier.turnDurations)),
            ("action", increase(now.actionDurations, earlier.actionDurations)),
            ("commit", increase(now.commitDurations, earlier.commitDurations)),
        ]
    }

    private func perSecond(_ name: String) -> Double { Double(increases[name] ?? 0) / seconds }

    private func current(_ name: String) -> UInt64 { now.counters[name] ?? 0 }

    private var queueBytes: UInt64 { now.clients.reduce(0) { $0 + $1.queueBytes } }

    /// The upper bound of the range that contains the quantile; nil without a duration. The last
    /// range has no bound, and counts as the maximum.
    static func quantile(_ quantile: Double, of counts: [UInt64], _ bounds: [UInt64]) -> UInt64? {
        let total = counts.reduce(0, +)
        guard total > 0 else { return nil }
        let rank = max(1, UInt64((Double(total) * quantile).rounded(.up)))
        var sum: UInt64 = 0
        for (index, count) in counts.enumerated() {
            sum += count
            if sum >= rank { return index < bounds.count ? bounds[index] : .max }
        }
        return .max
    }

    // MARK: Lines of JSON

    /// The report as one line of JSON.
    var json: String {
        var fields: [(String, WireValue)] = [
            ("seconds", .float(seconds)),
            ("actionsPerSecond", .float(perSecond("actions"))),
            ("rejectionsPerSecond", .float(perSecond("rejections"))),
            ("turnsPerSecond", .float(perSecond("turns"))),
            ("connections", .number(current("connections"))),
            ("queueBytes", .number(queueBytes)), ("residentBytes", .number(now.residentBytes)),
        ]
        for (name, counts) in durations {
            for (label, quantile) in [("P50", 0.5), ("P99", 0.99)] {
                guard let bound = Self.quantile(quantile, of: counts, now.bounds) else { continue }
                fields.append(("\(name)\(label)Nanoseconds", .number(bound)))
            }
        }
        let paths = paths.map { Self.map([("path", .text($0.name)), Self.rate($0.perSecond)]) }
        let clients = clients.filter { $0.perSecond > 0 }.map { client, rate in
            Self.map([
                ("connection", .number(client.connection)), ("uid", .number(UInt64(client.uid))),
                ("pid", .number(UInt64(max(0, client.pid)))), Self.rate(rate),
            ])
        }
        fields.append(("alarms", .array(now.alarms.map { .text($0) })))
        fields.append(("paths", .array(paths)))
        fields.append(("clients", .array(clients)))
        let pairs = fields.map { "\(WireValue.text($0.0).json()):\($0.1.json())" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func rate(_ perSecond: Double) -> (String, WireValue) {
        ("actionsPerSecond", .float(perSecond))
    }

    private static func map(_ fields: [(String, WireValue)]) -> WireValue {
        var map = WireMap()
        for (name, value) in fields { map[WireKey(name)] = value }
        return .map(map)
    }
}

// MARK: - A terminal
extension TopView {
    /// Columns from which on the two tables stand side by side.
    static let wideColumnsMin = 120

    /// The report for a terminal of this size: at most `rows` lines of at most `columns` characters.
    func lines(title: String, columns: Int, rows: Int) -> [String] {
        var lines = [title] + alarms + figures + [""]
        let room = max(0, rows - lines.count)
        if columns >= Self.wideColumnsMin {
            let left = columns / 2 - 1
            let paths = pathTable(rows: room).map { Self.padded($0, to: left) }
            let clients = clientTable(rows: room)
            for index in 0..<max(paths.count, clients.count) {
                let path =
                    index < paths.count ? paths[index] : String(repeating: " ", count: left)
                lines.append(path + "  " + (index < clients.count ? clients[index] : ""))
            }
        } else {
            let paths = pathTable(rows: max(0, (room - 1) / 2))
            lines += paths + [""]
            lines += clientTable(rows: max(0, room - paths.count - 1))
        }
        return lines.prefix(max(0, rows)).map { String($0.prefix(max(0, columns))) }
    }

    /// Maximum number of alarms on a terminal.
    static let alarmsMax = 3

    /// The gravest alarms; the last line has the number of further ones.
    private var alarms: [String] {
        let shown = now.alarms.prefix(Self.alarmsMax).map { "ALARM " + $0.terminalSafe }
        let left = now.alarms.count - shown.count
        return left > 0 ? shown.dropLast() + ["\(shown[shown.count - 1]), and \(left) more"] : shown
    }

    private var figures: [String] {
        func amount(_ name: String) -> String { DurationLabel.amount(perSecond(name)) + "/s" }
        let memory = DurationLabel.bytes(now.residentBytes)
        let queues = DurationLabel.bytes(queueBytes)
        var lines = [
            "actions \(amount("actions"))  rejected \(amount("rejections"))  "
                + "turns \(amount("turns"))  received "
                + "\(DurationLabel.bytes(UInt64(perSecond("bytesReceived"))))/s",
            "clients \(current("connections"))  subscriptions \(current("subscriptions"))  "
                + "sessions \(current("sessions"))  nodes \(current("nodes"))  "
                + "sequence \(current("sequence"))",
            "memory \(memory)  queues \(queues)  conflated \(amount("conflations"))  "
                + "faults \(amount("faults"))",
        ]
        for (name, counts) in durations {
            let labels = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1)].map {
                label, quantile in
                let bound = Self.quantile(quantile, of: counts, now.bounds)
                return Self.padded("\(label) \(Self.text(bound))", to: 13)
            }
            let total = DurationLabel.amount(Double(counts.reduce(0, +)) / seconds)
            lines.append(Self.padded(name, to: 8) + labels.joined() + "\(total)/s")
        }
        return lines
    }

    private static func text(_ bound: UInt64?) -> String {
        switch bound {
        case nil: "-"
        case UInt64.max?: ">10s"
        case let bound?: "≤" + DurationLabel.text(bound)
        }
    }

    private func pathTable(rows: Int) -> [String] {
        guard rows > 0 else { return [] }
        return ["  ACTIONS/s  PATH"]
            + paths.prefix(rows - 1).map {
                Self.right(DurationLabel.amount($0.perSecond), 11) + "  " + $0.name.terminalSafe
            }
    }

    private func clientTable(rows: Int) -> [String] {
        guard rows > 0 else { return [] }
        return ["  ACTIONS/s      QUEUE  SUBSCR     ID    UID      PID  PROGRAM"]
            + clients.prefix(rows - 1).map { client, rate in
                Self.right(DurationLabel.amount(rate), 11)
                    + Self.right(DurationLabel.bytes(client.queueBytes), 11)
                    + Self.right("\(client.subscriptions)", 8)
                    + Self.right("\(client.connection)", 7) + Self.right("\(client.uid)", 7)
                    + Self.right("\(client.pid)", 9) + "  " + client.program.terminalSafe
            }
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        let cut = String(text.prefix(width))
        return cut + String(repeating: " ", count: max(0, width - cut.count))
    }
}
