/// Which connections hold which children of a collection.
///
/// *Cost*: no operation depends on the number of other holders.
struct LeaseBook {
    /// Whether the lease defines the child's lifetime, by key and connection.
    private var holders: [WireKey: [UInt64: Bool]] = [:]
    /// How many children each connection holds.
    private var counts: [UInt64: Int] = [:]
    /// Children whose lifetime at least one lease defined, even if that lease has ended.
    private var defined: Set<WireKey> = []

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
        if definesLifecycle { defined.insert(key) }
        assert(invariants(at: key))
    }

    /// Ends a lease. Returns whether the child is to be removed: no connection holds it any more,
    /// and one of its leases defined its lifetime.
    mutating func leave(_ key: WireKey, _ connection: UInt64) -> Bool {
        defer { assert(invariants(at: key)) }
        guard holders[key]?.removeValue(forKey: connection) != nil else { return false }
        let left = (counts[connection] ?? 1) - 1
        counts[connection] = left > 0 ? left : nil
        guard holders[key]?.isEmpty ?? true else { return false }
        holders[key] = nil
        return defined.remove(key) != nil
    }

    /// The entry of one child, for ``restore(_:_:)``.
    func page(_ key: WireKey) -> LeasePage {
        LeasePage(holders: holders[key] ?? [:], isDefined: defined.contains(key))
    }

    /// Restores the entry of one child.
    mutating func restore(_ key: WireKey, _ page: LeasePage) {
        for connection in (holders[key] ?? [:]).keys {
            let left = (counts[connection] ?? 1) - 1
            counts[connection] = left > 0 ? left : nil
        }
        for connection in page.holders.keys { counts[connection, default: 0] += 1 }
        holders[key] = page.holders.isEmpty ? nil : page.holders
        if page.isDefined { defined.insert(key) } else { defined.remove(key) }
        assert(invariants(at: key))
    }

    /// Number of children whose lifetime a lease defined.
    var definedCount: Int { defined.count }

    /// Number of leases.
    var count: Int { counts.values.reduce(0, +) }

    /// Each holder of a child is counted, and a child whose lifetime a lease defines has a holder;
    /// checked for one child, since a check of all would take as long as the book is large.
    func invariants(at key: WireKey) -> Bool {
        let holders = holders[key]
        return holders?.isEmpty != true && (holders != nil || !defined.contains(key))
            && (holders ?? [:]).keys.allSatisfy { counts[$0] ?? 0 > 0 }
    }
}

/// The entry of one child in a ``LeaseBook``.
struct LeasePage {
    /// Whether the lease defines the child's lifetime, by connection.
    var holders: [UInt64: Bool]
    var isDefined: Bool
}
