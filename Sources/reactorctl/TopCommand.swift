import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop
import ReactorWire

/// `reactorctl top`: shows what the daemon does, live.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract:
            "Show live what the daemon does: actions by path and by client, durations, memory.",
        discussion: """
            Only for the daemon's user and root. Press q or Ctrl-C to end. Without a terminal, it \
            prints one line of JSON per interval. A duration is shown as the upper bound of its \
            range. Actions of batches and of clients that have left count for their paths too.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp("Time between two reports, such as 1s or 500ms.", valueName: "duration"))
    var interval = "1s"

    @Option(name: .long, help: ArgumentHelp("End after so many reports.", valueName: "n"))
    var count: Int?

    mutating func validate() throws {
        guard let parsed = DurationText.parse(interval), parsed >= .milliseconds(100) else {
            throw ValidationError(
                "--interval \(interval): expected \(DurationText.expectation), at least 100ms")
        }
        if let count, count < 1 { throw ValidationError("--count \(count): expected 1 or more") }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        let pause = DurationText.parse(interval) ?? .seconds(1)
        let screen = Output.isTerminal ? TerminalScreen() : nil
        defer { screen?.leave() }
        if screen == nil { Output.watchReader { Glibc.exit(0) } }
        var earlier = try await Self.activity(of: client)
        var view = TopView(earlier, since: earlier)
        var left = count ?? .max
        if let screen { draw(view, client, on: screen) }
        while left > 0, await wait(pause, showing: view, client, on: screen) {
            let now = try await Self.activity(of: client)
            view = TopView(now, since: earlier)
            if let screen { draw(view, client, on: screen) } else { try Output.line(view.json) }
            earlier = now
            left -= 1
        }
        client.close()
    }

    private func draw(_ view: TopView, _ client: Client, on screen: TerminalScreen) {
        let size = screen.size
        let title = "\(client.welcome.daemon)  \(client.socketPath)".terminalSafe
        screen.draw(view.lines(title: title, columns: size.columns, rows: size.rows))
    }

    private static func activity(of client: Client) async throws(Failure) -> DaemonActivity {
        try await Failure.explain { () throws(ClientError) in try await client.activity() }
    }

    /// Waits for the next report; returns false if the user ends the view. Draws again if the
    /// terminal gets another size.
    private func wait(
        _ pause: Duration, showing view: TopView, _ client: Client, on screen: TerminalScreen?
    ) async -> Bool {
        guard let screen else {
            try? await Task.sleep(for: pause)
            return true
        }
        let clock = ContinuousClock()
        let end = clock.now + pause
        var size = screen.size
        while clock.now < end {
            switch screen.wait(milliseconds: 100) {
            case .key(UInt8(ascii: "q")), .ended: return false
            case .key, .nothing: break
            }
            if screen.size != size {
                size = screen.size
                draw(view, client, on: screen)
            }
        }
        return true
    }
}
