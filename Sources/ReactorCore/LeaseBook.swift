/// Which connections hold which children of a collection.
///
/// *Cost*: nothing here depends on how many others hold something.
struct LeaseBook {
    /// Whether the end of the lease ends the child, by connection, by key.
    private var holders: [WireKey: [UInt64: Bool]] = [:]
    /// How many children each connection holds.
    private var counts: [UInt64: Int] = [:]

    func isHeld(_ key: WireKey, by connection: UInt64) -> Bool {
        holders[key]?[connection] != nil
    }

    /// Whether the connection may hold one more.
    func hasRoom(for connection: UInt64) -> Bool {
        counts[connection] ?? 0 < CoreLimits.leasesPerConnectionMax
    }

    mutating func hold(_ key: WireKey, by connection: UInt64, definesLifecycle: Bool) {
        if holders[key, default: [:]].updateValue(definesLifecycle, forKey: connection) == nil {
            counts[connection, default: 0] += 1
        }
    }

    /// Ends a lease, and says whether that ends the child: nobody else holds it, and this lease
    /// defined its life.
    mutating func leave(_ key: WireKey, _ connection: UInt64) -> Bool {
        guard let definesLifecycle = holders[key]?.removeValue(forKey: connection) else {
            return false
        }
        let left = (counts[connection] ?? 1) - 1
        counts[connection] = left > 0 ? left : nil
        guard holders[key]?.isEmpty ?? true else { return false }
        holders[key] = nil
        return definesLifecycle
    }

    /// How many leases there are.
    var count: Int { counts.values.reduce(0, +) }
}
