/// The reason why the daemon refused a connection, a request or an action.
///
/// A reactor's own rejections have codes of the author's choice, in lower case; the codes of the
/// system are in upper case.
public struct FaultCode: RawRepresentable, Hashable, Sendable, WireCodable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The bytes are not frames. Closes the connection.
    public static let framing = FaultCode(rawValue: "PROTOCOL")
    /// A frame that is not allowed at this point of the protocol. Closes the connection.
    public static let state = FaultCode(rawValue: "STATE")
    /// The two sides have no wire version in common. Closes the connection.
    public static let version = FaultCode(rawValue: "VERSION")
    /// The handshake or a frame took too long. Closes the connection.
    public static let timeout = FaultCode(rawValue: "TIMEOUT")
    /// The daemon is at its limit of connections and closes this one, or it is at its limit of
    /// effects and refuses the action, which has changed nothing.
    public static let busy = FaultCode(rawValue: "BUSY")
    /// The daemon is shutting down. Closes the connection.
    public static let draining = FaultCode(rawValue: "DRAINING")
    /// The daemon cannot reach its cluster's log and does not know how old its state is; or it cannot
    /// reach the leader, which may give others what this client owns; or it goes back to the rows of
    /// the log. Closes the connection; the client may connect again.
    public static let cut = FaultCode(rawValue: "CUT")
    /// An operator ended the connection. Closes the connection; the client may connect again.
    public static let kicked = FaultCode(rawValue: "KICKED")
    /// The session is in use by another connection. Closes the connection.
    public static let sessionBusy = FaultCode(rawValue: "SESSION_BUSY")
    /// The bytes are a frame, but its body is not a valid value.
    public static let decode = FaultCode(rawValue: "DECODE")
    /// There is no node or field at the path.
    public static let notFound = FaultCode(rawValue: "NOT_FOUND")
    /// The path itself is not valid.
    public static let path = FaultCode(rawValue: "PATH")
    /// A limit of the connection or of the user is reached.
    public static let quota = FaultCode(rawValue: "QUOTA")
    /// The ordinal is not new, and its outcome is no longer stored.
    public static let ordinal = FaultCode(rawValue: "ORDINAL")
    /// The node is no longer at the expected revision, or the child to be created exists.
    public static let conflict = FaultCode(rawValue: "CONFLICT")
    /// The connection that would have owned the result ended before the result.
    public static let ownerEnded = FaultCode(rawValue: "OWNER_ENDED")
    /// The deadline passed before the daemon ran the action.
    public static let deadline = FaultCode(rawValue: "DEADLINE")
    /// The chain of transactions that the action caused, or of actions that reactors sent on within
    /// it, is too deep or too long.
    public static let loop = FaultCode(rawValue: "LOOP")
    /// A reactor sent the action on, and the reactor that received it deferred its answer. Only the
    /// reactor that the client addressed can do that.
    public static let deferred = FaultCode(rawValue: "DEFERRED")
    /// The daemon was restarted while effects of the action may have run; they are lost.
    public static let effectsLost = FaultCode(rawValue: "EFFECTS_LOST")
    /// The action decided more mutations, or larger ones, than fit one transaction.
    public static let tooLarge = FaultCode(rawValue: "TOO_LARGE")
    /// The daemon ended twice while it ran the action.
    public static let poisoned = FaultCode(rawValue: "POISONED")
    /// The disk of the journal is full; reads still work.
    public static let diskFull = FaultCode(rawValue: "DISK_FULL")
    /// The daemon has reached its memory ceiling; reads, and actions that make states smaller,
    /// still work.
    public static let memoryFull = FaultCode(rawValue: "MEMORY_FULL")
    /// The daemon applies what another one decides, and carries out no action itself: the message
    /// names the daemon that does. The action has changed nothing.
    public static let elsewhere = FaultCode(rawValue: "ELSEWHERE")
    /// The daemon has no history, or the history does not contain the revision or cannot be read.
    public static let history = FaultCode(rawValue: "HISTORY")
    /// The user may not do this.
    public static let forbidden = FaultCode(rawValue: "FORBIDDEN")
    /// A file or directory of the daemon's machine cannot be read or created, or contains damaged
    /// data.
    public static let storage = FaultCode(rawValue: "STORAGE")
}

extension FaultCode: CustomStringConvertible {
    public var description: String { rawValue }
}
