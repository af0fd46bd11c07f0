import CLibUV
import Glibc
import ReactorThreads

/// A command that runs in a process group of its own, and does not outlive the process that started
/// it.
///
///     let command = try HeldCommand(["make", "deploy"], environment: environment) { ending in … }
///     command.end(.politely)
///
/// *Place*: `reactorctl hold`. Signals that ask this process to end are handed to the group; a
/// terminal that this process has in the foreground is lent to it. If this process dies in any way,
/// the kernel kills the command (`PR_SET_PDEATHSIG`), and a guard, a second process that notices the
/// end of a pipe, kills the rest of the group.
///
/// Swift cannot fork, so the program is started again for both: its `main` hands over to
/// ``takeOver(_:)`` before it does anything else.
///
/// *Owner*: any thread.
public final class HeldCommand: Sendable {
    /// How a command ended.
    public enum Ending: Equatable, Sendable {
        /// By itself, with this code.
        case exited(Int32)
        /// By a signal.
        case killed(signal: Int32)
    }

    /// How a command is ended.
    public enum Manner: Sendable {
        /// With SIGTERM, and with SIGKILL if it is not over after ``graceDuration``.
        case politely
        /// With SIGKILL.
        case atOnce
    }

    /// For how long a command may end by itself after SIGTERM.
    public static let graceDuration = Duration.seconds(10)

    private let handle: LoopHandle
    private let core: Confined<HeldCommandCore>

    /// Starts the command; `onEnd` is called once, on another thread, with how it ended, or with why
    /// it could not be started.
    ///
    /// *Throws*: where the system refuses a loop or a thread.
    public init(
        _ words: [String], environment: [String: String],
        onEnd: @escaping @Sendable (Result<Ending, LoopError>) -> Void
    ) throws(LoopError) {
        precondition(!words.isEmpty, "a command has a name")
        let loop = try EventLoop()
        handle = loop.handle
        let core = Confined(HeldCommandCore(on: loop, onEnd))
        self.core = core
        do throws(WorkThreadError) {
            // The kernel means by the death of a parent that of the thread which started the child:
            // this one waits for the command.
            _ = try WorkThread(name: "held-command") {
                let core = core.open()
                core.run(words, environment)
            }
        } catch {
            throw .call(CallFailure(call: "pthread_create", code: -error.code, subject: "command"))
        }
    }

    /// Ends the command and everything in its group, if it has not ended.
    public func end(_ manner: Manner) {
        let core = core
        handle.post { core.open().end(manner) }
    }
}

// MARK: - The program started again
extension HeldCommand {
    static let commandWord = "__held-command"
    static let guardWord = "__held-command-guard"

    /// Becomes the command, or its guard, if that is what the program was started for; returns
    /// otherwise. `arguments` are those of the process, with its own name.
    public static func takeOver(_ arguments: [String]) {
        guard arguments.count > 1 else { return }
        switch arguments[1] {
        case commandWord: becomeCommand(Array(arguments.dropFirst(2)))
        case guardWord: guardGroup()
        default: return
        }
    }

    /// Runs the words behind the starter's number and the terminal's descriptor. *C*: `execvp`.
    private static func becomeCommand(_ arguments: [String]) -> Never {
        guard arguments.count > 2, let parent = Int32(arguments[0]),
            let terminal = Int32(arguments[1]), reactor_end_with_parent(SIGKILL) == 0,
            // The parent may have died before the kernel was asked.
            getppid() == parent
        else { exit(EXIT_FAILURE) }
        if terminal >= 0 {
            signal(SIGTTOU, SIG_IGN)
            tcsetpgrp(terminal, getpid())
            signal(SIGTTOU, SIG_DFL)
        }
        let words = Array(arguments.dropFirst(2))
        let name = words[0]
        let list = CStringList(words)
        _ = unsafe list.withPointers { unsafe execvp(name, $0) }
        let failure = CallFailure.system("execvp", name)
        StandardError.write(line: "reactorctl: cannot run \(name): \(failure.message)")
        // The codes by which shells tell the two apart.
        exit(failure.errnoCode == ENOENT ? 127 : 126)
    }

    /// Reads the number of the group to guard and then nothing until its starter ends; kills the
    /// group if that did not say first that the command has ended.
    private static func guardGroup() -> Never {
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
            signal(number, SIG_IGN)
        }
        var text: [UInt8] = []
        while let bytes = try? StandardStream.input.read(64), !bytes.isEmpty {
            text += bytes
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        if lines.count == 1, let group = Int32(lines[0]), group > 1 { kill(-group, SIGKILL) }
        exit(EXIT_SUCCESS)
    }
}
