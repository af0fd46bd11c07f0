import Glibc

/// One end of a socket between a process and its successor, for short messages.
///
/// *Owner*: one thread. A message arrives whole or not at all. *C*: `socketpair(SOCK_SEQPACKET)`.
package final class HandoverChannel {
    /// The result of waiting for a message.
    package enum Reception: Equatable {
        /// A message.
        case message([UInt8])
        /// None has come in time.
        case nothing
        /// The other process has ended, or closed its end.
        case ended
    }

    /// The end's descriptor, close-on-exec.
    package let descriptor: Int32

    /// Maximum bytes of a message; the rest of a longer one is lost.
    package static let messageBytesMax = 4_096

    /// Takes over an end that a former process has made; closes it on a later `exec`.
    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Makes both ends.
    package static func pair() throws(LoopError) -> (own: HandoverChannel, other: HandoverChannel) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .call(.system("socketpair", "handover"))
        }
        return (HandoverChannel(ends[0]), HandoverChannel(ends[1]))
    }

    /// Sends a message; returns false if the other process has ended.
    @discardableResult
    package func send(_ message: [UInt8]) -> Bool {
        let bytes = Array(message.prefix(Self.messageBytesMax))
        return unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            == bytes.count
    }

    /// Waits for a message, at most `milliseconds`; without a limit if that is nil.
    package func receive(within milliseconds: Int32?) -> Reception {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&entry, 1, milliseconds ?? -1)
        guard count == 1 else { return .nothing }
        var bytes = [UInt8](repeating: 0, count: Self.messageBytesMax)
        let got = unsafe recv(descriptor, &bytes, bytes.count, 0)
        guard got > 0 else { return got < 0 && errno == EINTR ? .nothing : .ended }
        return .message(Array(bytes[..<got]))
    }
}

/// The program of this process, to be started again as its successor.
///
/// *Place*: captured at the start, since the directory and the file may change later.
package struct SuccessorProgram: Sendable {
    /// The path of the program's file.
    package let path: String
    private let arguments: [String]

    /// The program by its first argument, else by the file of the process. *C*: `getcwd`,
    /// `readlink`.
    package init(_ arguments: [String] = CommandLine.arguments, path search: String? = nil) {
        self.arguments = arguments
        let name = arguments.first ?? ""
        if name.contains("/") {
            path = (try? ProcessEnvironment.absolute(name)) ?? name
        } else {
            let folders = (search ?? "").split(separator: ":")
            path =
                folders.lazy.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
                ?? Self.ownPath
        }
    }

    private static var ownPath: String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe readlink(
                "/proc/self/exe", start.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Starts the program again with the same arguments; it inherits `descriptors` under their
    /// numbers.
    ///
    /// *Throws*: if there is no such program any more, or it cannot be started.
    package func start(
        _ environment: [String: String], inheriting descriptors: [Int32]
    ) throws(LoopError) -> SuccessorProcess {
        var options = ProgramSpawn()
        options.environment = environment
        options.inherited = descriptors
        options.leadsGroup = false
        let words = [arguments.first ?? path] + arguments.dropFirst()
        return SuccessorProcess(pid: try options.start(path, words, subject: path))
    }
}

/// A started successor of this process.
package struct SuccessorProcess: Sendable {
    /// The process.
    package let pid: Int32

    /// Waits for the end of the process, and kills it after `milliseconds`; returns how it ended.
    /// *C*: `kill`, `waitpid`.
    package func end(within milliseconds: Int) -> String {
        var status: Int32 = 0
        for _ in 0..<milliseconds {
            if unsafe waitpid(pid, &status, WNOHANG) == pid { return Self.text(of: status) }
            poll(nil, 0, 1)
        }
        kill(pid, SIGKILL)
        while unsafe waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return "ended" }
        }
        return Self.text(of: status)
    }

    private static func text(of status: Int32) -> String {
        let signal = status & 0x7f
        return signal == 0
            ? "ended with exit code \((status >> 8) & 0xff)" : "was ended by signal \(signal)"
    }
}
