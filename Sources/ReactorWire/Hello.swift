/// The first frame of a client.
@WireCodable
package struct Hello: Equatable, Sendable {
    /// `number` of a hello's header: "REACTORD" in ASCII. It distinguishes a client from another
    /// program within one read.
    package static let magic: UInt64 = 0x4452_4f54_4341_4552
    /// The version of the wire that this library speaks.
    package static let version: UInt16 = 1

    /// Lowest version that the client speaks.
    package var versionMin: UInt16 = 1
    /// Highest version that the client speaks.
    package var versionMax: UInt16 = 1
    /// The session to resume: 16 bytes from an earlier ``Welcome``; `nil` for a new one.
    package var session: [UInt8]?
    /// Highest ordinal of that session up to which the client has all outcomes.
    package var confirmed: UInt64 = 0
    /// Highest ordinal of that session whose action the client knows to be applied; 0 if none.
    package var applied: UInt64 = 0
    /// Name of the program, for people to read; at most 64 bytes.
    package var program: String = ""
    /// The epoch of the daemon that issued ``session``, if one is given: see ``Revision``.
    package var epoch: UInt64?
    /// The sequence of the ``Welcome`` that first contained ``session``, if one is given.
    package var since: UInt64?

    /// Makes a greeting.
    package init(
        versionMin: UInt16 = Hello.version, versionMax: UInt16 = Hello.version,
        session: [UInt8]? = nil, confirmed: UInt64 = 0, applied: UInt64 = 0,
        program: String = "", epoch: UInt64? = nil, since: UInt64? = nil
    ) {
        self.versionMin = versionMin
        self.versionMax = versionMax
        self.session = session
        self.confirmed = confirmed
        self.applied = applied
        self.program = program
        self.epoch = epoch
        self.since = since
    }
}

/// The daemon's answer to ``Hello``.
@WireCodable
public struct Welcome: Equatable, Sendable {
    /// The version that both sides use from here on.
    public var version: UInt16
    /// Name and version of the daemon.
    public var daemon: String
    /// The epoch: see ``Revision``.
    public var epoch: UInt64
    /// The sequence of the last applied action.
    package var sequence: UInt64
    /// The session's secret, 16 bytes.
    public var session: [UInt8]
    /// Whether the daemon resumed ``Hello/session``; if not, ``session`` is a new one.
    public var isResumed: Bool
    /// The client's public number, which other clients see as the origin of its changes.
    public var client: UInt64
    /// Number of this connection, by which presence, locks and queues name their holders. A client
    /// that reconnects gets another one.
    public var connection: UInt64
    /// Highest ordinal of the session so far; 0 if none.
    package var ordinal: UInt64
    /// The limits of this connection.
    package var limits: Limits

    /// Makes an answer to a greeting.
    package init(
        version: UInt16, daemon: String, epoch: UInt64, sequence: UInt64, session: [UInt8],
        isResumed: Bool, client: UInt64, connection: UInt64 = 0, ordinal: UInt64, limits: Limits
    ) {
        self.version = version
        self.daemon = daemon
        self.epoch = epoch
        self.sequence = sequence
        self.session = session
        self.isResumed = isResumed
        self.client = client
        self.connection = connection
        self.ordinal = ordinal
        self.limits = limits
    }

    /// The limits of one connection.
    @WireCodable
    @MemberwiseInit
    package struct Limits: Equatable, Sendable {
        /// Maximum body of a client's frame in bytes; the daemon's frames have at most
        /// ``WireLimits/daemonFrameBytesMax``.
        package var frameBytesMax: UInt32
        /// Maximum actions without an outcome.
        package var inFlightMax: UInt32
        /// Maximum open nodes.
        package var nodesMax: UInt32
        /// Maximum subscriptions.
        package var subscriptionsMax: UInt32
    }
}

/// The reason why the daemon closes a connection.
@WireCodable
package struct Closing: Equatable, Sendable {
    /// The reason, for programs.
    package var code: FaultCode
    /// The reason, for people to read.
    package var message: String
    /// Byte offset of the offending frame in the client's stream.
    package var offset: UInt64?
    /// For ``FaultCode/version``: the lowest version that the daemon speaks.
    package var versionMin: UInt16?
    /// For ``FaultCode/version``: the highest version.
    package var versionMax: UInt16?

    /// Makes a closing message.
    package init(
        _ code: FaultCode, _ message: String, offset: UInt64? = nil, versionMin: UInt16? = nil,
        versionMax: UInt16? = nil
    ) {
        self.code = code
        self.message = message
        self.offset = offset
        self.versionMin = versionMin
        self.versionMax = versionMax
    }
}
