import ReactorThreads
import ReactorWire

/// The check of a type's actions for cases that only the daemon sends: those of the action itself,
/// and those of an enum in its payload, such as `run(Command)` with a command `stop` that has
/// `@WireInternal`.
struct InternalActions: Sendable {
    // Cached: describing a type costs more than making a node.
    private static let known = Guarded<[ObjectIdentifier: InternalActions]>([:])

    /// The cases in payloads; `nil` if there are none.
    private let nested: InternalCases?

    /// Prepares for the actions of a type.
    init<Action: WireCodable>(of type: Action.Type) {
        let id = ObjectIdentifier(type)
        if let known = Self.known.withLock({ $0[id] }) {
            self = known
            return
        }
        // Outside the lock, since the type may be described by its author.
        let cases = InternalCases(of: Action.wireSchema)
        nested = cases?.areInside ?? false ? cases : nil
        let made = self
        Self.known.withLock { $0[id] = made }
    }

    /// Whether a payload may have such a case.
    var areInPayloads: Bool { nested != nil }

    /// Refuses an action with such a case.
    func check(_ action: some WireCodable, at path: SlicePath) throws(Rejection) {
        if action.isWireInternal {
            let value = try? WireValue(wireBytes: action.wireBytes())
            throw Self.refusal(of: Self.name(of: value), at: path)
        }
        guard let nested else { return }
        let name: String?
        do {
            // Encoded again: the bytes of a client may have former names.
            name = try nested.find(in: action.wireBytes())
        } catch {
            throw Rejection(
                .forbidden,
                "\(path): the daemon cannot tell whether a client may send this action: \(error)")
        }
        if let name { throw Self.refusal(of: name, at: path) }
    }

    /// The name of the case that an encoded action has.
    static func name(of action: WireValue?) -> String? {
        switch action {
        case .map(let map): map.first?.key.text
        case .text(let name): name
        default: nil
        }
    }

    /// The refusal of an action with the case `name`.
    static func refusal(of name: String?, at path: SlicePath) -> Rejection {
        Rejection(.forbidden, "\(path): only the daemon sends \(name?.quoted() ?? "this action")")
    }
}
