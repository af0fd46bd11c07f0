import Logging
import ReactorCluster
import ReactorCore
import ReactorLoop
import ReactorServer
import ReactorWire

/// Writes what a server and a cluster report to the operator's log, and tells the service manager.
struct EventReport {
    let logger: Logger
    let supervisor: Supervisor?

    /// Maximum number of effects named in the log; the number of all is logged too.
    static let abandonedNamesMax = 16

    /// Writes an event of the server.
    func write(_ event: ServerEvent) {
        var metadata: Logger.Metadata = [:]
        let text: String
        let leftOut: UInt64
        switch event {
        case .closedForFault(let id, let peer, let code, let reason, let count):
            text = "closed a connection: \(reason)"
            metadata = [
                "code": "\(code)", "connection": "\(id.rawValue)", "uid": "\(peer.uid)",
                "pid": "\(peer.pid)",
            ]
            leftOut = count
        case .turnedAway(let peer, let reason, let count):
            text = "turned a client away: \(reason)"
            metadata = ["uid": "\(peer.uid)", "pid": "\(peer.pid)"]
            leftOut = count
        case .contradicted(let peer, let claim):
            return logger.critical(
                "the history has lost its tail or was replaced by an older copy: a new epoch begins",
                metadata: [
                    "reason": "\(claim)", "uid": "\(peer.uid)", "pid": "\(peer.pid)",
                ])
        case .complaint(let complaint, let count):
            text = complaint
            leftOut = count
        }
        if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
        // The text may contain what a client sent.
        logger.warning("\(text.terminalSafe)", metadata: metadata)
    }

    /// Writes what the cluster reports; `name` returns the name of a node.
    func write(_ news: ClusterNews, name: (ClusterNode) -> String?) {
        switch news {
        case .leads(let term):
            logger.notice("leads the cluster", metadata: ["term": "\(term)"])
            notify("leading")
        case .ceased(let term):
            logger.notice("leads the cluster no more", metadata: ["term": "\(term)"])
            notify("following")
        case .leader(let node):
            guard let node else { return logger.warning("no node leads the cluster") }
            logger.notice("a node leads the cluster", metadata: ["node": "\(name(node) ?? "?")"])
        case .cut(true):
            logger.warning("serves no client: it does not know how old its state is")
            notify("cut off from the cluster")
        case .cut(false):
            logger.notice("serves clients: its state is that of the cluster")
            notify("in the cluster")
        case .outage(let outage?):
            logger.warning("etcd does not answer", metadata: ["reason": "\(outage)"])
        case .outage(nil): logger.notice("etcd answers again")
        case .disconnected(let reason):
            logger.warning("the connection to etcd ended", metadata: ["reason": "\(reason)"])
        case .disk(let reason?):
            logger.critical(
                "the disk is full: rows of the cluster's log wait in memory for space",
                metadata: ["reason": "\(reason)"])
        case .disk(nil): logger.notice("the disk has room again: storing the waiting rows")
        case .stop(let error): logger.critical("\(error)")
        }
    }

    /// Writes the effects that did not end after their cancellation; they end with the process.
    func write(abandoned effects: [EffectListing]) {
        guard !effects.isEmpty else { return }
        let names = effects.prefix(Self.abandonedNamesMax).map { effect in
            effect.cancelID.map { "\(effect.path) \($0)" } ?? "\(effect.path)"
        }
        logger.warning(
            "abandoned effects and sagas that did not end: make them end when they are cancelled",
            metadata: ["count": "\(effects.count)", "of": "\(names.joined(separator: ", "))"])
    }

    private func notify(_ status: String) { supervisor?.notify("STATUS=\(status)") }
}
