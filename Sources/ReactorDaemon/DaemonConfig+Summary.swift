import Logging
import ReactorServer
import ReactorWire

extension DaemonConfig {
    /// What a daemon with this configuration does, for `reactord --check`: one fact per line.
    public var summary: String {
        var lines = [
            row("config", file),
            row("socket", socket.map(ConfigProblem.escaped) ?? "chosen by the environment"),
            row("log", logLevel.rawValue),
            row("loop", spin == .zero ? "sleeps at once" : "spins \(DurationText.format(spin))"),
        ]
        lines.append("data")
        for (name, value) in data?.rows ?? [("kept", "in memory: gone when the daemon ends")] {
            lines.append("  " + row(name, value, width: 32))
        }
        lines.append("limits")
        for entry in LimitTable.entries {
            let text = LimitTable.text(of: entry, in: limits)
            let isDefault = text == LimitTable.text(of: entry, in: ServerLimits())
            lines.append("  " + row(entry.name, isDefault ? text : "\(text) (set)", width: 32))
        }
        lines.append("reactors")
        if reactors.isEmpty { lines.append("  " + row("/", "(in the daemon's code)", width: 32)) }
        for spec in reactors { append(spec, under: .root, to: &lines) }
        return lines.joined(separator: "\n")
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
