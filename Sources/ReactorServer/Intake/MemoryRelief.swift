import ReactorCore
import ReactorWire

/// Frees memory while the process is near its ceiling. It has no state.
///
/// *Place*: ``Server/relieve(_:at:)``, after each measurement.
struct MemoryRelief {
    let limits: ServerLimits
    let peers: PeerAdmission
    let dispatcher: Dispatcher
    let subscriptions: Subscriptions
    let intake: Intake
    let connections: ConnectionTable

    /// A connection that keeps less than this share of the ceiling alive is not closed: states are
    /// what fills the memory.
    static let shareMin = 64

    /// Applies what `pressure` demands: see ``MemoryPressure``.
    func apply(_ pressure: MemoryPressure) {
        dispatcher.refuseGrowth(while: pressure == .full)
        peers.refuseOthers(while: pressure != .none)
        if pressure != .none { subscriptions.dropCaches() }
        if pressure == .full { closeHeaviest() }
    }

    /// Closes the connection that keeps most bytes alive, of the user whose connections do.
    private func closeHeaviest() {
        var sums: [UInt32: Int] = [:]
        for connection in connections.values where !connection.isLeaving {
            sums[connection.peer.uid, default: 0] += connection.keptBytes
        }
        guard let heaviest = sums.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else {
            return
        }
        let candidates = connections.values.filter {
            !$0.isLeaving && $0.peer.uid == heaviest.key
        }
        guard
            let connection = candidates.max(by: {
                ($0.keptBytes, $1.id.rawValue) < ($1.keptBytes, $0.id.rawValue)
            }), connection.keptBytes >= limits.memoryMax / Self.shareMin
        else { return }
        intake.fail(
            connection, .quota,
            "the daemon has reached memoryMax \(limits.memoryMax) bytes, and this connection keeps "
                + "\(connection.keptBytes) of them, of \(heaviest.value) of uid \(heaviest.key): "
                + "read faster, or send less")
    }
}
