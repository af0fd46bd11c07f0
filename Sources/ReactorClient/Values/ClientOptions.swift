public import ReactorCore

/// How a client connects, sends and waits.
public struct ClientOptions: Sendable {
    /// Name of the program, which the client sends to the daemon; at most 64 bytes of it.
    public var program = ""
    /// How long the client's own thread polls after traffic before it sleeps; see `EventLoop`.
    /// Zero, the default, means never.
    public var spin = Duration.zero
    /// Limit of actions sent and without an outcome; the daemon may allow fewer.
    public var inFlightMax = 1_024
    /// Limit of the bytes of waiting actions.
    public var queueBytesMax = 1 << 20
    /// Longest body of a frame from the daemon, in bytes; a longer one ends the connection.
    public var frameBytesMax = WireLimits.daemonFrameBytesMax
    /// Limit of the bytes of updates that are held back until the daemon's mark completes them.
    public var stagedBytesMax = 1 << 30
    /// Nanoseconds within which the daemon must answer the first frame.
    public var handshakeDeadline: UInt64 = 5_000_000_000
    /// A user, besides the client's own and root, whose daemon the client accepts.
    public var daemonUID: UInt32?
    /// Total of the pauses, in nanoseconds, during which the first attempt continues while the
    /// daemon or the system refuses with too many clients. 0 gives up at once.
    public var busyTimeout: UInt64 = 5_000_000_000
    /// Shortest pause before a new attempt to connect, in nanoseconds. The first is drawn at random
    /// between it and its double, so that a thousand clients do not connect at the same time.
    public var pauseMin: UInt64 = 50_000_000
    /// Longest pause, in nanoseconds; the range of the draw doubles with each attempt up to it.
    public var pauseMax: UInt64 = 5_000_000_000
    /// The secret of a session to continue: that of an earlier ``Welcome``, kept by a program that
    /// ended without ``Client/close()``. While another connection still has that session, the
    /// daemon refuses the client with SESSION_BUSY.
    public var session: [UInt8]?
    /// A file that keeps actions without an outcome, so that they survive this process: the next
    /// run with the same file continues the session and sends them again, in order; each is carried
    /// out once. ``ClientNotice/recovered(_:_:)`` reports their outcomes.
    ///
    /// An action is in the file before it is sent, from the end of the turn in which the client
    /// took it. The file survives a crash of the program. It is not synchronised to the disk, so a
    /// power cut may take its end, and the actions there. Only one client at a time can open it: a
    /// second is refused with SESSION_BUSY. It has mode 0600, and contains the session's secret:
    /// ``session`` is ignored. A client that is closed while actions have no outcome leaves them to
    /// the next run. A client that cannot write its file ends.
    public var journal: String?
    /// True if the client keeps trying when the daemon cannot be reached the first time.
    public var keepsTrying = false

    /// The clock of sagas over this client's mirrors.
    public var clock = TreeClock.continuous
    /// Starts the tasks of those sagas, and returns how to cancel them: see
    /// `TreeEnvironment.spawn(on:)`.
    public var spawn = TreeEnvironment.spawnTask

    /// Options for a program of this name.
    public init(program: String = "", spin: Duration = .zero) {
        self.program = program
        self.spin = spin
    }
}
