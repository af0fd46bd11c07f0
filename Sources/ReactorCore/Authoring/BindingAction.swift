/// A state with fields that clients write one by one, from bindings.
///
///     struct State: BindableState {
///         var name = ""
///         var age = 0
///         static let bindableFields = [bindable("name", \.name), bindable("age", \.age)]
///     }
///
/// On the wire a field is its name, since key paths cannot be encoded.
public protocol BindableState: WireCodable, Sendable {
    /// The fields that clients may write, each under its own name.
    static var bindableFields: [BindableField<Self>] { get }
}

extension BindableState {
    /// A writable field, by its name on the wire.
    public static func bindable<Value: WireCodable & Sendable>(
        _ name: String, _ field: any WritableKeyPath<Self, Value> & Sendable
    ) -> BindableField<Self> {
        BindableField(name, field)
    }
}

/// An action with a case that changes a field.
///
///     enum Action: BindableAction {
///         case binding(BindingAction<State>)
///         case save
///     }
public protocol BindableAction {
    associatedtype Root: BindableState

    /// The action that changes a field; an enum case of this name fulfils the requirement.
    static func binding(_ change: BindingAction<Root>) -> Self
}

/// A field that bindings may write, with its name on the wire.
public struct BindableField<Root: Sendable>: Sendable {
    let name: String
    let path: any PartialKeyPath<Root> & Sendable
    let schema: @Sendable () -> WireSchema
    let read: @Sendable (WireEmbedded) throws(WireError) -> (inout Root) -> Void
    /// The same value in the form of the encoder, without former names.
    let encodeAgain: @Sendable (WireEmbedded) throws(WireError) -> WireEmbedded

    init<Value: WireCodable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable
    ) {
        self.name = name
        self.path = path
        schema = { Value.wireSchema }
        read = { bytes throws(WireError) in
            let value = try bytes.decode(as: Value.self)
            return { $0[keyPath: path] = value }
        }
        encodeAgain = { bytes throws(WireError) in
            WireEmbedded(try bytes.decode(as: Value.self))
        }
    }
}

/// The change of one field, which a binding sends and `reduce` applies.
///
///     case .binding(\.name): …                        // in a `switch`
///     case .bound(let change): change.apply(to: &state)
///
/// *Shape*: a choice with a case for each field, `{"name":"Ann"}`.
public struct BindingAction<Root: BindableState>: Sendable, Equatable {
    /// The field's name on the wire.
    public let field: String
    private let bytes: WireEmbedded

    private init(_ field: String, _ bytes: WireEmbedded) {
        self.field = field
        self.bytes = bytes
    }

    /// Sets a field, which must be one of ``BindableState/bindableFields``.
    public static func set<Value: WireCodable & Sendable>(
        _ path: any WritableKeyPath<Root, Value> & Sendable, _ value: Value
    ) -> BindingAction {
        guard let field = Root.bindableFields.first(where: { $0.path == path }) else {
            preconditionFailure("\(path) is not listed in \(Root.self).bindableFields")
        }
        return BindingAction(field.name, WireEmbedded(value))
    }

    /// Makes the change.
    public func apply(to state: inout Root) {
        // Decoding has already read this value, so reading it again cannot fail.
        guard let change = try? Self.known(field)?.read(bytes) else { return }
        change(&state)
    }

    /// The new value of the field, if this is a change of `path`.
    public func value<Value: WireCodable>(of path: KeyPath<Root, Value>) -> Value? {
        path ~= self ? try? bytes.decode(as: Value.self) : nil
    }

    /// Whether this is a change of the field at `path`.
    public static func ~= (path: PartialKeyPath<Root>, change: BindingAction) -> Bool {
        known(change.field)?.path == path
    }

    private static func known(_ name: String) -> BindableField<Root>? {
        Root.bindableFields.first { $0.name == name }
    }
}

extension BindingAction: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 1)
        writer.text(field)
        bytes.encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> BindingAction {
        let choice = try cursor.openChoice(in: bytes)
        let name = bytes.text(choice.name)
        guard let field = known(name) else {
            throw cursor.unknownCase(choice, known: Root.bindableFields.map(\.name), in: bytes)
        }
        try cursor.expectPayload(of: choice)
        let start = cursor.offset
        let sent = try WireEmbedded.decode(bytes, &cursor)
        let value: WireEmbedded
        do throws(WireError) {
            value = try field.encodeAgain(sent)
        } catch {
            throw WireError(error.condition, at: start &+ error.offset, path: [name] + error.path)
        }
        try cursor.close(choice, in: bytes)
        return BindingAction(name, value)
    }

    public static var wireSchema: WireSchema {
        .choice(
            WireSchema.Choice(
                name: "BindingAction",
                cases: Root.bindableFields.map { field in
                    WireSchema.Case(name: field.name, payload: .single(field.schema()))
                }))
    }
}
