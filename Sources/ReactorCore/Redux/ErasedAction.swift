/// An action of any type: for a root store in the manner of Redux.
///
///     store.dispatch(ErasedAction(AddItem(name: "milk")))
///     // in a reducer
///     if let add = action.as(AddItem.self) { state.items.append(add.name) }
///
/// *Shape*: on the wire a map of one pair, the type's name and the value. After decoding,
/// ``as(_:)`` decodes the value for a type of that name. The name does not include enclosing types:
/// two types used in one root need different names.
public struct ErasedAction: Sendable {
    /// Name of the action's type.
    public let name: String
    private let payload: Payload

    private enum Payload: Sendable {
        case value(any WireCodable & Sendable)
        case bytes(WireEmbedded)
    }

    /// Erases `action`.
    public init(_ action: some WireCodable & Sendable) {
        name = "\(type(of: action))"
        payload = .value(action)
    }

    /// The action, if it is of type `type`; `nil` also if its bytes are no value of that type.
    public func `as`<Action: WireCodable & Sendable>(_ type: Action.Type) -> Action? {
        switch payload {
        case .value(let value): value as? Action
        case .bytes(let bytes): name == "\(type)" ? try? bytes.decode(as: type) : nil
        }
    }
}

extension ErasedAction: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 1)
        writer.text(name)
        switch payload {
        case .value(let value): value.encode(into: &writer)
        case .bytes(let bytes): bytes.encode(into: &writer)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> ErasedAction {
        let start = cursor.offset
        let parts = try [String: WireEmbedded].decode(bytes, &cursor)
        guard let (name, value) = parts.first, parts.count == 1 else {
            throw WireError(
                .refused("an action has one name, and here are \(parts.count)"), at: start)
        }
        return ErasedAction(name: name, bytes: value.normalized)
    }

    private init(name: String, bytes: WireEmbedded) {
        self.name = name
        payload = .bytes(bytes)
    }

    public static var wireSchema: WireSchema { .any }
}
