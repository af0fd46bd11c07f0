import ReactorCore

/// The result of a comparison of types: how a mirror follows its node.
enum TypeVerdict {
    /// The node cannot be shown as the mirror's type.
    case refused(ClientError)
    /// The types are equal, so the mirror can follow the mutations.
    case replica
    /// The mirror follows the value. `isChanged` says that an earlier value was of another type.
    case value(isChanged: Bool)
}

/// The types of a mirror, compared with those of its node in the daemon.
///
/// *Place*: a part of the sinks of mirrors and collections, which learn the daemon's types from the
/// answer to ``Question/types(path:)`` on each connection.
struct TypeComparison {
    /// The names of the reactor, today's first.
    private var names: [String]
    private let fingerprint: UInt64
    private let state: WireSchema
    /// What becomes of fields that the daemon's type lacks.
    let missing: MissingFields
    /// Fingerprint of the daemon's types that were compared last.
    private var compared: UInt64?
    /// The difference of the types; `nil` while they are equal or unknown.
    private(set) var difference: TypeDifference?
    /// True once the types of this connection's daemon are known.
    private(set) var areKnown = false

    /// Compares the types of a node that is a reactor `R`.
    init<R: Reactor>(of type: R.Type, _ missing: MissingFields) {
        self.init([R.reactorName] + R.formerNames, type, missing)
    }

    /// Compares the types of the children of a collection of reactors `R`.
    init<R: Reactor>(ofChildren type: R.Type, _ missing: MissingFields) {
        self.init([R.collectionName] + R.formerCollectionNames, type, missing)
    }

    private init<R: Reactor>(_ names: [String], _ type: R.Type, _ missing: MissingFields) {
        self.names = names
        fingerprint = R.fingerprint
        state = R.State.wireSchema
        self.missing = missing
    }

    /// The phase of a mirror that follows the daemon.
    var livePhase: ClientPhase { difference.map { .differing($0) } ?? .live }

    /// Whether a replica can follow a slice that is granted with these types.
    func fits(_ subscribed: Subscribed) -> Bool {
        !subscribed.byValue && subscribed.fingerprint == fingerprint
            && names.contains(subscribed.reactor)
    }

    /// Records that the mirror follows the mutations of a node with the same types.
    mutating func equal() {
        compared = fingerprint
        difference = nil
    }

    /// Forgets the daemon's types: the next connection may be to another version of it.
    mutating func forget() { areKnown = false }

    /// Compares the types of the node at `path`.
    mutating func learn(_ types: NodeTypes, at path: String) -> TypeVerdict {
        let isKnown = names.contains(types.reactor)
        guard isKnown || types.formerNames.contains(names[0]) else {
            return .refused(
                .otherReactor(path: path, expected: names[0], actual: types.reactor))
        }
        if !isKnown { names.append(types.reactor) }
        areKnown = true
        let isChanged = compared.map { $0 != types.fingerprint } ?? false
        compared = types.fingerprint
        guard types.fingerprint != fingerprint else {
            difference = nil
            return types.byValue ? .value(isChanged: isChanged) : .replica
        }
        let difference = TypeDifference(from: types.state, to: state, missing)
        self.difference = difference
        if let refusal = difference.refusal {
            return .refused(.incompatible(path: path, refusal))
        }
        return .value(isChanged: isChanged)
    }

    /// Checks that a decoded state shows no default in place of a field that the daemon's type
    /// lacks.
    ///
    /// *Cost*: encodes the state, if there is such a field.
    func check(_ state: some WireCodable) throws(WireError) {
        guard let paths = difference?.nilPaths, !paths.isEmpty else { return }
        let value = try WireValue(wireBytes: state.wireBytes())
        for path in paths where value.hasValue(at: path[...]) {
            throw WireError(.missingField(path[path.endIndex - 1]), at: 0, path: path.dropLast())
        }
    }
}

extension WireValue {
    /// Whether a value that is not null is at `path`, in which `*` stands for each element.
    fileprivate func hasValue(at path: ArraySlice<String>) -> Bool {
        guard let name = path.first else { return self != .null }
        let rest = path.dropFirst()
        switch self {
        case .map(let map) where name == "*":
            return map.contains { $0.value.hasValue(at: rest) }
        case .map(let map): return map[WireKey(name)]?.hasValue(at: rest) ?? false
        case .array(let elements):
            // A tuple's elements have numbers; searching all of them finds no less.
            return elements.contains { $0.hasValue(at: rest) }
        default: return false
        }
    }
}
