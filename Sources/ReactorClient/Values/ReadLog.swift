import ReactorThreads

/// Which signals were read, each with the version that it had before.
///
/// *Place*: under ``rerunningOnChange(isolation:_:)``, whose observers are installed only after all
/// was read: what moved in between is found here. *Owner*: the task that reads.
final class ReadLog: Sendable {
    @TaskLocal static var current: ReadLog?
    // Every read of a mirror asks, and there is hardly ever a log.
    private static let kept = Gauge()
    private let reads = Guarded<[ObjectIdentifier: Read]>([:])

    private struct Read: Sendable {
        var signal: ChangeSignal
        var version: UInt64
    }

    /// True while some task keeps a log.
    static var isKept: Bool { kept.isAboveZero }

    /// Runs `body`, and keeps what it reads.
    func collect(_ body: () -> Void) {
        Self.kept.enter()
        defer { Self.kept.leave() }
        Self.$current.withValue(self, operation: body)
    }

    /// Notes that `signal` is about to be read.
    func record(_ signal: ChangeSignal) {
        let version = signal.version
        reads.withLock { reads in
            let id = ObjectIdentifier(signal)
            if reads[id] == nil { reads[id] = Read(signal: signal, version: version) }
        }
    }

    /// True where something that was read has changed since.
    var haveMoved: Bool {
        let reads = reads.withLock { Array($0.values) }
        return reads.contains { $0.signal.version != $0.version }
    }
}
