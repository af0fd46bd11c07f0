import Glibc

/// The state of a held command, on the thread that started it.
final class HeldCommandCore {
    private let loop: EventLoop
    private let onEnd: @Sendable (Result<HeldCommand.Ending, LoopError>) -> Void
    private var pid: pid_t = 0
    private var sources: [SignalSource] = []
    private var grace: LoopTimer?
    /// The terminal, if this process has it in the foreground.
    private var terminal: Int32?
    /// Descriptor of the guard's standard input.
    private var guardInput: Int32 = -1
    private var isEnding = false
    /// Whether this process stopped together with the command.
    private var isPaused = false
    private var manner: HeldCommand.Manner?

    /// Signals that are passed to the command.
    private static let handedOn = [
        Signal.hangUp, .interrupt, Signal(rawValue: SIGQUIT), .terminate, .user1, .user2,
    ]

    init(
        on loop: EventLoop,
        _ onEnd: @escaping @Sendable (Result<HeldCommand.Ending, LoopError>) -> Void
    ) {
        self.loop = loop
        self.onEnd = onEnd
    }

    /// Starts the command and waits for its end.
    func run(_ words: [String], _ environment: [String: String]) {
        do throws(LoopError) {
            try start(words, environment)
            loop.run()
        } catch {
            onEnd(.failure(error))
        }
        loop.close()
    }

    private func start(_ words: [String], _ environment: [String: String]) throws(LoopError) {
        terminal = (0...2).first { isatty($0) == 1 && tcgetpgrp($0) == getpgrp() }
        // Otherwise this process would be stopped when it takes the terminal back.
        if terminal != nil { signal(SIGTTOU, SIG_IGN) }
        // Signals that this process was started to ignore, as by `nohup`, stay ignored in the
        // command.
        for signal in Self.handedOn where !Self.isIgnored(signal) {
            try listen(to: signal) { [unowned self] in send(signal.rawValue) }
        }
        try listen(to: Signal(rawValue: SIGCHLD)) { [unowned self] in look() }
        try listen(to: Signal(rawValue: SIGCONT)) { [unowned self] in passContinue() }
        guardInput = try Self.startGuard(environment)
        var options = ProgramSpawn()
        options.environment = environment
        let place = ["\(getpid())", "\(terminal ?? -1)"]
        pid = try options.start([HeldCommand.commandWord] + place + words)
        if let terminal { tcsetpgrp(terminal, pid) }
        write("\(pid)\n")
        if let manner { end(manner) }
        look()
    }

    private func listen(to signal: Signal, _ body: @escaping () -> Void) throws(LoopError) {
        let source = try SignalSource(signal, on: loop)
        source.onSignal = body
        sources.append(source)
    }

    /// Ends all processes of the group.
    func end(_ manner: HeldCommand.Manner) {
        self.manner = manner
        guard pid > 0 else { return }
        isEnding = true
        switch manner {
        case .atOnce: send(SIGKILL)
        case .politely:
            send(SIGTERM)
            guard grace == nil, let timer = try? LoopTimer(on: loop) else { return }
            timer.onFire = { [unowned self] in send(SIGKILL) }
            timer.start(after: HeldCommand.graceDuration)
            grace = timer
        }
    }

    private func send(_ signal: Int32) {
        guard pid > 0 else { return }
        kill(-pid, signal)
        // A stopped process receives no other signal.
        if signal != SIGKILL { kill(-pid, SIGCONT) }
    }

    /// Checks the state of the command. *C*: `waitpid`.
    private func look() {
        guard pid > 0 else { return }
        var status: Int32 = 0
        while true {
            let found = unsafe waitpid(pid, &status, WNOHANG | WUNTRACED)
            if found < 0, errno == EINTR { continue }
            guard found == pid else { return }
            guard status & 0xff == 0x7f else { break }
            passStop()
        }
        let number = status & 0x7f
        finish(number == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: number))
    }

    /// Stops this process after the user has stopped the command at the terminal, so that the shell
    /// continues.
    private func passStop() {
        guard let terminal, !isEnding else { return }
        tcsetpgrp(terminal, getpgrp())
        isPaused = true
        kill(getpid(), SIGSTOP)
    }

    /// Continues the command after this process was continued.
    private func passContinue() {
        guard isPaused, let terminal, pid > 0 else { return }
        isPaused = false
        if tcgetpgrp(terminal) == getpgrp() { tcsetpgrp(terminal, pid) }
        kill(-pid, SIGCONT)
    }

    private func finish(_ ending: HeldCommand.Ending) {
        // Remaining processes of the group must not run without the lock.
        if isEnding { kill(-pid, SIGKILL) }
        pid = 0
        if let terminal { tcsetpgrp(terminal, getpgrp()) }
        write("over\n")
        close(guardInput)
        for source in sources { source.close() }
        grace?.close()
        loop.stop()
        // Ctrl-C is meant for all processes in the foreground, not only for the group that had the
        // terminal.
        if terminal != nil, case .killed(SIGINT) = ending {
            signal(SIGINT, SIG_IGN)
            kill(0, SIGINT)
        }
        onEnd(.success(ending))
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(guardInput, bytes, bytes.count)
    }

    /// Starts the guard. Returns the descriptor of its standard input. *C*: `pipe`.
    private static func startGuard(_ environment: [String: String]) throws(LoopError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .call(.system("pipe", "command")) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var options = ProgramSpawn()
        options.environment = environment
        options.input = ends[0]
        options.isSilent = true
        do throws(LoopError) {
            _ = try options.start([HeldCommand.guardWord])
        } catch {
            close(ends[1])
            throw error
        }
        return ends[1]
    }

    private static func isIgnored(_ signal: Signal) -> Bool {
        var current = sigaction()
        guard unsafe sigaction(signal.rawValue, nil, &current) == 0 else { return false }
        let handler = unsafe unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self)
        return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
