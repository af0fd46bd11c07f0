import ReactorLoop
import ReactorServer

/// Compares the configuration in force with a newly read configuration, key by key.
///
///     let change = ConfigChange(of: running, to: wanted)
///     apply(change.config)
///
/// *Place*: ``ConfigReloader`` makes one for each reading of the file. *Shape*: a value. A key is in
/// ``applied`` or in ``needsRestart`` if and only if its value differs.
struct ConfigChange {
    /// The configuration in force, with the new values of the keys in ``applied``.
    private(set) var config: DaemonConfig
    /// Keys whose new values apply in a running daemon, such as `log.level`.
    private(set) var applied: [String] = []
    /// Keys whose new values apply after a restart.
    private(set) var needsRestart: [String] = []
    private let wanted: DaemonConfig

    /// Compares all keys of `running` with those of `wanted`.
    init(of running: DaemonConfig, to wanted: DaemonConfig) {
        config = running
        self.wanted = wanted
        keep("socket.path", \.socket)
        keep("socket.mode", \.permissions.mode)
        keep("socket.group", \.permissions.gid)
        keep("admin.socket", \.adminSocket)
        compareAccess()
        compareData()
        compareCluster()
        take("log.level", \.logLevel)
        take("log.format", \.logFormat)
        keep("metrics.socket", \.metrics.socket)
        take("metrics.textfile", \.metrics.textfile)
        take("metrics.every", \.metrics.every)
        take("slowLog.actions", \.slowLog.actions)
        take("slowLog.turns", \.slowLog.turns)
        take("slowLog.commits", \.slowLog.commits)
        take("slowLog.questions", \.slowLog.questions)
        take("slowLog.entriesMax", \.slowLog.entriesMax)
        take("loop.spin", \.spin)
        keep("loop.watchdog", \.watchdog)
        keep("process.coreDumps", \.allowsCoreDumps)
        take("quotas", \.quotas)
        compareLimits()
        compareReactors()
    }

    private mutating func take<Value: Equatable>(
        _ key: String, _ path: WritableKeyPath<DaemonConfig, Value>
    ) {
        guard config[keyPath: path] != wanted[keyPath: path] else { return }
        config[keyPath: path] = wanted[keyPath: path]
        applied.append(key)
    }

    private mutating func keep<Value: Equatable>(
        _ key: String, _ path: KeyPath<DaemonConfig, Value>
    ) {
        if config[keyPath: path] != wanted[keyPath: path] { needsRestart.append(key) }
    }

    /// Other rules apply at once. Without rules, all callers share what is kept for them, so the
    /// first and the last rule need a restart.
    private mutating func compareAccess() {
        guard config.access != nil, wanted.access != nil else { return keep("access", \.access) }
        take("access", \.access)
    }

    private mutating func compareData() {
        guard var data = config.data, let new = wanted.data else {
            return keep("data", \.data)
        }
        func takeData<Value: Equatable>(
            _ key: String, _ path: WritableKeyPath<DataConfig, Value>
        ) {
            guard data[keyPath: path] != new[keyPath: path] else { return }
            data[keyPath: path] = new[keyPath: path]
            applied.append(key)
        }
        func keepData<Value: Equatable>(
            _ key: String, _ path: KeyPath<DataConfig, Value>
        ) {
            if data[keyPath: path] != new[keyPath: path] { needsRestart.append(key) }
        }
        keepData("data.directory", \.directory)
        keepData("data.durability", \.durability)
        takeData("data.snapshotBytes", \.snapshotBytes)
        takeData("data.snapshotInterval", \.snapshotInterval)
        takeData("data.keepDuration", \.keepDuration)
        takeData("data.keepBytes", \.keepBytes)
        takeData("data.bytesMax", \.bytesMax)
        keepData("data.reserveBytes", \.reserveBytes)
        keepData("data.dropped", \.dropped)
        config.data = data
    }

    private mutating func compareCluster() {
        guard config.cluster != nil, wanted.cluster != nil else {
            return keep("cluster", \.cluster)
        }
        keep("cluster.name", \.cluster?.name)
        keep("cluster.node", \.cluster?.node)
        keep("cluster.engine", \.cluster?.engine)
        keep("cluster.nodes", \.cluster?.nodes)
        keep("cluster.takeover", \.cluster?.takeover)
        keep("cluster.lostAfter", \.cluster?.lostAfter)
        keep("cluster.staleMax", \.cluster?.staleMax)
        keep("cluster.logBytes", \.cluster?.logBytes)
        keep("cluster.candidate", \.cluster?.isCandidate)
    }

    private mutating func compareLimits() {
        for entry in LimitTable.entries {
            let key = "limits.\(entry.name)"
            switch entry.slot {
            // The welcome has told each client the former value: a client that used it would be
            // closed.
            case .bytes(\.frameBytesMax, _)
            where wanted.limits.frameBytesMax < config.limits.frameBytesMax:
                needsRestart.append(key)
            case .count(let path, _), .bytes(let path, _), .ceiling(let path, _):
                takeLimit(key, path)
            case .share(let path, _): takeLimit(key, path)
            case .duration(let path, _): takeLimit(key, path)
            }
        }
    }

    private mutating func takeLimit<Value: Equatable>(
        _ key: String, _ path: WritableKeyPath<ServerLimits, Value>
    ) {
        guard config.limits[keyPath: path] != wanted.limits[keyPath: path] else { return }
        config.limits[keyPath: path] = wanted.limits[keyPath: path]
        applied.append(key)
    }

    /// Adds the nodes at the top of the tree that were added, removed or changed.
    private mutating func compareReactors() {
        for spec in config.reactors {
            let new = wanted.reactors.first { $0.name == spec.name }
            guard let new, spec.makesSame(as: new) else {
                needsRestart.append("reactors.\(spec.name)")
                continue
            }
        }
        for spec in wanted.reactors where !config.reactors.contains(where: { $0.name == spec.name })
        {
            needsRestart.append("reactors.\(spec.name)")
        }
    }
}

extension ReactorSpec {
    /// Whether both make the same nodes, wherever they are in a file.
    fileprivate func makesSame(as other: ReactorSpec) -> Bool {
        name == other.name && kind == other.kind && options == other.options
            && children.count == other.children.count
            && zip(children, other.children).allSatisfy { $0.makesSame(as: $1) }
    }
}
