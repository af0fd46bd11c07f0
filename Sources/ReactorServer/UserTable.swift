/// What each user takes up: connections and subscriptions, by uid.
///
/// *Place*: what one user may have is limited, so that the rest is there for the others.
struct UserTable {
    /// What one user takes up.
    struct Use: Equatable {
        /// Connections that were admitted and are not gone.
        var connections = 0
        /// Subscriptions of all of them.
        var subscriptions = 0
    }

    private var uses: [UInt32: Use] = [:]
    /// What all users together take up.
    private(set) var total = Use()

    /// Users who take up anything.
    var count: Int { uses.count }

    /// What `uid` takes up.
    subscript(uid: UInt32) -> Use { uses[uid] ?? Use() }

    /// Notes that `uid` takes up so much more, or less.
    mutating func add(connections: Int = 0, subscriptions: Int = 0, of uid: UInt32) {
        var use = self[uid]
        use.connections += connections
        use.subscriptions += subscriptions
        precondition(
            use.connections >= 0 && use.subscriptions >= 0, "uid \(uid) gave back more than it had")
        uses[uid] = use == Use() ? nil : use
        total.connections += connections
        total.subscriptions += subscriptions
    }
}
