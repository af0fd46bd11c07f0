public import ReactorCore

/// How a client connects, sends and waits.
public struct ClientOptions: Sendable {
    /// Name of the program, for people who look at the daemon; at most 64 bytes of it are sent.
    public var program = ""
    /// For how long the client's own thread polls after traffic before it sleeps; see
    /// `EventLoop`. Zero, the default, means never.
    public var spin = Duration.zero
    /// Most actions sent and without an outcome; the daemon may allow fewer.
    public var inFlightMax = 1_024
    /// Most bytes of actions that wait to be sent.
    public var queueBytesMax = 1 << 20
    /// Longest body of a frame from the daemon, in bytes; a longer one ends the connection.
    public var frameBytesMax = WireLimits.daemonFrameBytesMax
    /// Most bytes of updates held back until the daemon says that they are complete.
    public var stagedBytesMax = 1 << 30
    /// Nanoseconds within which the daemon answers the first frame.
    public var handshakeDeadline: UInt64 = 5_000_000_000
    /// A user other than the client's own and root whose daemon the client talks to.
    public var daemonUID: UInt32?
    /// Nanoseconds of pauses for which the first attempt goes on where the daemon, or the system in
    /// its place, says that too many clients come at once. 0 gives up at once.
    public var busyPatience: UInt64 = 5_000_000_000
    /// Nanoseconds of the shortest pause before an attempt to connect again. The first is drawn at
    /// random between it and its double, so that a thousand clients do not come at once.
    public var pauseMin: UInt64 = 50_000_000
    /// Nanoseconds of the longest pause; what may be drawn doubles with every attempt up to it.
    public var pauseMax: UInt64 = 5_000_000_000
    /// The secret of a session to go on with: that of an earlier ``Welcome``, kept by a program that
    /// ended without ``Client/close()``. Where another connection still speaks for it, the client
    /// is refused with SESSION_BUSY.
    public var session: [UInt8]?
    /// A file that keeps actions without an outcome, so that they survive this process: the next run
    /// with the same file goes on with the session and sends them again, in order; each is carried
    /// out once. ``ClientNotice/recovered(_:_:)`` tells what became of them.
    ///
    /// An action is in the file before it is sent, from the end of the turn in which the client took
    /// it. The file survives a crash of the program; nothing is synchronised, so a power cut may take
    /// its end, and what was to be sent with it. One client at a time has it: a second is refused with
    /// SESSION_BUSY. It has mode 0600, and holds the session's secret: ``session`` is not looked at.
    /// A client that is closed while actions have no outcome leaves them to the next run. One whose
    /// file cannot be written ends.
    public var journal: String?
    /// True where the client keeps trying when the daemon cannot be reached the first time.
    public var keepsTrying = false

    /// The time by which sagas over this client's mirrors wait.
    public var clock = TreeClock.continuous
    /// Starts the tasks of those sagas, and says how to cancel them: see
    /// `TreeEnvironment.spawn(on:)`.
    public var spawn = TreeEnvironment.spawnTask

    /// Options of a program of this name.
    public init(program: String = "", spin: Duration = .zero) {
        self.program = program
        self.spin = spin
    }
}
