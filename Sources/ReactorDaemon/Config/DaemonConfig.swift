public import Logging
package import ReactorLoop
public import ReactorServer
import ReactorWire

/// The daemon's configuration: socket, log, limits, loop and the tree of reactors.
///
/// *Place*: read once at the start from a YAML file. ``ReactorCatalog`` creates the reactors; the
/// shell uses the rest. `Config/reactord.yaml` shows every key, except for those of `cluster:`.
public struct DaemonConfig: Equatable, Sendable {
    /// The daemon's name, which default paths contain: that of its socket and of its data directory.
    public var name = Self.defaultName
    /// The file's name as the operator gave it.
    public var file: String
    /// The socket's path; nil lets ``SocketCandidates`` choose.
    public var socket: String?
    /// Which users may connect to the socket.
    package var permissions = SocketPermissions()
    /// The path of the socket for administrators; nil opens none.
    package var adminSocket: String?
    /// Who may do what; nil lets every user that can connect do everything.
    package var access: AccessRules?
    /// Where each rule of ``access`` stands in the file.
    private(set) var accessPlaces: [ConfigLocation] = []
    /// What each user may use.
    package var quotas = QuotaRules()
    /// The lowest level that is logged.
    public var logLevel = Logger.Level.info
    /// The form of a line in the log.
    public var logFormat = LogFormat.text
    /// Limits for each client and for all clients together.
    public var limits = ServerLimits()
    /// Settings of the data directory; nil keeps all state in memory, until the daemon ends.
    public var data: DataConfig?
    /// The daemons on several machines that share one history with this one; nil if it is alone.
    public var cluster: ClusterConfig?
    /// Where the daemon shows its metrics, besides `reactorctl metrics`.
    public var metrics = MetricsConfig()
    /// Which operations the slow log keeps.
    public var slowLog = SlowLogConfig()
    /// How long the loop polls for further traffic before it sleeps; 0 never polls.
    public var spin = Duration.microseconds(50)
    /// How long the loop may be stuck before the daemon ends itself; 0 leaves that to the service
    /// manager's watchdog.
    public var watchdog = Duration.zero
    /// Whether the system may write the daemon's memory to a core dump, and debuggers of its user
    /// may read it.
    public var allowsCoreDumps = false
    /// The reactors below the root, in the order of the file; empty if they are defined in code.
    package var reactors: [ReactorSpec] = []

    /// Where the tree of reactors is defined.
    public enum ReactorsSource: Sendable {
        /// In the file: `reactors:` names at least one.
        case inFile
        /// In the daemon's code: `reactors:` in the file is an error.
        case inCode
    }

    /// The name of the daemon of this project.
    static let defaultName = DaemonName.reactord.text
    /// Maximum for ``spin``.
    static let spinMax = Duration.milliseconds(10)
    private static let watchdogRange = Duration.seconds(1)...Duration.seconds(3_600)
    private static let keys = [
        "socket", "admin", "access", "data", "cluster", "log", "metrics", "slowLog", "limits",
        "quotas", "loop", "process", "reactors",
    ]

    /// The defaults, for a daemon without a file whose reactors are defined in code.
    public init() { file = "none" }

    /// Reads the configuration in the file at a path.
    ///
    /// *Throws*: ``ConfigError`` with every mistake in the file, each with its line and column.
    public init(file: String, reactors source: ReactorsSource = .inFile) throws(ConfigError) {
        try self.init(yaml: try ConfigFile.text(at: file), file: file, reactors: source)
    }

    /// Reads a configuration from YAML text; `file` is the name used in errors.
    ///
    /// *Throws*: as ``init(file:)``.
    public init(
        yaml text: String, file: String, reactors source: ReactorsSource = .inFile
    ) throws(ConfigError) {
        try self.init(yaml: text, file: file, reactors: source, machine: MachineName.current)
    }

    /// Reads a configuration from YAML text, on the machine with this name.
    ///
    /// *Throws*: as ``init(file:)``.
    init(
        yaml text: String, file: String, reactors source: ReactorsSource = .inFile,
        machine: String
    ) throws(ConfigError) {
        self.file = file
        let document = try ConfigDocument(text: text, file: file)
        let top: ConfigSection
        do throws(ConfigProblem) {
            top = try ConfigSection(document)
        } catch {
            throw ConfigError(error)
        }
        var problems: [ConfigProblem] = []
        for entry in top.entries {
            do throws(ConfigProblem) {
                try read(entry, of: top, problems: &problems)
            } catch {
                problems.append(error)
            }
        }
        problems += readCluster(of: top, machine: machine)
        if permissions.mode & 0o002 != 0, access == nil,
            let entry = top.entries.first(where: { $0.name == "socket" })
        {
            problems.append(
                ConfigProblem(
                    "its mode lets every user connect and do everything: add `access:`, or take "
                        + "the last digit to 0",
                    key: "socket", at: entry.location))
        }
        if let admin = adminSocket, admin == socket,
            let entry = top.entries.first(where: { $0.name == "admin" })
        {
            problems.append(
                ConfigProblem(
                    "its socket is that of `socket:` too: give one of them another path",
                    key: "admin", at: entry.location))
        }
        let entry = top.entries.first { $0.name == "reactors" }
        switch source {
        case .inFile where reactors.isEmpty && problems.isEmpty:
            problems.append(
                ConfigProblem(
                    "expected at least one reactor, such as `visits: { kind: counter }`",
                    key: "reactors", at: entry?.location ?? ConfigLocation(file: file)))
        case .inCode:
            guard let entry else { break }
            problems.append(
                ConfigProblem(
                    "the reactors of this daemon are defined in its code: remove the section",
                    key: "reactors", at: entry.location))
        case .inFile: break
        }
        guard problems.isEmpty else { throw ConfigError(problems) }
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of top: ConfigSection, problems: inout [ConfigProblem]
    ) throws(ConfigProblem) {
        let document = top.document
        switch entry.name {
        case "socket":
            let read = try ConfigSocket(entry, in: document)
            (socket, permissions) = (read.path, read.permissions)
            problems += read.problems
        case "admin":
            let section = try ConfigSection(entry, in: document, expected: "`socket:`")
            read(section, ["socket"], problems: &problems) {
                (config, _, scalar) throws(ConfigProblem) in
                config.adminSocket = try ConfigSocket.path(
                    scalar, expected: "an absolute path, or no `admin:` to have no such socket")
            }
        case "access":
            let read = ConfigAccess(
                try ConfigSection(entry, in: document, expected: "keys such as `rules:`"))
            (access, accessPlaces) = (read.rules, read.places)
            problems += read.problems
        case "data":
            let read = ConfigData(
                try ConfigSection(entry, in: document, expected: "keys such as `durability:`"))
            data = read.data
            problems += read.problems
        case "cluster": break  // read last, since it depends on `data:`, which may follow it
        case "log":
            let section = try ConfigSection(entry, in: document, expected: "`level:`")
            read(section, ["level", "format"], problems: &problems) {
                (config, name, scalar) throws(ConfigProblem) in
                switch name {
                case "level": config.logLevel = try Self.level(scalar)
                default: config.logFormat = try Self.format(scalar)
                }
            }
        case "metrics":
            let read = ConfigMetrics(
                try ConfigSection(entry, in: document, expected: "keys such as `socket:`"))
            metrics = read.metrics
            problems += read.problems
        case "slowLog":
            let read = ConfigSlowLog(
                try ConfigSection(entry, in: document, expected: "keys such as `actions:`"))
            slowLog = read.slowLog
            problems += read.problems
        case "loop": try readLoop(entry, in: document, problems: &problems)
        case "process":
            let section = try ConfigSection(entry, in: document, expected: "`coreDumps:`")
            read(section, ["coreDumps"], problems: &problems) {
                (config, _, scalar) throws(ConfigProblem) in
                config.allowsCoreDumps = try scalar.bool()
            }
        case "limits":
            let read = ConfigLimits(
                try ConfigSection(entry, in: document, expected: "limits such as `inFlightMax:`"))
            limits = read.limits
            problems += read.problems
        case "quotas": problems += readQuotas(entry, in: document)
        case "reactors":
            reactors = ReactorSpec.read(
                try ConfigSection(entry, in: document, expected: "a mapping of names to reactors"),
                problems: &problems)
        default:
            throw top.unknown(entry, known: Self.keys)
        }
    }

    private mutating func readLoop(
        _ entry: ConfigSection.Entry, in document: ConfigDocument,
        problems: inout [ConfigProblem]
    ) throws(ConfigProblem) {
        let section = try ConfigSection(entry, in: document, expected: "`spin:`")
        read(section, ["spin", "watchdog"], problems: &problems) {
            (config, name, scalar) throws(ConfigProblem) in
            switch name {
            case "spin": config.spin = try scalar.quantity(.duration, in: .zero...Self.spinMax)
            default: config.watchdog = try Self.watchdog(scalar)
            }
        }
    }

    private mutating func readCluster(
        of top: ConfigSection, machine: String
    ) -> [ConfigProblem] {
        guard let entry = top.entries.first(where: { $0.name == "cluster" }) else { return [] }
        let section: ConfigSection
        do throws(ConfigProblem) {
            section = try ConfigSection(
                entry, in: top.document, expected: "keys such as `nodes:`")
        } catch {
            return [error]
        }
        let read = ConfigCluster(section, machine: machine)
        cluster = read.cluster
        return read.problems + ConfigCluster.conflicts(of: entry, in: top)
    }

    private mutating func readQuotas(
        _ entry: ConfigSection.Entry, in document: ConfigDocument
    ) -> [ConfigProblem] {
        let read = ConfigQuotas(entry, in: document)
        quotas = read.quotas
        return read.problems
    }

    /// Reads a section with few keys.
    private mutating func read(
        _ section: ConfigSection, _ names: [String], problems: inout [ConfigProblem],
        set: (inout DaemonConfig, String, ConfigScalar) throws(ConfigProblem) -> Void
    ) {
        problems += section.problems { (entry) throws(ConfigProblem) in
            guard names.contains(entry.name) else {
                throw section.unknown(entry, known: names)
            }
            try set(&self, entry.name, ConfigScalar(entry, in: section.document))
        }
    }

    private static func level(_ scalar: ConfigScalar) throws(ConfigProblem) -> Logger.Level {
        let names = Logger.Level.allCases.map(\.rawValue)
        let expectation = "one of \(names.joined(separator: ", "))"
        guard let level = Logger.Level(rawValue: try scalar.text(expected: expectation)) else {
            throw scalar.problem(expected: expectation)
        }
        return level
    }

    private static func watchdog(_ scalar: ConfigScalar) throws(ConfigProblem) -> Duration {
        let duration = try scalar.quantity(.duration, in: .zero...watchdogRange.upperBound)
        guard duration == .zero || watchdogRange.contains(duration) else {
            throw scalar.problem(expected: "0s, or a duration from 1s to 1h")
        }
        return duration
    }

    private static func format(_ scalar: ConfigScalar) throws(ConfigProblem) -> LogFormat {
        let names = LogFormat.allCases.map(\.rawValue)
        let expectation = "one of \(names.joined(separator: ", "))"
        guard let format = LogFormat(rawValue: try scalar.text(expected: expectation)) else {
            throw scalar.problem(expected: expectation)
        }
        return format
    }
}
