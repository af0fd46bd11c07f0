/// Why the daemon refused something: a closed connection, a request or an action.
///
/// A reactor's own rejections have codes of the author's choice, in lower case; these are the
/// system's, in upper case.
public struct FaultCode: RawRepresentable, Hashable, Sendable, WireCodable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The bytes are not frames. Closes the connection.
    public static let framing = FaultCode(rawValue: "PROTOCOL")
    /// A frame that is not allowed at this point of the conversation. Closes the connection.
    public static let state = FaultCode(rawValue: "STATE")
    /// No version of the wire is spoken by both sides. Closes the connection.
    public static let version = FaultCode(rawValue: "VERSION")
    /// The handshake or a frame took too long. Closes the connection.
    public static let timeout = FaultCode(rawValue: "TIMEOUT")
    /// The daemon holds as many connections as it may, and closes the connection; or it runs as many
    /// effects as it may, and refuses the action, which has changed nothing.
    public static let busy = FaultCode(rawValue: "BUSY")
    /// The daemon is going down. Closes the connection.
    public static let draining = FaultCode(rawValue: "DRAINING")
    /// The session is in use by another connection. Closes the connection.
    public static let sessionBusy = FaultCode(rawValue: "SESSION_BUSY")
    /// The bytes are a frame, but its body is not a valid value.
    public static let decode = FaultCode(rawValue: "DECODE")
    /// No node or field at the path.
    public static let notFound = FaultCode(rawValue: "NOT_FOUND")
    /// The path itself is not valid.
    public static let path = FaultCode(rawValue: "PATH")
    /// A limit of the connection or the user is reached.
    public static let quota = FaultCode(rawValue: "QUOTA")
    /// An ordinal that is neither new nor remembered.
    public static let ordinal = FaultCode(rawValue: "ORDINAL")
    /// The node is no longer at the expected revision, or a child to be created is there already.
    public static let conflict = FaultCode(rawValue: "CONFLICT")
    /// The connection that would have owned the result ended before there was one.
    public static let ownerEnded = FaultCode(rawValue: "OWNER_ENDED")
    /// The action's deadline had passed when its turn came.
    public static let deadline = FaultCode(rawValue: "DEADLINE")
    /// The chain of followers is too deep or too long.
    public static let loop = FaultCode(rawValue: "LOOP")
    /// The daemon was started anew while effects of the action may have run: those are gone.
    public static let effectsLost = FaultCode(rawValue: "EFFECTS_LOST")
    /// The action decided more mutations, or larger ones, than one transaction may hold.
    public static let tooLarge = FaultCode(rawValue: "TOO_LARGE")
    /// The daemon ended twice while it carried the action out.
    public static let poisoned = FaultCode(rawValue: "POISONED")
    /// The journal has no room; reads go on.
    public static let diskFull = FaultCode(rawValue: "DISK_FULL")
    /// The daemon keeps no history, or none that reaches as far or can be read.
    public static let history = FaultCode(rawValue: "HISTORY")
    /// Not for this user.
    public static let forbidden = FaultCode(rawValue: "FORBIDDEN")
    /// A file or directory of the daemon's machine cannot be read or made, or holds what is damaged.
    public static let storage = FaultCode(rawValue: "STORAGE")
}

extension FaultCode: CustomStringConvertible {
    public var description: String { rawValue }
}
