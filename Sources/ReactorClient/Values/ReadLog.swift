import ReactorThreads

/// The signals that were read, each with its version before the read.
///
/// *Place*: under ``rerunningOnChange(isolation:_:)``, which installs observers only after all
/// reads: this log finds the changes in between. *Owner*: the task that reads.
final class ReadLog: Sendable {
    @TaskLocal static var current: ReadLog?
    // Every read of a mirror checks this counter, and a log is rare.
    private static let kept = Gauge()
    private let reads = Guarded<[ObjectIdentifier: Read]>([:])

    private struct Read: Sendable {
        var signal: ChangeSignal
        var version: UInt64
    }

    /// True while a task keeps a log.
    static var isKept: Bool { kept.isAboveZero }

    /// Runs `body`, and records the signals that it reads.
    func collect(_ body: () -> Void) {
        Self.kept.enter()
        defer { Self.kept.leave() }
        Self.$current.withValue(self, operation: body)
    }

    /// Records that `signal` is about to be read.
    func record(_ signal: ChangeSignal) {
        let version = signal.version
        reads.withLock { reads in
            let id = ObjectIdentifier(signal)
            if reads[id] == nil { reads[id] = Read(signal: signal, version: version) }
        }
    }

    /// True if a recorded signal has changed since.
    var haveMoved: Bool {
        let reads = reads.withLock { Array($0.values) }
        return reads.contains { $0.signal.version != $0.version }
    }
}
