#if Cluster
    import ReactorCluster
    import ReactorEtcd
    import ReactorLoop

    /// The engines that the tests of ``LogEngine`` run against.
    enum EngineKind: CaseIterable {
        case etcd

        /// Starts an engine of `members` members, with an empty log.
        func start(members: Int) async throws -> any EngineWorld {
            switch self {
            case .etcd: EtcdWorld(try await EtcdProcesses.start(members))
            }
        }
    }

    /// An engine with its members.
    protocol EngineWorld {
        /// Connects to a member.
        func connect(to member: Int) async throws -> LogProbe
    }

    extension EngineWorld {
        /// Connects `count` clients, each to the next member.
        func connect(_ count: Int, members: Int) async throws -> [LogProbe] {
            var probes: [LogProbe] = []
            for index in 0..<count { probes.append(try await connect(to: index % members)) }
            return probes
        }
    }

    /// Real etcd members.
    struct EtcdWorld: EngineWorld {
        let etcd: EtcdProcesses

        init(_ etcd: EtcdProcesses) { self.etcd = etcd }

        func connect(to member: Int) async throws -> LogProbe {
            try await connect(at: etcd.socket(member))
        }

        /// Connects to the member, or what passes its bytes on, at `socket`.
        func connect(
            at socket: String, deadline: Duration = .seconds(60)
        ) async throws -> LogProbe {
            let probe = try open(socket, deadline: deadline).probe
            _ = await probe.next { $0 == .up }
            return probe
        }

        /// Begins to connect to `socket`. The members run as long as the probe exists.
        func open(
            _ socket: String, deadline: Duration
        ) throws -> (log: EtcdLog, probe: LogProbe) {
            let loop = try EventLoop()
            let log = try EtcdLog(
                socket: socket, keys: ClusterKeys(name: "test"), deadline: deadline, on: loop)
            let probe = LogProbe(log) { [etcd] in
                withExtendedLifetime(etcd) { loop.turn(.noWait) }
            }
            log.open()
            return (log, probe)
        }
    }
#endif
