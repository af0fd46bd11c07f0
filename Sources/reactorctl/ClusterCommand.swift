import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop
import ReactorWire

/// `reactorctl cluster`: shows the daemon's cluster, and hands over its leadership.
struct ClusterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Show the daemon's cluster, wait for its nodes, or hand over the leadership.",
        subcommands: [
            ClusterStatusCommand.self, ClusterWaitCommand.self, ClusterStepDownCommand.self,
        ])
}

/// `reactorctl cluster status`: prints the daemon's part in its cluster.
struct ClusterStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the daemon's part in its cluster, and the progress of all nodes.",
        discussion: """
            The row of the daemon's own node is as of now; the others are as of the nodes' last \
            reports, some seconds ago. BEHIND counts the rows that another node has applied and \
            this one has not. CLOCK is the time by which a node's clock, at its report, is ahead \
            of this machine's now: the age of the report makes it smaller.

            A daemon that serves no clients, as it does not know how old its state is, answers at \
            the socket for administrators alone.

            Exit codes: 0 a leader is known; 66 the daemon is in no cluster; 75 no leader is known.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Print one line of JSON instead of text.")
    var json = false

    mutating func run() async throws {
        let client = try await connection.connect()
        let status = try await Failure.explain { () throws(ClientError) in
            try await client.cluster()
        }
        client.close()
        let table = ClusterTable(status, at: MachineClock.milliseconds)
        let failure =
            status.leader == nil
            ? Failure(Failure.unknownCode, "node \(status.node) knows of no leader") : nil
        try Output.result(json ? [table.json] : table.lines, failure)
    }
}

/// `reactorctl cluster wait`: waits until nodes have caught up.
struct ClusterWaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the daemon, or every node, has the cluster's current state.",
        discussion: """
            For scripts that restart one node after the other: the next one may go once this one has \
            caught up. Prints the revision of the daemon's state.

            --at-least waits for a revision instead of the current state. --all then waits until each \
            node has reported, some seconds later, that it has applied as many rows of the log as the \
            daemon.

            Exit codes: 0 caught up; 66 the daemon is in no cluster, or the revision is of another \
            history; 75 not in time.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The revision to wait for: epoch:sequence, or a sequence of the current epoch.",
            valueName: "revision"))
    var atLeast: String?

    @Flag(name: .long, help: "Wait for every node of the cluster.")
    var all = false

    @Option(
        name: .long,
        help: ArgumentHelp("How long to wait, such as 5s or 300ms.", valueName: "duration"))
    var timeout = "30s"

    /// The time between two questions for the nodes' reports.
    private static let pause = Duration.milliseconds(200)

    mutating func validate() throws {
        if DurationText.parse(timeout) == nil {
            throw ValidationError("--timeout \(timeout): expected \(DurationText.expectation)")
        }
        if let atLeast, RevisionText.parse(atLeast, epoch: 0) == nil {
            throw ValidationError("--at-least \(atLeast): expected \(RevisionText.expectation)")
        }
    }

    mutating func run() async throws {
        let end = ContinuousClock.now + (DurationText.parse(timeout) ?? .zero)
        var revision: String?
        while revision == nil {
            do throws(Failure) {
                revision = try await reached(before: end)
            } catch {
                // A daemon that starts is absent at first, and then serves no clients.
                let mayPass = [Failure.unknownCode, Failure.unreachableCode].contains(error.code)
                guard mayPass, ContinuousClock.now < end,
                    (try? await Task.sleep(for: Self.pause)) != nil
                else { throw error }
            }
        }
        try Output.line(revision ?? "")
    }

    /// Waits once, on one connection; returns the revision of the daemon's state.
    private func reached(before end: ContinuousClock.Instant) async throws(Failure) -> String {
        let client = try await connection.connect()
        defer { client.close() }
        _ = try await status(of: client)
        let rest = max(end - ContinuousClock.now, .milliseconds(1))
        var recency = SyncOptions()
        (recency.atLeast, recency.consistent) = (atLeast, atLeast == nil)
        recency.within = "\(Int64(rest / .milliseconds(1)) + 1)ms"
        let revision = try await recency.sync(client)
        if all { try await awaitAll(client, until: end) }
        return revision.map { "\($0)" } ?? ""
    }

    /// Waits until every node has reported as many rows as the daemon has now.
    private func awaitAll(
        _ client: Client, until end: ContinuousClock.Instant
    ) async throws(Failure) {
        let wanted = try await status(of: client).applied
        while true {
            let status = try await status(of: client)
            let late = status.nodes.filter { $0.name != status.node && $0.applied < wanted }
            if late.isEmpty { return }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: Self.pause)) != nil else {
                let names = late.map { "\($0.name) (row \($0.applied))" }
                throw Failure(
                    Failure.unfinishedCode,
                    "not at row \(wanted) within \(timeout): \(names.joined(separator: ", "))")
            }
        }
    }

    private func status(of client: Client) async throws(Failure) -> ClusterStatus {
        try await Failure.explain { () throws(ClientError) in try await client.cluster() }
    }
}

/// `reactorctl cluster step-down`: makes the leading daemon hand over.
struct ClusterStepDownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "step-down",
        abstract: "Make the daemon hand the leadership of its cluster to another node.",
        discussion: """
            Only for the daemon's user and root, and only for the daemon that leads. It finishes \
            what it has received, closes its connections, and follows the new leader. Clients \
            connect again and continue; effects in progress are lost, as after a restart.

            Waits until another node leads, and prints which one.

            Exit codes: 0 another node leads, with --to that one; 66 the daemon is in no cluster, \
            or there is no such node; 75 the daemon does not lead, or no other node led in time.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The node that is to lead; by default any other.", valueName: "node"))
    var to: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long to wait for another leader, such as 5s or 300ms.", valueName: "duration"))
    var timeout = "10s"

    /// The time between two questions for the leader.
    private static let pause = Duration.milliseconds(50)

    mutating func validate() throws {
        guard DurationText.parse(timeout) == nil else { return }
        throw ValidationError("--timeout \(timeout): expected \(DurationText.expectation)")
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        let before = try await Self.status(of: client)
        if let to, to == before.node, to == before.leader {
            throw Failure(Failure.usageCode, "node \(to) leads already: name another one")
        }
        let timeout = timeout
        let end = Task {
            do { try await Task.sleep(for: DurationText.parse(timeout) ?? .zero) } catch { return }
            Output.complain(
                "no other node led within \(timeout): `reactorctl cluster status` shows who leads")
            Glibc.exit(Failure.unfinishedCode)
        }
        try await request(client)
        let leader = try await Self.newLeader(client)
        end.cancel()
        client.close()
        var failure: Failure?
        if let to, to != leader {
            failure = Failure(Failure.unfinishedCode, "node \(leader) leads, and not \(to)")
        }
        try Output.result(
            WireValue.json(object: ["cluster": .text(before.cluster), "leader": .text(leader)]),
            failure)
    }

    private func request(_ client: Client) async throws(Failure) {
        let to = to
        try await Failure.explain { () throws(ClientError) in
            let number = try await client.connectionCount()
            do throws(ClientError) {
                _ = try await client.stepDown(to: to)
            } catch {
                // If the answer was lost with the connection, the client has asked again, and the
                // daemon has stepped down already.
                guard case .refused(let refusal) = error, refusal.code == .elsewhere,
                    try await client.connectionCount() != number
                else { throw error }
            }
        }
    }

    /// Waits until another node than that of the daemon leads; returns its name.
    private static func newLeader(_ client: Client) async throws -> String {
        while true {
            let status = try await status(of: client)
            if let leader = status.leader, leader != status.node { return leader }
            try await Task.sleep(for: pause)
        }
    }

    private static func status(of client: Client) async throws(Failure) -> ClusterStatus {
        try await Failure.explain { () throws(ClientError) in try await client.cluster() }
    }
}
