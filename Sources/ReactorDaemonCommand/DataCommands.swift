import ArgumentParser
import Glibc
import ReactorCore
import ReactorDaemon
import ReactorLoop

/// `reactord replay`: prints the state that a history replays to.
struct ReplayCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "replay",
            abstract: "Print the state that the history replays to.",
            discussion: """
                Changes nothing. The daemon must not be running; for a running daemon, use a backup \
                or `reactorctl get --at`.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Argument(
        help: ArgumentHelp(
            "The data directory, if not the configured one; for example a backup.",
            valueName: "directory"))
    var directory: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The revision: epoch:sequence, or a sequence of the last epoch.",
            valueName: "revision"))
    var until: String?

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent.options)
            let history = try options.history(of: settings, in: directory)
            let (revision, value) = try history.value(of: root, at: until)
            try DaemonOutput<Program>.write([
                WireValue.json(
                    object: ["revision": .text(revision.description), "state": value])
            ])
        }
    }
}

/// `reactord import`: replaces states at the end of a history.
struct ImportCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "import",
            abstract: "Replace states with those that `reactorctl export` wrote.",
            discussion: """
                Each line is {"path":"/visits","state":{"count":5}}. Either all lines are imported \
                or none: a state that its reactor cannot read is refused with its line. Reactors \
                without a line keep their states; named children of collections are created. The \
                daemon must not be running; `reactorctl log` shows the import as a revision of a \
                new epoch. Imported objects have no owner: a lock that a line shows as held stays \
                held until it is released by its token. `reactorctl export` shows no held locks.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Flag(name: .long, help: "Begin a new history if the directory has none.")
    var new = false

    @Argument(help: "The file of states, or - for standard input.")
    var file: String

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent.options)
            let logger = DaemonOutput<Program>.logger(settings)
            let text = try read()
            let history = try options.history(of: settings)
            let (count, revision) = try history.importStates(
                text.split(separator: "\n", omittingEmptySubsequences: false), into: root,
                beginsNew: new, logger)
            try DaemonOutput<Program>.write([
                "imported \(count) states into \(history.directory), at revision \(revision)"
            ])
        }
    }

    private func read() throws -> String {
        let bytes: [UInt8]
        do throws(CallFailure) {
            bytes = try file == "-" ? FileSystem.bytesOfInput() : FileSystem.bytes(at: file)
        } catch {
            throw DaemonError.unusableImport("\(file) cannot be read: \(error.message)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw DaemonError.unusableImport("\(file) is not UTF-8 text")
        }
        return text
    }
}

/// `reactord rebaseline`: makes the state that the history replays to the start of a new epoch.
struct RebaselineCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "rebaseline",
            abstract: "Continue from the state that the current reactors replay.",
            discussion: """
                For a start that was refused because a replayed state differs from the original \
                one: accepts the replayed state, takes a snapshot of it, and begins a new epoch, so \
                that every client gets complete values. The earlier history is kept. The daemon \
                must not be running; copy the data directory first.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent.options)
            let logger = DaemonOutput<Program>.logger(settings)
            let history = try options.history(of: settings)
            let (revision, row) = try history.rebaseline(root, logger)
            try DaemonOutput<Program>.write([
                "took a snapshot of row \(row) in \(history.directory); the history continues at "
                    + "revision \(revision)"
            ])
        }
    }
}

/// `reactord verify`: reads all of a backup as a start would.
struct VerifyCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "verify",
            abstract: "Read all of a backup as a start would.",
            discussion: """
                Changes nothing. Examines the files as `doctor` does, then replays the history with \
                the program's reactors and compares the states with the recorded checksums, as \
                --check does. Ends with 0 if a daemon can start from the directory, and with 78 \
                otherwise.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Argument(help: "The backup, or the data directory of a daemon that is not running.")
    var directory: String

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent.options)
            let doctor = try HistoryDoctor(of: directory)
            try DaemonOutput<Program>.write(doctor.lines)
            guard doctor.isHealthy else { throw ExitCode(78) }
            let forecast = try options.history(of: settings, in: directory).forecast(of: root)
            try DaemonOutput<Program>.write(["start"] + forecast.lines.map { "  " + $0 })
            if let refusal = forecast.refusal { throw refusal }
        }
    }
}

/// `reactord cluster`: prepares the cluster of the configuration.
struct ClusterCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "cluster",
            abstract: "Prepare the cluster that the configuration names.",
            subcommands: [ClusterInitCommand<Program>.self, ClusterJoinCommand<Program>.self])
    }
}

/// `reactord cluster init`: founds the cluster, with the history of this node.
struct ClusterInitCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "init",
            abstract: "Found the cluster, with the history of this node's data directory.",
            discussion: """
                Run it once, on one node, before the first daemon of the cluster starts; the members \
                of etcd run already. A new directory is made if there is none. The daemon must not \
                be running.

                If the history of this node is empty, the other nodes need nothing: they take \
                everything from the cluster's log. Otherwise each of them needs a copy: that of the \
                directory before its daemon starts, or one that `reactorctl backup --node` makes \
                afterwards.

                A backup begins a new epoch, as in the start of a daemon that is alone.

                Run again, it changes nothing: it says that the cluster exists, or ends with 78 if \
                that has another history than this node, or if this node has joined it already.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent.options)
            let founding = try ClusterFounding(
                of: settings, with: root, environment: ProcessEnvironment.environment,
                uid: geteuid(), DaemonOutput<Program>.logger(settings))
            try DaemonOutput<Program>.write([founding.line])
        }
    }
}

/// `reactord cluster join`: takes the history of the cluster from another node.
struct ClusterJoinCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "join",
            abstract: "Take a copy of the cluster's history from another node.",
            discussion: """
                For a node with a new data directory, or whose data are too old to continue from the \
                cluster's log. A daemon with `peer:` does so itself when it starts. The copy comes \
                over the links, and replaces the history in the data directory once it is complete \
                and verified. The daemon must not be running.

                Exit codes: 0 the directory has the cluster's history; 69 etcd does not answer, or no \
                node sends a copy; 78 the directory has another history.
                """)
    }

    @Option(
        name: .long,
        help: ArgumentHelp("The node that sends the copy; by default any.", valueName: "node"))
    var from: String?

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, _) = try options.read(parent.options)
            let joining = try ClusterJoining(
                of: settings, environment: ProcessEnvironment.environment, uid: geteuid(),
                from: from)
            try DaemonOutput<Program>.write([joining.line])
        }
    }
}
