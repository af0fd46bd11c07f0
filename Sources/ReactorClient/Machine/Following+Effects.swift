import ReactorCore

extension Following {
    /// Work for the caller after a verb, in this order.
    struct Effects {
        /// Slices that the daemon is to end.
        var unsubscribed: [UInt32] = []
        /// Paths whose types to ask the daemon for.
        var asked: [String] = []
        /// Subscriptions to request from the daemon.
        var wanted: [Subscription] = []
        /// Sinks that get no more updates.
        var ended: [(sink: any SliceSink, error: ClientError)] = []

        var isEmpty: Bool {
            unsubscribed.isEmpty && asked.isEmpty && wanted.isEmpty && ended.isEmpty
        }
    }

    /// The client's own actions, for mirrors that preview some: which of them an update contains.
    struct OwnActions {
        /// The number by which the daemon knows this client.
        var client: UInt64?
        /// Ordinal up to which the daemon has processed the actions that it received.
        var processed: UInt64

        /// The last action of this client that an update certainly contains.
        func contained(in origin: Origin) -> UInt64 {
            origin.client == client ? max(origin.ordinal, processed) : processed
        }
    }
}
