import CLibUV
import Glibc
import ReactorThreads

/// A command in a process group of its own, which does not outlive the process that started it.
///
///     let command = try HeldCommand(["make", "deploy"], environment: environment) { ending in … }
///     command.end(.politely)
///
/// *Place*: `reactorctl hold`. This process passes signals that ask it to end to the group; the
/// command gets the terminal while this process has it in the foreground. If this process dies in
/// any way, the kernel kills the command (`PR_SET_PDEATHSIG`). A guard, a second process that
/// detects the end of a pipe, kills the rest of the group.
///
/// Swift cannot fork, so the program is started again for both: its `main` calls ``takeOver(_:)``
/// first.
///
/// *Owner*: any thread.
package final class HeldCommand: Sendable {
    /// How a command ended.
    package enum Ending: Equatable, Sendable {
        /// The command exited with this code.
        case exited(Int32)
        /// A signal killed the command.
        case killed(signal: Int32)
    }

    /// How to end a command.
    package enum Manner: Sendable {
        /// With SIGTERM, and with SIGKILL if it still runs after ``graceDuration``.
        case politely
        /// With SIGKILL.
        case atOnce
    }

    /// Time for a command to end after SIGTERM, before SIGKILL.
    package static let graceDuration = Duration.seconds(10)

    private let handle: LoopHandle
    private let core: Confined<HeldCommandCore>

    /// Starts the command. Calls `onEnd` once, on another thread, with the command's end, or with
    /// the error that prevented its start.
    ///
    /// *Throws*: if the system refuses a loop or a thread.
    package init(
        _ words: [String], environment: [String: String],
        onEnd: @escaping @Sendable (Result<Ending, LoopError>) -> Void
    ) throws(LoopError) {
        precondition(!words.isEmpty, "a command has a name")
        let loop = try EventLoop()
        handle = loop.handle
        let core = Confined(HeldCommandCore(on: loop, onEnd))
        self.core = core
        do throws(WorkThreadError) {
            // To the kernel, the parent is the thread that started the child, so that thread waits
            // for the command.
            _ = try WorkThread(name: "held-command") {
                let core = core.open()
                core.run(words, environment)
            }
        } catch {
            throw .call(CallFailure(call: "pthread_create", code: -error.code, subject: "command"))
        }
    }

    /// Ends the command and all processes of its group, unless it has ended.
    package func end(_ manner: Manner) {
        let core = core
        handle.post { core.open().end(manner) }
    }
}

// MARK: - The restarted program
extension HeldCommand {
    static let commandWord = "__held-command"
    static let guardWord = "__held-command-guard"

    /// Runs as the command, or as its guard, if the program was started for that; returns
    /// otherwise. `arguments` are those of the process, including its own name.
    package static func takeOver(_ arguments: [String]) {
        guard arguments.count > 1 else { return }
        switch arguments[1] {
        case commandWord: becomeCommand(Array(arguments.dropFirst(2)))
        case guardWord: guardGroup()
        default: return
        }
    }

    /// Runs the command words after the parent's process id and the terminal's descriptor. *C*:
    /// `execvp`.
    private static func becomeCommand(_ arguments: [String]) -> Never {
        guard arguments.count > 2, let parent = Int32(arguments[0]),
            let terminal = Int32(arguments[1]), reactor_end_with_parent(SIGKILL) == 0,
            // The parent may have died before the request to the kernel.
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
        // The exit codes of shells: not found, or not executable.
        exit(failure.errnoCode == ENOENT ? 127 : 126)
    }

    /// Reads the number of the group, then waits for the end of the pipe. Kills the group unless
    /// the parent has reported the command's end before.
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
