import Glibc

/// The counted figures, and the peer of each.
struct InstructionCounts {
    let daemon: String
    let program: String
    /// The directory for sockets.
    let directory: String
    /// The directory for profiles.
    let profiles: String
    let countsRedis: Bool

    private static let subscribers = 100

    /// Every figure with the name of its row.
    var all: [(name: String, count: () throws -> Row)] {
        let windows: [(Int, Double)] = [(1, 5_300), (16, 900), (64, 700), (1_024, 650)]
        let actionFigures = windows.map { window, target in
            figure("daemon: an action, window \(window)", against: "Redis INCR", .under(target)) {
                try actions($0, window: window)
            }
        }
        let deliveryFigures = [(1, 1_500.0), (64, 80)].map { window, target in
            figure(
                "daemon: a delivery to \(Self.subscribers), window \(window)",
                against: "Redis PUBLISH", .under(target)
            ) {
                try deliveries($0, window: window)
            }
        }
        let client: [(String, () throws -> Double)] = [
            ("client: await dispatch", { try clientActions(.await) }),
            ("client: await dispatch, its executor", { try clientActions(.executor) }),
            ("client: dispatch, window 1", { try clientActions(.one) }),
            ("client: dispatch, window \(CountedLoad.window)", { try clientActions(.window) }),
            ("client: a delta in a mirror", mirrorDeltas),
        ]
        return actionFigures + deliveryFigures + ruledFigures
            + client.map { name, count in (name, { row(name, try count()) }) }
    }

    /// The part of a figure's name that says that its client is subject to access rules. The figure
    /// without that text is its base.
    static let ruledText = " with rules"
    /// The user of such a client. Rules do not apply to root and to the daemon's user.
    private static let ruledUID: UInt32 = 1_002

    /// The figures of a client that is subject to access rules. Only root can be another user.
    private var ruledFigures: [(name: String, count: () throws -> Row)] {
        guard geteuid() == 0 else { return [] }
        let actionFigures: [(name: String, count: () throws -> Row)] = [64, 1_024].map { window in
            let name = "daemon: an action\(Self.ruledText), window \(window)"
            return (name, { row(name, try actions(.ruled, window: window)) })
        }
        // At window 64 a delivery is a small difference of large counts, and varies more.
        let name = "daemon: a delivery to \(Self.subscribers)\(Self.ruledText), window 1"
        return actionFigures + [(name, { row(name, try deliveries(.ruled, window: 1)) })]
    }

    private func figure(
        _ name: String, against: String, _ target: Row.Target,
        _ count: @escaping (Side) throws -> Double
    ) -> (name: String, count: () throws -> Row) {
        (
            name,
            {
                let peer = countsRedis ? try count(.redis) : nil
                return row(name, try count(.reactord), peer, countsRedis ? against : "", target)
            }
        )
    }

    private func row(
        _ name: String, _ ours: Double, _ peer: Double? = nil, _ against: String = "",
        _ target: Row.Target? = nil
    ) -> Row {
        Row(
            measure: name, placement: "callgrind", unit: .instructions, ours: ours, peer: peer,
            against: against, target: target)
    }
}

// MARK: - Servers
extension InstructionCounts {
    private enum Side: String {
        case reactord
        /// The daemon with access rules, and clients that they name.
        case ruled
        case redis
    }

    /// One client in lockstep: a whole window is sent with one call, and answered before the next.
    private func actions(_ side: Side, window: Int) throws -> Double {
        try RunLengths.actions.perUnit { length, profile in
            try counted(side, "\(side)-window-\(window)-\(profile)") { socket in
                switch side {
                case .reactord, .ruled:
                    let client = try connect(side, to: socket)
                    for _ in 0..<length / window { try client.increment(count: window) }
                case .redis:
                    let client = try RawSocket(connectingTo: socket)
                    let commands = (0..<window).flatMap { _ in RedisCommand.increment }
                    for _ in 0..<length / window {
                        try client.send(commands)
                        try client.receiveLines(count: window)
                    }
                }
            }
        }
    }

    /// The same, with subscribers that read each window's deliveries before the next.
    private func deliveries(_ side: Side, window: Int) throws -> Double {
        try RunLengths.fanOut.perUnit(each: Self.subscribers) { length, profile in
            try counted(side, "\(side)-fan-out-\(window)-\(profile)") { socket in
                switch side {
                case .reactord, .ruled: try fanOut(side, at: socket, length, window)
                case .redis: try redisFanOut(at: socket, length, window)
                }
            }
        }
    }

    /// Connects as the user of a side: the kernel tells the daemon the user at the connect.
    private func connect(_ side: Side, to socket: String) throws -> FrameSocket {
        guard side == .ruled else { return try FrameSocket(connectingTo: socket) }
        guard seteuid(Self.ruledUID) == 0 else { throw LoadError("seteuid: errno \(errno)") }
        defer { seteuid(0) }
        return try FrameSocket(connectingTo: socket)
    }

    private func fanOut(_ side: Side, at socket: String, _ length: Int, _ window: Int) throws {
        let subscribers = try (0..<Self.subscribers).map { _ in
            let subscriber = try connect(side, to: socket)
            try subscriber.subscribe()
            return subscriber
        }
        let writer = try connect(side, to: socket)
        for _ in 0..<length / window {
            try writer.increment(count: window)
            for subscriber in subscribers { try subscriber.receiveDeltas(count: window) }
        }
    }

    private func redisFanOut(at socket: String, _ length: Int, _ window: Int) throws {
        let subscribers = try (0..<Self.subscribers).map { _ in
            let subscriber = try RawSocket(connectingTo: socket)
            try subscriber.send(RedisCommand.subscribe)
            try subscriber.receive(RedisCommand.subscribedByteCount)
            return subscriber
        }
        let publisher = try RawSocket(connectingTo: socket)
        let commands = (0..<window).flatMap { _ in RedisCommand.publish }
        for _ in 0..<length / window {
            try publisher.send(commands)
            try publisher.receiveLines(count: window)
            for subscriber in subscribers {
                try subscriber.receive(window * RedisCommand.messageByteCount)
            }
        }
    }

    /// Returns the instructions of a server from its start to its end, with `load` in between.
    private func counted(
        _ side: Side, _ profile: String, _ load: (_ socket: String) throws -> Void
    ) throws -> Double {
        let callgrind = Callgrind(directory: profiles)
        let wrap = { callgrind.command($0, profile: profile) }
        let server =
            switch side {
            case .reactord, .ruled:
                try ServerProcess.daemon(
                    daemon, try setup(of: side), in: directory, .unpinned, wrap)
            case .redis:
                try ServerProcess.redis(
                    durability: .memory, in: directory, data: directory, .unpinned, wrap)
            }
        try load(server.socket)
        server.terminate()
        return try callgrind.instructions(profile: profile)
    }

    private func setup(of side: Side) throws -> DaemonSetup {
        var setup = Self.setup
        guard side == .ruled else { return setup }
        (setup.ruledUID, setup.hasMap) = (Self.ruledUID, true)
        guard chmod(directory, 0o755) == 0 else { throw LoadError("chmod: errno \(errno)") }
        return setup
    }

    // Polling would be counted, and its amount depends on the machine's load.
    private static let setup = DaemonSetup(polls: false)
}

// MARK: - The client in Swift
extension InstructionCounts {
    private func clientActions(_ part: CountedLoad.Part) throws -> Double {
        try RunLengths.actions.perUnit { length, profile in
            try countedClient(part, length, profile) { _, _ in }
        }
    }

    /// Returns the instructions per delta of a mirror whose state another process changes, window
    /// by window.
    private func mirrorDeltas() throws -> Double {
        try RunLengths.actions.perUnit { length, profile in
            try countedClient(.mirror, length, profile) { socket, client in
                let writer = try FrameSocket(connectingTo: socket)
                for _ in 0..<length / CountedLoad.window {
                    try client.waitForOutput()
                    try writer.increment(count: CountedLoad.window)
                }
            }
        }
    }

    /// Returns the instructions of this program as a client, with `load` beside it.
    private func countedClient(
        _ part: CountedLoad.Part, _ length: Int, _ profile: String,
        _ load: (_ socket: String, _ client: ChildProcess) throws -> Void
    ) throws -> Double {
        let callgrind = Callgrind(directory: profiles)
        let name = "client-\(part.rawValue)-\(profile)"
        let server = try ServerProcess.daemon(daemon, Self.setup, in: directory, .unpinned)
        defer { server.terminate() }
        let client = try ChildProcess(
            callgrind.command(
                [
                    program, "counted", part.rawValue, "--socket", server.socket, "--spin", "0",
                    "--total", "\(length)",
                ], profile: name), onCore: nil)
        try load(server.socket, client)
        _ = try client.finish()
        return try callgrind.instructions(profile: name)
    }
}
