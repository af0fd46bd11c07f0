public import ReactorCore
public import ReactorWire

/// Why a client cannot do what its caller asked for.
public enum ClientError: Error, Sendable, Equatable {
    /// No daemon accepted a connection: each path that was tried, with the reason.
    case unreachable(tried: [Attempt])
    /// The daemon closed the connection for good.
    case closed(FaultCode, String)
    /// Something accepted the connection and did not answer: the daemon is stopped, overloaded, or
    /// was killed at that moment.
    case unanswered(String)
    /// The daemon refused a request.
    case refused(Refusal)
    /// The daemon sent bytes against the protocol.
    case daemonFault(String)
    /// The daemon's state cannot be read as the mirror's type, or lacks a field of it whose default
    /// would be shown as if it were the daemon's: see ``MissingFields``.
    case incompatible(path: String, WireError)
    /// The child cannot be leased.
    case leaseRefused(path: String, Rejection)
    /// A path in text and a path of properties differ.
    case otherPath(ReactorPathMismatch)
    /// The daemon has another reactor at the path than the client expects.
    case otherReactor(path: String, expected: String, actual: String)
    /// The node at the path was removed.
    case gone(path: String)
    /// The mirror follows the value and runs no `reduce`: there is nothing to compare.
    case notComparable(path: String)
    /// The revision belongs to another history than the daemon's present one.
    case otherHistory(expected: Revision, actual: Revision)
    /// The bytes of waiting actions exceed ``ClientOptions/queueBytesMax``.
    case queueFull(bytesMax: Int)
    /// The encoded action exceeds the daemon's limit of a frame.
    case tooLarge(byteCount: Int, bytesMax: Int)
    /// The client was closed by its owner.
    case ended
    /// The task that waited was cancelled.
    case cancelled
    /// The client belongs to another process: it does not survive a fork.
    case forked(pid: Int32)
    /// The system refused a thread or a loop.
    case system(String)

    /// An attempt to connect at one path.
    public struct Attempt: Sendable, Equatable {
        /// The path of the socket.
        public var path: String
        /// Why no daemon answers there.
        public var reason: String
        /// The kind of the reason; the client tries the next path only after ``Obstacle/absent``.
        public var obstacle: Obstacle

        /// Makes a record of an attempt.
        package init(path: String, reason: String, _ obstacle: Obstacle = .absent) {
            self.path = path
            self.reason = reason
            self.obstacle = obstacle
        }

        /// The kind of reason why a client cannot connect.
        public enum Obstacle: Sendable, Equatable {
            /// No program listens at the path.
            case absent
            /// A daemon listens there, and its queue of waiting clients is full.
            case busy
            /// The system does not allow this user to connect.
            case forbidden
            /// The listener, or the owner of its directory, is a user that must not be the
            /// daemon's: nothing was sent.
            case untrusted
            /// The system refused for another reason.
            case broken
        }
    }
}

extension ClientError {
    /// A request that an older daemon does not know.
    enum NewRequest: String {
        /// A selection of the children of a collection, as a mode or a question.
        case selection = "select"
        /// The question for the types of a node.
        case types

        /// What the daemon cannot do, and what helps.
        fileprivate var remedy: String {
            switch self {
            case .selection:
                "the daemon is too old to select children of a collection: update it, or follow the "
                    + "whole collection"
            case .types:
                "the daemon is too old to be asked for types, which a collection, and a mirror "
                    + "whose type differs from the daemon's, need: update it, or mirror the value "
                    + "by its shape, with `mirror(value:at:)`"
            }
        }
    }

    /// Makes the error for a refused request. A daemon that does not know the request names it.
    init(_ refusal: Refusal, to request: NewRequest?) {
        if let request, refusal.code == .decode,
            refusal.message.contains("unknown case \"\(request.rawValue)")
        {
            self = .refused(Refusal(.decode, request.remedy))
        } else {
            self = .refused(refusal)
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// The failure, its subject and a remedy; text from the peer is shown without control
    /// characters.
    public var description: String { text.terminalSafe }

    private var text: String {
        switch self {
        case .unreachable(let tried):
            "no daemon reachable: "
                + (tried.isEmpty
                    ? "no socket path to try"
                    : tried.map { "\($0.path): \($0.reason)" }.joined(separator: "; "))
        case .closed(let code, let message): "the daemon closed the connection: \(code) \(message)"
        case .unanswered(let text): "the daemon did not answer: \(text)"
        case .refused(let refusal):
            "\(refusal.code): \(refusal.message)"
                + (refusal.nearest.map { "; did you mean \($0)" } ?? "")
        case .daemonFault(let text): "the daemon broke the protocol: \(text)"
        case .incompatible(let path, let error):
            "the state at \(path) does not fit the mirror's type: \(error)" + error.remedy
        case .leaseRefused(let path, let rejection): "lease of \(path): \(rejection)"
        case .otherPath(let mismatch): "\(mismatch)"
        case .otherReactor(let path, let expected, let actual):
            "expected a \(expected) at \(path), the daemon has a \(actual) there; name the path of a "
                + "\(expected), or mirror its value by name, with `mirror(value:at:)`"
        case .gone(let path): "\(path) was removed"
        case .notComparable(let path): "the mirror of \(path) follows the value, not the mutations"
        case .otherHistory(let expected, let actual):
            "revision \(expected) is of another history, the daemon is at \(actual)"
        case .queueFull(let bytesMax):
            "queueBytesMax \(bytesMax) of waiting actions reached: await dispatch to wait for room"
        case .tooLarge(let byteCount, let bytesMax):
            "the action has \(byteCount) bytes, frameBytesMax is \(bytesMax)"
        case .ended: "the client is closed"
        case .cancelled: "cancelled while waiting"
        case .forked(let pid): "the client belongs to process \(pid): connect again after a fork"
        case .system(let text): text
        }
    }
}

extension WireError {
    /// What the author of a mirror can do about a field that the daemon does not send.
    fileprivate var remedy: String {
        guard case .missingField = condition else { return "" }
        return "; start a daemon that has it, make it optional, or accept its default with "
            + "`missing: .defaults`"
    }
}
