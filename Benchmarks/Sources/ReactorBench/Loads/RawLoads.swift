import ArgumentParser

/// One `INCR` at a time, through blocking calls: the latency of Redis alone.
struct RedisRoundTripLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "redis-round-trip")

    @OptionGroup var options: LoadOptions

    func run() throws {
        let socket = try RawSocket(connectingTo: options.socket)
        try reportRoundTrips(lasting: options.nanoseconds) {
            try socket.send(RedisCommand.increment)
            guard try socket.receiveLine() == UInt8(ascii: ":") else {
                throw LoadError("INCR: expected a number")
            }
        }
    }
}

/// One message at a time between two processes: the lower bound of any round trip.
struct FloorLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "floor")

    @Option(help: "For how long to measure, in seconds.")
    var seconds = 1.0

    @Option(help: "The core of the other process; -1 for any.")
    var core: Int32 = -1

    func run() throws {
        // About the size of an increment: a frame's header and a few bytes.
        let message = [UInt8](repeating: 1, count: 32)
        let socket = try RawSocket(echoing: message.count, onCore: core)
        try reportRoundTrips(lasting: UInt64(seconds * 1e9)) {
            try socket.send(message)
            try socket.receive(message.count)
        }
    }
}

/// The time from `PUBLISH` on one connection to its arrival on another.
struct RedisVisibleLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "redis-visible")

    @OptionGroup var options: LoadOptions

    func run() throws {
        let publisher = try RawSocket(connectingTo: options.socket)
        let subscriber = try RawSocket(connectingTo: options.socket)
        try subscriber.send(RedisCommand.subscribe)
        try subscriber.receive(RedisCommand.subscribedByteCount)
        let clock = Monotonic()
        let stretch = Stretch(now: clock.now, lasting: options.nanoseconds)
        var samples = Samples()
        while clock.now < stretch.end {
            let start = clock.now
            try publisher.send(RedisCommand.publish)
            try subscriber.receive(RedisCommand.messageByteCount)
            if start >= stretch.begin { samples.add(clock.now - start) }
            try publisher.receiveLine()
        }
        report(try samples.summary())
    }
}

/// Repeats `exchange` and reports the durations.
private func reportRoundTrips(lasting nanoseconds: UInt64, _ exchange: () throws -> Void) throws {
    let clock = Monotonic()
    let stretch = Stretch(now: clock.now, lasting: nanoseconds)
    var samples = Samples()
    var now = clock.now
    while now < stretch.end {
        let start = now
        try exchange()
        now = clock.now
        if start >= stretch.begin { samples.add(now - start) }
    }
    report(try samples.summary())
}
