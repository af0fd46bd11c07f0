public import ReactorJournal
import ReactorLoop
public import ReactorWire
import ReactorYAML

/// Where and how a daemon stores its history: the `data:` section.
public struct DataConfig: Equatable, Sendable {
    /// The directory; nil for the default of the environment: see `DefaultDataDirectory`.
    public var directory: String?
    /// When outcomes are acknowledged: once they survive a power cut, or once they survive a
    /// crash of the process.
    public var durability = JournalDurability.strict
    /// Bytes of journal after the newest snapshot that trigger the next.
    public var snapshotBytes = 64 << 20
    /// Longest time before changes in the journal are covered by a snapshot.
    public var snapshotInterval = Duration.seconds(3_600)
    /// How long history older than the snapshots is kept, at most.
    public var keepDuration = Duration.seconds(24 * 3_600)
    /// Maximum bytes of history older than the snapshots.
    public var keepBytes = 1 << 30
    /// Maximum bytes of disk that the directory occupies, without the reserve; nil for no maximum.
    public var bytesMax: Int?
    /// Disk space in bytes reserved for actions that make states smaller when the disk is full.
    public var reserveBytes = 64 << 20
    /// Paths at or below which reactors of the history may be missing; their states are
    /// discarded.
    public var dropped: [SlicePath] = []

    /// Creates the default settings.
    public init() {}
}

extension DataConfig {
    /// The settings, for `reactord --check`.
    func rows(directory: String) -> [(String, String)] {
        [
            ("directory", ConfigProblem.escaped(directory)),
            ("durability", durability == .strict ? "strict" : "relaxed"),
            ("snapshotBytes", ByteSizeText.format(snapshotBytes)),
            ("snapshotInterval", DurationText.format(snapshotInterval)),
            ("keepDuration", DurationText.format(keepDuration)),
            ("keepBytes", ByteSizeText.format(keepBytes)),
            ("bytesMax", bytesMax.map { ByteSizeText.format($0) } ?? "none"),
            ("reserveBytes", ByteSizeText.format(reserveBytes)),
            ("dropped", dropped.map(\.description).joined(separator: " ")),
        ]
    }
}

/// Reads the `data:` section.
struct ConfigData {
    /// The settings of the section; unnamed keys keep their defaults.
    private(set) var data = DataConfig()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = [
        "directory", "durability", "snapshotBytes", "snapshotInterval", "keepDuration",
        "keepBytes", "bytesMax", "reserveBytes", "dropped",
    ]
    private static let byteRange = (1 << 20)...(1 << 40)
    // The log of the latest commits alone has 16 MiB.
    private static let maximumRange = (64 << 20)...(1 << 50)
    private static let durationRange = Duration.seconds(1)...Duration.seconds(10 * 366 * 86_400)

    init(_ section: ConfigSection) {
        problems = section.problems { (entry) throws(ConfigProblem) in
            try read(entry, of: section)
        }
    }

    /// Where the section under `entry` sets `durability:`; nil if it leaves it out.
    static func durabilityLocation(
        of entry: ConfigSection.Entry, in document: ConfigDocument
    ) -> ConfigLocation? {
        guard case .mapping(let pairs) = entry.value.content,
            let pair = pairs.first(where: { $0.key.text == "durability" })
        else { return nil }
        return document.location(of: pair.keyMark)
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of section: ConfigSection
    ) throws(ConfigProblem) {
        let scalar = ConfigScalar(entry, in: section.document)
        switch entry.name {
        case "directory": data.directory = try Self.directory(scalar)
        case "durability": data.durability = try Self.durability(scalar)
        case "snapshotBytes":
            data.snapshotBytes = try scalar.quantity(.byteSize, in: Self.byteRange)
        case "snapshotInterval":
            data.snapshotInterval = try scalar.quantity(.duration, in: Self.durationRange)
        case "keepDuration":
            data.keepDuration = try scalar.quantity(
                .duration, in: .zero...Self.durationRange.upperBound)
        case "keepBytes":
            data.keepBytes = try scalar.quantity(.byteSize, in: 0...Self.byteRange.upperBound)
        case "bytesMax":
            let isNone = try scalar.quantity(.byteSize, in: 0...Self.maximumRange.upperBound) == 0
            data.bytesMax = isNone ? nil : try scalar.quantity(.byteSize, in: Self.maximumRange)
        case "reserveBytes":
            data.reserveBytes = try scalar.quantity(.byteSize, in: 0...Self.byteRange.upperBound)
        case "dropped": data.dropped = try Self.paths(scalar)
        default: throw section.unknown(entry, known: Self.keys)
        }
    }

    private static func directory(_ scalar: ConfigScalar) throws(ConfigProblem) -> String {
        let expectation = "an absolute path, or no `directory:` to let the environment choose"
        let path = try scalar.text(expected: expectation)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw scalar.problem(expected: expectation)
        }
        return path
    }

    private static func durability(
        _ scalar: ConfigScalar
    ) throws(ConfigProblem) -> JournalDurability {
        let expectation = "strict or relaxed, or no `data:` to keep everything in memory"
        switch try scalar.text(expected: expectation) {
        case "strict": return .strict
        case "relaxed": return .relaxed
        default: throw scalar.problem(expected: expectation)
        }
    }

    // Such a list is short, so it is written on one line with spaces.
    private static func paths(_ scalar: ConfigScalar) throws(ConfigProblem) -> [SlicePath] {
        let text = try scalar.text(expected: "paths with spaces between them, such as `/old /a/b`")
        var paths: [SlicePath] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            let path: SlicePath
            do throws(SlicePathError) {
                path = try SlicePath(String(word))
            } catch {
                throw scalar.problem("\(error)")
            }
            // The root is above every reactor, so any missing reactor would be accepted.
            guard !path.components.isEmpty else {
                throw scalar.problem(expected: "paths of removed reactors, not the root")
            }
            paths.append(path)
        }
        return paths
    }
}

/// The data directory of a daemon whose configuration names none.
struct DefaultDataDirectory: Equatable {
    /// The directory's path.
    let path: String
    /// The environment variable or the user that determined the path, for the operator.
    let origin: String

    /// Chooses the first of these that applies: $STATE_DIRECTORY (set by systemd), /var/lib/NAME
    /// for root, $XDG_STATE_HOME/NAME, $HOME/.local/state/NAME. Returns nil if none does.
    ///
    /// *Throws*: if the name of the daemon cannot be the name of a directory.
    init?(
        of daemon: String = DaemonConfig.defaultName, _ environment: [String: String], uid: UInt32
    ) throws(DaemonNameError) {
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // systemd separates several directories with colons.
        if let state = absolute("STATE_DIRECTORY")?.split(separator: ":").first {
            (path, origin) = (String(state), "$STATE_DIRECTORY")
            return
        }
        let name = try DaemonName(daemon).text
        if uid == 0 {
            (path, origin) = ("/var/lib/\(name)", "the default for root")
        } else if let state = absolute("XDG_STATE_HOME") {
            (path, origin) = ("\(state)/\(name)", "$XDG_STATE_HOME")
        } else if let home = absolute("HOME") {
            (path, origin) = ("\(home)/.local/state/\(name)", "$HOME")
        } else {
            return nil
        }
    }
}
