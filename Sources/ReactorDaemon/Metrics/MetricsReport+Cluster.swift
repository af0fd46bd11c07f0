import ReactorWire

// MARK: - Clusters
extension MetricsReport {
    static func describe(_ cluster: ClusterFigures, in text: inout MetricsText) {
        text.gauges(
            "reactord_cluster_role", "1 for the node's part in its cluster, 0 for the others.",
            by: "role", ClusterRoleName.allCases.map { ($0.rawValue, $0 == cluster.role ? 1 : 0) })
        text.gauge(
            "reactord_cluster_leader_known", "1 while the node knows of a leader.",
            cluster.hasLeader ? 1 : 0)
        text.gauge(
            "reactord_cluster_cut",
            "1 while the node serves no client, as it does not know how old its state is.",
            cluster.isCut ? 1 : 0)
        text.gauge(
            "reactord_cluster_term",
            "The revision of etcd at which the latest leadership began or ended.", cluster.term)
        text.counter(
            "reactord_cluster_takeovers_total", "Leaderships of this node that began.",
            cluster.takeovers)
        text.counter(
            "reactord_cluster_depositions_total", "Leaderships of this node that ended.",
            cluster.depositions)
        describeRows(of: cluster, in: &text)
        describeEngine(of: cluster.meter, in: &text)
        text.counter(
            "reactord_cluster_stale_refusals_total",
            "Connections that were refused or closed with CUT.", cluster.staleRefusals)
        text.gauge(
            "reactord_cluster_clock_difference_seconds",
            "Seconds by which the leader's wall clock is ahead of this node's.",
            seconds: cluster.clockDifference.map { Double($0) / 1_000 })
    }

    private static func describeRows(of cluster: ClusterFigures, in text: inout MetricsText) {
        text.gauge(
            "reactord_cluster_applied_row", "The last row of the log that the node has applied.",
            cluster.appliedRow)
        text.gauge(
            "reactord_cluster_head_row",
            "The last row that any node has, by the nodes' reports.", cluster.headRow)
        text.gauge(
            "reactord_cluster_missing_entries",
            "Entries of the log that the node has not read.", cluster.missingEntryCount)
        text.gauge(
            "reactord_cluster_age_seconds",
            "The log ended with the node's last row at most this time ago.",
            seconds: cluster.age.map(MetricsText.seconds))
        text.gauge(
            "reactord_cluster_log_bytes",
            "Bytes of the entries that this leader has not compacted, since its start.",
            cluster.logByteCount)
    }

    private static func describeEngine(of meter: ClusterMeter, in text: inout MetricsText) {
        text.histogram(
            "reactord_cluster_append_seconds",
            "From the first call to append an entry to the answer that the log has it.",
            meter.appends)
        text.counter(
            "reactord_cluster_appended_entries_total", "Entries that this node appended.",
            meter.appendedCount)
        text.counter(
            "reactord_cluster_appended_bytes_total", "Bytes of these entries.",
            meter.appendedByteCount)
        text.counter(
            "reactord_cluster_unknown_appends_total",
            "Appends without an answer: the log may have the entry. They are sent again.",
            meter.unknownAppends)
        text.counter(
            "reactord_cluster_engine_errors_total",
            "Calls to etcd without an answer, or with an error instead of one.",
            meter.engineErrors)
        text.counter(
            "reactord_cluster_engine_reconnects_total", "Connections to etcd after the first.",
            meter.engineReconnects)
        text.counter(
            "reactord_cluster_compactions_total", "Compactions of the log by this node.",
            meter.compactions)
    }
}
