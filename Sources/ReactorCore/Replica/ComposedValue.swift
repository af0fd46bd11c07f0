/// A node's value with the values of the nodes below composed into it: see
/// ``AnyNode/encodeValue(into:)``.
package enum ComposedValue {
    /// The names of the children of `reactor`; `nil` if it has none.
    static func childNames(of reactor: some Reactor) -> Set<WireKey>? {
        var visitor = ChildVisitor()
        reactor.children(&visitor)
        return visitor.names.isEmpty ? nil : visitor.names
    }

    /// Extracts the node's own encoded state, of the shape `schema`, from a composed value.
    package static func own(
        _ bytes: Span<UInt8>, without names: Set<WireKey>, _ schema: WireSchema
    ) throws(WireError) -> [UInt8] {
        let entries = try AnyNode.entries(of: bytes).filter { !names.contains($0.key) }
        if let first = entries.first, entries.count == 1, first.key == AnyNode.stateKey,
            !schema.mayHave(AnyNode.stateKey)
        {
            return first.value
        }
        var writer = WireWriter()
        writer.map(count: entries.count)
        for entry in entries {
            writer.text(entry.key.text)
            writer.raw(entry.value)
        }
        return writer.bytes
    }
}

/// Reads the states of reactors of type `R` from composed values, without the values of the nodes
/// below.
///
/// *Place*: a client that follows a collection reads each child's state with it.
package struct ComposedState<R: Reactor>: Sendable {
    /// The names of the children of `R`; `nil` if it has none.
    private let names: Set<WireKey>?

    /// Collects the children that ``Reactor/childPaths(_:)`` lists.
    package init() {
        let names = Set(
            PathTable<R>().allPaths.compactMap { path in
                path.components.count == 1 ? path.components[0] : nil
            })
        self.names = names.isEmpty ? nil : names
    }

    /// Whether the values at `name` in a composed value are those of another node.
    package func isChild(_ name: WireKey) -> Bool { names?.contains(name) ?? false }

    /// The reactor's own encoded state, extracted from its composed value.
    package func own(_ composed: [UInt8]) throws(WireError) -> [UInt8] {
        guard let names else { return composed }
        return try ComposedValue.own(composed.span, without: names, R.State.wireSchema)
    }

    /// The encoded values of a collection's children, by key.
    package static func children(
        of collection: Span<UInt8>
    ) throws(WireError) -> [(key: WireKey, value: [UInt8])] {
        try AnyNode.entries(of: collection)
    }
}

extension WireSchema {
    /// Whether a value of this shape may be a map with the key `name`.
    fileprivate func mayHave(_ name: WireKey) -> Bool {
        switch self {
        case .record(let record): record.fields.contains { WireKey($0.name) == name }
        case .choice(let choice): choice.cases.contains { WireKey($0.name) == name }
        case .map, .any: true
        default: false
        }
    }
}
