import Logging
import ReactorLoop
import ReactorServer
import ReactorWire

extension DaemonConfig {
    /// Describes a daemon with this configuration for `reactord --check`, one fact per line.
    /// Paths that the configuration does not name are followed by the environment variable that
    /// determines them.
    ///
    /// *Throws*: if the environment determines no usable path.
    package func summary(
        environment: [String: String], uid: UInt32
    ) throws(DaemonError) -> String {
        var lines = [
            row("config", file),
            row("socket", try socketText(environment, uid)),
            row("log", "\(logLevel.rawValue), as \(logFormat.rawValue)"),
            row("loop", loopText),
            row("process", allowsCoreDumps ? "may dump core" : "dumps no core"),
        ]
        if permissions != SocketPermissions() { lines.insert(row("mode", permissionsText), at: 2) }
        if let adminSocket { lines.append(row("admin", ConfigProblem.escaped(adminSocket))) }
        if let access {
            lines.append("access")
            for (name, value) in access.rows { lines.append("  " + row(name, value, width: 32)) }
        }
        lines.append("metrics")
        for (name, value) in metrics.rows { lines.append("  " + row(name, value, width: 32)) }
        lines.append("slowLog")
        for (name, value) in slowLog.rows { lines.append("  " + row(name, value, width: 32)) }
        lines.append("data")
        for (name, value) in try dataRows(environment, uid) {
            lines.append("  " + row(name, value, width: 32))
        }
        if let cluster {
            lines.append("cluster")
            for (name, value) in cluster.rows { lines.append("  " + row(name, value, width: 32)) }
        }
        lines.append("limits")
        for entry in LimitTable.entries {
            let text = LimitTable.text(of: entry, in: limits)
            let isDefault = text == LimitTable.text(of: entry, in: ServerLimits())
            lines.append("  " + row(entry.name, isDefault ? text : "\(text) (set)", width: 32))
        }
        if !quotas.rules.isEmpty {
            lines.append("quotas")
            for (name, value) in quotas.rows { lines.append("  " + row(name, value, width: 32)) }
        }
        lines.append("memory")
        for (name, value) in memoryRows { lines.append("  " + row(name, value, width: 32)) }
        lines.append("reactors")
        if reactors.isEmpty { lines.append("  " + row("/", "(in the daemon's code)", width: 32)) }
        for spec in reactors { append(spec, under: .root, to: &lines) }
        return lines.joined(separator: "\n")
    }

    /// What clients may take at most, the ceiling, and the maximum of states.
    private var memoryRows: [(String, String)] {
        var limits = limits
        MemoryCeiling.chooseAutomatic(in: &limits)
        let connection = limits.connectionBytesMax
        let user = Self.product(connection, limits.connectionsPerUIDMax)
        let clients = Self.product(connection, limits.connectionsMax)
        let worst = clients.addingReportingOverflow(limits.sharedBytesMax)
        let (ceiling, rest) = (limits.memoryMax, limits.memoryMax - worst.partialValue)
        var ceilingText = ceiling == 0 ? "none" : ByteSizeText.format(ceiling)
        if self.limits.memoryMax == 0, let origin = MemoryCeiling.automatic?.origin {
            ceilingText += " (\(origin))"
        }
        let restText =
            ceiling == 0
            ? "whatever the machine has"
            : rest > 0
                ? ByteSizeText.format(rest)
                : "none: at the ceiling, the heaviest clients are closed first"
        let states = limits.stateByteCountMax
        let all = worst.partialValue.addingReportingOverflow(states)
        let allText =
            states == 0
            ? "whatever the machine has"
            : ceiling > 0 && all.partialValue > ceiling
                ? "\(ByteSizeText.format(all.partialValue)), more than the ceiling"
                : ByteSizeText.format(all.partialValue)
        return [
            ("ceiling", ceilingText),
            ("states", states == 0 ? "no maximum" : ByteSizeText.format(states)),
            ("one connection", ByteSizeText.format(connection)),
            ("one user", ByteSizeText.format(min(user, limits.memoryPerUIDMax))),
            ("all connections", ByteSizeText.format(clients)),
            ("shared by all", ByteSizeText.format(limits.sharedBytesMax)),
            ("worst case without states", ByteSizeText.format(worst.partialValue)),
            ("sure to be left for states", restText), ("worst case with states", allText),
        ] + startRows(states, ceiling)
    }

    /// What the daemon needs beside its states: for its next start, and for a state of the past.
    private func startRows(_ states: Int, _ ceiling: Int) -> [(String, String)] {
        guard data != nil, states > 0 else { return [] }
        // A start reads the largest part of a snapshot; a state of the past needs a tree as well.
        let past = "up to \(ByteSizeText.format(Self.product(states, 2)))"
        let refusal = ceiling == 0 ? "" : ", or BUSY where that does not fit"
        return [
            ("kept free for a start", "the largest state, up to \(ByteSizeText.format(states))"),
            ("one state of the past", past + refusal),
        ]
    }

    private static func product(_ byteCount: Int, _ count: Int) -> Int {
        let (product, overflow) = byteCount.multipliedReportingOverflow(by: count)
        return overflow ? .max / 2 : product
    }

    private var permissionsText: String {
        let digits = String(permissions.mode, radix: 8)
        let mode = String(repeating: "0", count: 4 - digits.count) + digits
        return permissions.gid.map { "\(mode), group \($0)" } ?? mode
    }

    private var loopText: String {
        let text = spin == .zero ? "sleeps at once" : "spins \(DurationText.format(spin))"
        return watchdog == .zero
            ? text : "\(text), ends the daemon if stuck for \(DurationText.format(watchdog))"
    }

    private func socketText(
        _ environment: [String: String], _ uid: UInt32
    ) throws(DaemonError) -> String {
        if let socket { return ConfigProblem.escaped(socket) }
        let candidate = try BoundSocket.candidate(of: name, environment: environment, uid: uid)
        return ConfigProblem.escaped("\(candidate)")
    }

    private func dataRows(
        _ environment: [String: String], _ uid: UInt32
    ) throws(DaemonError) -> [(String, String)] {
        guard let data else { return [("kept", "in memory, until the daemon ends")] }
        if let directory = data.directory { return data.rows(directory: directory) }
        let fallback: DefaultDataDirectory?
        do throws(DaemonNameError) {
            fallback = try DefaultDataDirectory(of: name, environment, uid: uid)
        } catch {
            throw .name(error)
        }
        guard let fallback else { throw .noDataDirectory }
        return data.rows(directory: "\(fallback.path) (\(fallback.origin))")
    }

    private func append(_ spec: ReactorSpec, under parent: SlicePath, to lines: inout [String]) {
        let path = parent.appending(WireKey(spec.name))
        let options = spec.options.keys.sorted().map { name in
            "\(name): \(spec.options[name].map(ConfigValue.summary) ?? "")"
        }
        let kind = spec.kind.map(ConfigProblem.escaped) ?? "(group)"
        let what = ([kind] + options).joined(separator: ", ")
        lines.append("  " + row(path.description, what, width: 32))
        for child in spec.children { append(child, under: path, to: &lines) }
    }

    private func row(_ name: String, _ value: String, width: Int = 10) -> String {
        let gap = String(repeating: " ", count: max(1, width - name.count))
        return name + gap + value
    }
}
