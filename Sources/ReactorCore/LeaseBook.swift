/// Which connections hold which children of a collection.
///
/// *Cost*: nothing here depends on how many others hold something.
struct LeaseBook {
    /// Whether the end of the lease ends the child, by connection, by key.
    private var holders: [WireKey: [UInt64: Bool]] = [:]
    /// How many children each connection holds.
    private var counts: [UInt64: Int] = [:]
    /// Children whose life one of their leases defined, though it may have ended before others.
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
    }

    /// Ends a lease, and says whether that ends the child: nobody else holds it, and one of its
    /// leases defined its life.
    mutating func leave(_ key: WireKey, _ connection: UInt64) -> Bool {
        guard holders[key]?.removeValue(forKey: connection) != nil else { return false }
        let left = (counts[connection] ?? 1) - 1
        counts[connection] = left > 0 ? left : nil
        guard holders[key]?.isEmpty ?? true else { return false }
        holders[key] = nil
        return defined.remove(key) != nil
    }

    /// What the book says of one child, to be put back by ``restore(_:_:)``.
    func page(_ key: WireKey) -> LeasePage {
        LeasePage(holders: holders[key] ?? [:], isDefined: defined.contains(key))
    }

    /// Puts back what the book said of one child.
    mutating func restore(_ key: WireKey, _ page: LeasePage) {
        for connection in (holders[key] ?? [:]).keys {
            let left = (counts[connection] ?? 1) - 1
            counts[connection] = left > 0 ? left : nil
        }
        for connection in page.holders.keys { counts[connection, default: 0] += 1 }
        holders[key] = page.holders.isEmpty ? nil : page.holders
        if page.isDefined { defined.insert(key) } else { defined.remove(key) }
    }

    /// How many children have a life that one of their leases defined.
    var definedCount: Int { defined.count }

    /// How many leases there are.
    var count: Int { counts.values.reduce(0, +) }
}

/// What a ``LeaseBook`` says of one child.
struct LeasePage {
    /// Whether the lease defines the child's life, by connection.
    var holders: [UInt64: Bool]
    var isDefined: Bool
}
