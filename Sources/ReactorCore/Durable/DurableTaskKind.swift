public import ReactorWire

/// The durable tasks of a reactor that have one type of payload: those of one name, or of all names
/// with one start.
///
///     static var durableTasks: [DurableTaskKind] {
///         [
///             DurableTaskKind("mail", Letter.self),
///             DurableTaskKind(startingWith: "charge ", Int.self),
///         ]
///     }
///
/// With it, the payloads of tasks that wait in a history are converted by the migrations of their
/// types, and a start and `--check` refuse a payload that today's type cannot read. The payload of
/// a task of no declared kind reaches ``Reactor/perform(_:state:context:)`` as it was stored, and
/// `--check` says that it was not compared.
public struct DurableTaskKind: Sendable {
    /// The name of its tasks, or the start of their names.
    public let name: String
    private let isPrefix: Bool
    private let schemaOfPayload: @Sendable () -> WireSchema
    private let readPayload: @Sendable (Span<UInt8>) throws(WireError) -> WireEmbedded

    /// The task of one name.
    public init<Payload: WireCodable & Sendable>(_ name: String, _ payload: Payload.Type) {
        self.init(name, isPrefix: false, payload)
    }

    /// The tasks whose names start with `prefix`. If the names start with several declared ones,
    /// the longest applies.
    public init<Payload: WireCodable & Sendable>(
        startingWith prefix: String, _ payload: Payload.Type
    ) {
        self.init(prefix, isPrefix: true, payload)
    }

    private init<Payload: WireCodable & Sendable>(_ name: String, isPrefix: Bool, _: Payload.Type) {
        (self.name, self.isPrefix) = (name, isPrefix)
        schemaOfPayload = { Payload.wireSchema }
        readPayload = { bytes throws(WireError) in WireEmbedded(try Payload(keptBytes: bytes)) }
    }

    /// The schema of the payloads.
    var schema: WireSchema { schemaOfPayload() }

    /// A payload from the history, encoded again with today's type.
    func read(_ payload: Span<UInt8>) throws(WireError) -> WireEmbedded { try readPayload(payload) }

    private func includes(_ task: String) -> Bool {
        isPrefix ? task.hasPrefix(name) : task == name
    }

    /// The author's mistake in a reactor's kinds; `nil` if there is none. The history has the
    /// schemas by the kinds' names.
    static func problem(in kinds: [DurableTaskKind]) -> String? {
        var names: Set<String> = []
        return kinds.first { !names.insert($0.name).inserted }.map {
            "durableTasks has two kinds for the name \($0.name.quoted()): keep one, or rename the tasks "
                + "of the other"
        }
    }

    /// The kind of the task of this name; `nil` if it has none.
    static func declared(for task: String, in kinds: [DurableTaskKind]) -> DurableTaskKind? {
        kinds.filter { $0.includes(task) }.max {
            ($0.isPrefix ? 0 : 1, $0.name.utf8.count) < ($1.isPrefix ? 0 : 1, $1.name.utf8.count)
        }
    }
}
