import Glibc
import ReactorLoop
import ReactorServer
import ReactorWire

/// The process from which this one takes over.
///
///     former                                  successor
///     writes the document, starts ──────────▶ reads the document and the history
///                             ◀──── ready ──
///     changes nothing more    ───── go ─────▶ opens the journal, takes the connections
///                             ◀──── taken ──
///     ends                                    serves
///
/// Until `taken`, the former process goes on if this one fails. If the former process ends before
/// that, this one takes over at once, since the document is complete.
///
/// *Place*: found in the environment at the start. *Owner*: the thread that starts the daemon.
final class Predecessor {
    /// The document; nil once the connections were taken over.
    private(set) var document: HandoverDocument?
    /// The former process.
    let pid: Int32
    /// The way to it; nil once it ends.
    private var channel: HandoverChannel?

    /// The environment variable with the descriptors of the document and of the channel.
    static let variable = "REACTORD_HANDOVER"

    /// The messages between the two processes.
    enum Message: UInt8 {
        /// The successor has read everything.
        case ready = 1
        /// The former process changes nothing more.
        case go
        /// The successor serves.
        case taken
        /// The successor ends, for the reason in the rest of the message.
        case failed
    }

    /// Finds the former process; nil if this one is none's successor.
    ///
    /// *Throws*: if the document cannot be used; the former process has the reason then.
    init?(_ environment: [String: String]) throws(DaemonError) {
        guard let text = environment[Self.variable] else { return nil }
        let descriptors = text.split(separator: ":").compactMap { Int32($0) }
        guard descriptors.count == 2, descriptors.allSatisfy({ $0 > 2 }) else {
            throw .handover("\(Self.variable) is not DOCUMENT:CHANNEL: unset it")
        }
        HandoverFault.reach(.start)
        // A program that this one starts takes over from no process.
        ProcessEnvironment.remove(Self.variable)
        let channel = HandoverChannel(descriptors[1])
        self.channel = channel
        do throws(DaemonError) {
            let document = try Self.document(in: descriptors[0])
            for descriptor in document.descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            pid = document.pid
            self.document = document
        } catch {
            Self.report(error, to: channel)
            throw error
        }
    }

    private static func document(in descriptor: Int32) throws(DaemonError) -> HandoverDocument {
        let bytes: [UInt8]
        do throws(LoopError) {
            bytes = try MemoryFile.read(descriptor)
        } catch {
            throw .loop(error)
        }
        return try HandoverDocument(fileBytes: bytes)
    }

    /// Reports to the former process why this one ends.
    func fail(_ error: DaemonError) { Self.report(error, to: channel) }

    private static func report(_ error: DaemonError, to channel: HandoverChannel?) {
        channel?.send([Message.failed.rawValue] + Array("\(error)".utf8))
    }

    /// Whether a service manager has opened the socket of a role.
    func isAdopted(_ role: HandedSocket.Role) -> Bool {
        document?.sockets.contains { $0.role == role && $0.lock == nil } ?? false
    }

    /// The socket of a role; nil if the former process has none. `path` is the path that this
    /// process would bind.
    ///
    /// *Throws*: if the former process has it at another path.
    func socket(
        _ role: HandedSocket.Role, at path: String?
    ) throws(DaemonError) -> HandedSocket? {
        guard let socket = document?.sockets.first(where: { $0.role == role }) else { return nil }
        // A service manager names the path of a socket that it has opened.
        guard socket.path == path || path == nil && isAdopted(role) else {
            throw .handover(
                "the \(role.rawValue) socket is at \(socket.path), and the configuration names "
                    + "\(path ?? "none"): stop the daemon and start it again to change it")
        }
        return socket
    }

    /// Checks that the recovered history is that of the former process.
    func check(row: UInt64, _ revision: Revision) throws(DaemonError) {
        guard let document else { return }
        guard row == document.row, revision == document.server.revision else {
            throw .handover(
                "the history ends at row \(row), revision \(revision), and the former process was at "
                    + "row \(document.row), revision \(document.server.revision)")
        }
    }

    /// Reports that everything was read, and waits until the former process changes nothing more.
    func awaitGo() throws(DaemonError) {
        guard let channel else { return }
        HandoverFault.reach(.read)
        channel.send([Message.ready.rawValue])
        while true {
            switch channel.receive(within: nil) {
            case .nothing: continue
            // It was killed: what is in the document is all.
            case .ended: return
            case .message([Message.go.rawValue]): return HandoverFault.reach(.begun)
            case .message:
                throw .handover("the former process sent a message that this one does not know")
            }
        }
    }

    /// Takes the document, and reports that this process serves: the former one ends.
    func confirm() {
        HandoverFault.reach(.opened)
        document = nil
        channel?.send([Message.taken.rawValue])
        channel = nil
        HandoverFault.reach(.taken)
    }
}

/// Kills the process at one step of a handover, for tests; only in debug builds.
enum HandoverFault {
    /// The environment variable with the step.
    static let variable = "REACTORD_HANDOVER_FAULT"

    /// The steps of the former process, and of its successor.
    enum Step: String {
        case spawned = "old-spawned"
        case ready = "old-ready"
        case gone = "old-go"
        case start = "new-start"
        case read = "new-read"
        case begun = "new-go"
        case opened = "new-opened"
        case taken = "new-taken"
    }

    /// Records that the process has come to a step.
    static func reach(_ step: Step) {
        #if DEBUG
            if ProcessEnvironment.environment[variable] == step.rawValue { kill(getpid(), SIGKILL) }
        #endif
    }
}
