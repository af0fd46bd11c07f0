import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorWire

/// A daemon's figures at a moment, as metrics.
///
/// *Place*: gathered on the loop between two turns. ``formatted()`` reads the remaining figures from the
/// system, so another thread calls it.
struct MetricsReport: Sendable {
    /// The daemon's version.
    var version: String
    /// When the daemon began to serve, in seconds since 1970.
    var startSeconds: Double
    /// The figures of the server and its tree.
    var server: ServerFigures
    /// The durations that the loop measured.
    var loop: LoopFigures
    /// The memory ceiling in bytes; 0 without one.
    var memoryMax = 0
    /// Bytes that count as used besides, for the next start.
    var memoryReserved = 0
    /// The figures of the history; nil without a data directory.
    var history: HistoryFigures?
    /// The figures of the cluster; nil for a daemon that is alone.
    var cluster: ClusterFigures?
    /// Number of operations that took long, by kind.
    var slow: [SlowKind: UInt64]
    /// Number of pauses of accepting for lack of descriptors.
    var parkCount: Int
    /// How the last reload of the configuration ended.
    var reload: ReloadStatus
    /// The metrics of the program's own code; nil if another backend has them.
    var program: ProgramMetrics?

    /// The metrics in the text format of Prometheus.
    ///
    /// *Owner*: not the loop's thread: a disk that does not answer delays the caller.
    func formatted() -> String {
        var text = MetricsText()
        describeDaemon(in: &text)
        describeActions(in: &text)
        describeClients(in: &text)
        describeMemory(in: &text)
        if let history { Self.describe(history, HistorySize(of: history.directory), in: &text) }
        if let cluster { Self.describe(cluster, in: &text) }
        Self.describe(ProcessUsage(), in: &text)
        program?.describe(in: &text)
        return text.text
    }

    private func describeDaemon(in text: inout MetricsText) {
        text.information(
            "reactord_build_info", "The daemon's version.", [("version", version)])
        text.gauge(
            "reactord_up_since_seconds", "When the daemon began to serve, in seconds since 1970.",
            seconds: startSeconds)
        text.gauge(
            "reactord_config_reload_success",
            "0 if the configuration file had problems when it was last read.",
            reload.isSuccess ? 1 : 0)
        text.gauge(
            "reactord_config_reload_timestamp_seconds",
            "When the configuration in force was read, in seconds since 1970.",
            seconds: reload.seconds)
        text.gauge(
            "reactord_read_only",
            "1 while actions are refused, all or those that add bytes: the disk or its maximum is "
                + "full.",
            server.admission.lacksSpace ? 1 : 0)
        text.gauge(
            "reactord_draining", "1 while the daemon is shutting down.",
            server.isDraining ? 1 : 0)
        text.gauge("reactord_sequence", "Sequence of the last transaction.", server.sequence)
        text.gauge("reactord_nodes", "Mounted reactors.", server.nodeCount)
        text.counter(
            "reactord_turns_total", "Turns that changed something.", server.counters.turns)
        text.histogram(
            "reactord_turn_seconds", "From the first input of a turn to its last output.",
            loop.turns)
        text.histogram(
            "reactord_loop_lag_seconds", "Delay of a tick that is due every second.", loop.lag)
        text.counter(
            "reactord_epoch_changes_total",
            "Epochs that began because history was, or may have been, cut.",
            server.counters.epochChanges)
        text.counter(
            "reactord_history_contradicted_total",
            "Times that a client had a revision or an outcome that the history lacked.",
            server.counters.historyContradicted)
        text.counters(
            "reactord_slow_total", "Operations that took longer than the slow log's thresholds.",
            by: "kind", SlowKind.allCases.map { ($0.rawValue, slow[$0] ?? 0) })
        text.counter(
            "reactord_log_dropped_total", "Lines that the reader of the log did not take.",
            server.counters.shell.logLinesDropped)
    }

    private func describeActions(in text: inout MetricsText) {
        let counters = server.counters
        text.counters(
            "reactord_actions_total",
            "Received actions: applied (also with a deferred answer), rejected, or received again.",
            by: "outcome",
            [
                ("applied", counters.actions &- counters.rejections),
                ("rejected", counters.rejections), ("repeated", counters.repeats),
            ])
        text.histogram(
            "reactord_action_seconds",
            "Time to run an action as it arrives; the actions of one read share its duration.",
            loop.actions)
        text.gauge("reactord_effects_running", "Effects that have not ended.", server.effectCount)
        text.counter(
            "reactord_saga_restarts_total", "Times that a failed saga started again.",
            server.sagaRestarts)
        text.counter(
            "reactord_sagas_given_up_total", "Sagas that failed too often and ended.",
            server.sagasGivenUp)
        text.gauge(
            "reactord_poisoned_actions",
            "Actions that are refused because the daemon died of them.",
            server.poisonedCount)
    }

    private func describeClients(in text: inout MetricsText) {
        let (counters, memory) = (server.counters, server.memory)
        text.gauges(
            "reactord_connections", "Open connections.", by: "uid",
            server.connectionsByUID.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) })
        text.counter(
            "reactord_connections_accepted_total", "Connections that were admitted.",
            counters.connectionsAccepted)
        text.counters(
            "reactord_connections_refused_total", "Connections that were refused.", by: "reason",
            RefusalReason.allCases.map { ($0.rawValue, counters.refusals[$0] ?? 0) })
        text.counter(
            "reactord_quota_pauses_total",
            "Times that a user had used its quota, so that nothing was read from its clients.",
            counters.quotaPauses)
        text.counter(
            "reactord_turn_time_pauses_total",
            "Times that input waited for the next turn, as its user had used turnTimePerUID.",
            counters.turnTimePauses)
        text.counter(
            "reactord_backlog_pauses_total",
            "Times that input waited for the journal, as its user had unreleasedBytesPerUIDMax.",
            counters.backlogPauses)
        text.counter(
            "reactord_accept_parked_total", "Pauses of accepting for lack of descriptors.",
            UInt64(max(0, parkCount)))
        text.counters(
            "reactord_denied_total", "Requests and actions that the access rules refused.",
            by: "verb",
            AccessVerbs.named.filter { $0.verb != .see }.map { name, _ in
                (name, counters.denials[name] ?? 0)
            })
        text.counters(
            "reactord_faults_total", "Connections that were closed for a fault of their client.",
            by: "code",
            counters.faultsByCode.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
        text.counter(
            "reactord_received_bytes_total", "Bytes that clients sent.", counters.bytesReceived)
        text.gauge("reactord_subscriptions", "Subscriptions of all clients.", memory.subscriptions)
        text.gauge("reactord_sessions", "Sessions, connected or kept.", memory.sessions)
        text.counter(
            "reactord_conflations_total",
            "Times that a snapshot replaced the queued updates of a slow client.",
            counters.conflations)
        text.gauges(
            "reactord_questions_waiting",
            "Questions that wait: for the loop, the encoding thread, or the shell's other threads.",
            by: "kind",
            ServerFigures.QuestionQueue.allCases.map {
                ($0.rawValue, server.questionsWaiting[$0] ?? 0)
            })
    }

    private func describeMemory(in text: inout MetricsText) {
        let memory = server.memory
        text.gauges(
            "reactord_memory_bytes", "Bytes that the daemon keeps, without states.", by: "part",
            [
                ("connections", memory.keptBytes), ("ring", memory.ringBytes),
                ("snapshots", memory.snapshotBytes), ("answers", memory.answerBytes),
                ("outcomes", server.memoryByUID.values.reduce(0) { $0 + $1.outcomes }),
            ])
        text.gauges(
            "reactord_user_memory_bytes",
            "Bytes that the daemon keeps for the clients of a user: input, output, answers, outcomes.",
            by: "uid",
            server.memoryByUID.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value.total) })
        if memoryMax > 0 {
            text.gauge(
                "reactord_memory_max_bytes", "Bytes at which the daemon refuses what grows.",
                memoryMax)
            text.gauge(
                "reactord_memory_reserved_bytes",
                "Bytes that count as used besides, since the next start needs them.",
                memoryReserved)
        }
        if server.states.byteCountMax > 0 {
            text.gauge(
                "reactord_states_bytes", "Encoded bytes of all states, rather too many.",
                server.states.byteCount)
            text.gauge(
                "reactord_states_bytes_max",
                "limits.stateBytesMax: bytes at which actions that add bytes are refused.",
                server.states.byteCountMax)
            text.gauge(
                "reactord_states_full", "1 while states have limits.stateBytesMax.",
                server.states.isFull ? 1 : 0)
        }
        text.gauge(
            "reactord_journal_unreleased_bytes", "Bytes of turns that wait for the journal.",
            memory.unreleasedBytes)
        text.histogram(
            "reactord_journal_commit_seconds",
            "From the order to append a turn to the journal's report that it is appended.",
            loop.commits)
    }

    private static func describe(
        _ history: HistoryFigures, _ size: HistorySize, in text: inout MetricsText
    ) {
        text.gauges(
            "reactord_journal_bytes", "Bytes of the journal's files.", by: "file",
            [
                ("rows", size.rowByteCount), ("log", size.logByteCount),
                ("snapshots", size.snapshotByteCount),
            ])
        text.gauge(
            "reactord_journal_fresh_bytes",
            "Bytes of rows that the newest snapshot does not cover.",
            history.freshByteCount)
        text.gauge("reactord_journal_rows_kept", "Rows in the journal.", history.keptRowCount)
        text.gauge(
            "reactord_journal_trim_lag_bytes",
            "Bytes written during a removal of older rows, beyond those that it has removed.",
            history.trimLagByteCount)
        text.gauge(
            "reactord_clock_behind_seconds",
            "Seconds by which the wall clock is behind the latest row: it was set back.",
            seconds: Double(max(0, history.latestTime - WallClock.milliseconds())) / 1_000)
        if !history.stateByteCounts.isEmpty {
            text.gauges(
                "reactord_state_bytes",
                "Bytes of the states in the last snapshot of this run, at and below a reactor.",
                by: "reactor", history.stateByteCounts.map { ($0.reactor, $0.byteCount) })
        }
        text.gauge(
            "reactord_snapshot_age_seconds", "Seconds since the newest snapshot was written.",
            seconds: size.snapshotAge)
        text.gauge(
            "reactord_snapshot_seconds", "Time that the last snapshot of this run took.",
            seconds: history.snapshotNanoseconds.map(MetricsText.seconds))
        text.counter(
            "reactord_snapshots_failed_total", "Snapshots that could not be written.",
            history.snapshotsFailed)
        text.gauge(
            "reactord_backup_age_seconds", "Seconds since the last backup of this directory.",
            seconds: size.backupAge)
        text.gauge(
            "reactord_disk_bytes",
            "Bytes of disk that the data directory occupies, without its reserve.",
            size.occupiedByteCount)
        text.gauge(
            "reactord_disk_bytes_max",
            "data.bytesMax: bytes at which actions that add bytes are refused.",
            history.diskByteCountMax)
        text.gauge(
            "reactord_disk_free_bytes", "Bytes that the daemon may still write to the disk.",
            size.freeByteCount)
    }

    private static func describe(_ usage: ProcessUsage, in text: inout MetricsText) {
        text.gauge("reactord_fds_open", "Open descriptors.", usage.descriptorCount)
        text.gauge("reactord_fds_max", "Descriptors that may be open.", usage.descriptorCountMax)
        text.gauge(
            "process_resident_memory_bytes", "Resident memory size in bytes.", usage.residentBytes)
        text.counter(
            "process_cpu_seconds_total", "Processor time so far in seconds.",
            seconds: MetricsText.seconds(usage.processorNanoseconds))
    }
}

/// How the last reload ended.
struct ReloadStatus: Sendable {
    /// Whether the configuration in the file was applied.
    var isSuccess = true
    /// When the configuration in force was read, in seconds since 1970.
    var seconds = Double(WallClock.milliseconds()) / 1_000
}
