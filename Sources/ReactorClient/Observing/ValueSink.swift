import ReactorCore
import ReactorThreads

/// The part of a mirrored value on the client's thread: decodes values, and checks that they have
/// exactly the fields of the type.
final class ValueSink<Value: WireCodable & Sendable>: SliceSink {
    typealias Completion = (Result<ValueMirror<Value>, ClientError>) -> Void

    /// The mirror, once there was a value and while a reference to it exists.
    private weak var mirror: ValueMirror<Value>?
    private var cells: ValueCells<Value>?
    /// The mirror before the calls that wait for it have received it.
    private var made: ValueMirror<Value>?
    /// Calls that wait for the first value.
    private var completions: [Completion]
    private let path: String
    private let shared: SharedState
    private var staged: Value?
    private var isLive = false

    init(at path: String, _ shared: SharedState, then ready: @escaping Completion) {
        self.path = path
        self.shared = shared
        completions = [ready]
    }

    var isReleased: Bool { mirror == nil && completions.isEmpty }

    // The whole value is decoded and checked, on each connection again.
    var takesPatches: Bool { false }

    var continuesValues: Bool { false }

    /// Calls `completion` as soon as there is a value; returns false if the last reference to the
    /// mirror is gone.
    func whenReady(_ completion: @escaping Completion) -> Bool {
        if completions.isEmpty {
            guard let mirror else { return false }
            completion(.success(mirror))
        } else {
            completions.append(completion)
        }
        return true
    }

    func granted(_ slice: UInt32, epoch: UInt64) {}

    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        let told: WireValue = if isAbsent { .null } else { try WireValue(wireBytes: value) }
        if let issue = Value.wireSchema.checkExactly(told).first {
            throw WireError(
                .mismatch(expected: issue.expected, got: issue.got), at: 0, path: issue.path)
        }
        staged = try told.decoded(as: Value.self)
    }

    // A patch is for another sink of the slice: this one waits for a whole value.
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {}

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {}

    func discard() { staged = nil }

    func commit(epoch: UInt64) {
        guard let value = staged else { return }
        staged = nil
        isLive = true
        if let cells {
            cells.shown.whileLocked { shown in
                shown.value = value
                shown.count += 1
            }
            cells.phase.whileLocked { $0 = .live }
        } else {
            let mirror = ValueMirror(value, at: path, on: shared)
            (cells, made, self.mirror) = (mirror.cells, mirror, mirror)
        }
    }

    func announce() {
        cells?.changed.publish()
        guard let mirror = made else { return }
        made = nil
        for completion in takeCompletions() { completion(.success(mirror)) }
    }

    func setLive(_ isLive: Bool) {
        guard let cells, isLive != self.isLive else { return }
        self.isLive = isLive
        cells.phase.withLock { $0 = isLive ? .live : .connecting }
        cells.changed.publish()
    }

    func fail(_ error: ClientError) {
        isLive = false
        cells?.phase.withLock { $0 = .failed(error) }
        cells?.changed.publish(isLast: true)
        made = nil
        for completion in takeCompletions() { completion(.failure(error)) }
    }

    private func takeCompletions() -> [Completion] {
        defer { completions = [] }
        return completions
    }
}
