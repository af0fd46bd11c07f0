import ReactorBytes
import ReactorLoop
import ReactorServer

// MARK: - The configuration
extension ServerShell {
    /// Applies access rules from now on; `ownerUID` is the daemon's own user.
    func apply(_ rules: AccessRules, ownerUID: UInt32?) {
        server.apply(rules, ownerUID: ownerUID) { id in
            links.value[id.rawValue]?.peerGroups ?? []
        }
    }

    /// Applies quotas from now on.
    func apply(_ quotas: QuotaRules) {
        server.apply(quotas) { id in links.value[id.rawValue]?.peerGroups ?? [] }
        let limits = server.limits
        let userMax = [limits.memoryPerUIDMax, quotas.memoryMin ?? 0].filter { $0 > 0 }.min()
        meter.ceiling.setMax(limits.memoryMax, userMax: userMax ?? 0)
    }

    /// Applies what the configuration says besides limits and data, before clients are served.
    func begin(with config: DaemonConfig, ownerUID: UInt32) {
        meter.keepSlow(config.slowLog)
        if let access = config.access { apply(access, ownerUID: ownerUID) }
        apply(config.quotas)
    }

    /// Applies the values of another configuration that need no restart, between two turns.
    func apply(_ config: DaemonConfig) {
        server.setLimits(config.limits)
        apply(config.quotas)
        meter.keepSlow(config.slowLog)
        if let data = config.data { keeper?.keep(data) }
        loop.setSpin(config.spin)
        loop.turnAgain()
    }
}
