import ReactorWire

/// The conversions of a history's values to the versions of today's types, planned once for each
/// type of reactor, kind of value and recorded schema.
///
/// *Place*: ``TreeRecovery`` passes the values of nodes through it before it reads them.
final class HistoryConversions {
    private var planned: [Key: [Planned]] = [:]

    private struct Key: Hashable {
        var type: ObjectIdentifier
        var kind: HistoryKind
    }

    private struct Planned {
        var kept: KeptSchema?
        /// `nil` if the values are read as they are.
        var conversion: SchemaConversion?
    }

    /// Converts the values in `bytes` from `offset` on; `nil` if today's types read them as they
    /// are.
    ///
    /// *Throws*: ``MigrationError``, also for a mistake in the chains of the reactor's types.
    func convert(
        _ bytes: Span<UInt8>, from offset: Int, _ kind: HistoryKind, of node: AnyNode,
        kept: KeptSchema?
    ) throws(MigrationError) -> [UInt8]? {
        guard let conversion = try conversion(kind, of: node, kept) else { return nil }
        var cursor = WireCursor(kept: offset)
        var writer = WireWriter()
        while cursor.offset < bytes.count {
            // Bytes that are no value are reported where they are read.
            guard let value = try? WireValue.decode(bytes, &cursor) else { return nil }
            try conversion.convert(value).encode(into: &writer)
        }
        return writer.bytes
    }

    private func conversion(
        _ kind: HistoryKind, of node: AnyNode, _ kept: KeptSchema?
    ) throws(MigrationError) -> SchemaConversion? {
        let key = Key(type: ObjectIdentifier(type(of: node)), kind: kind)
        if let known = planned[key]?.first(where: { $0.kept == kept }) { return known.conversion }
        let conversion = try plan(kind, of: node, kept)
        planned[key, default: []].append(Planned(kept: kept, conversion: conversion))
        return conversion
    }

    private func plan(
        _ kind: HistoryKind, of node: AnyNode, _ kept: KeptSchema?
    ) throws(MigrationError) -> SchemaConversion? {
        let types = node.versionedTypes
        if let problem = types.problems.first {
            throw MigrationError(type: "the chain of", reason: problem)
        }
        guard let today = node.ownSchema(of: kind) else { return nil }
        guard let stored = kept?.schema(of: kind) else {
            guard let type = VersionedTypes(in: [today]).firstWithVersion else { return nil }
            throw MigrationError(
                type: type,
                reason: "has a version, and the history does not say of which version its values "
                    + "are: start it once with the types as they were, then with today's")
        }
        let conversion = try SchemaConversion(from: stored, to: today, with: types)
        return conversion.isNeeded ? conversion : nil
    }
}

extension HistoryConversions {
    /// Converts the states or mutations of a node in `bytes` from `offset` on, at the point that
    /// `recovery` has reached; `nil` if today's types read them as they are.
    ///
    /// *Throws*: ``MigrationError``. *Cost*: for values in today's form, one look-up.
    func convert(
        _ kind: HistoryKind, _ bytes: Span<UInt8>, from offset: Int = 0, of node: AnyNode,
        in recovery: TreeRecovery
    ) throws(MigrationError) -> [UInt8]? {
        guard recovery.forms.isOlder(node) else { return nil }
        return try convert(
            bytes, from: offset, kind, of: node, kept: recovery.keptSchema(of: node))
    }

    /// Converts a planned action, or the payload of a durable task, of a task that was recorded
    /// under the schemas `kept`.
    ///
    /// *Throws*: ``MigrationError``, or a `WireError`.
    func convert(
        _ value: WireEmbedded, _ kind: HistoryKind, of node: AnyNode, kept: KeptSchema?
    ) throws -> WireEmbedded {
        // Actions and payloads are no part of a form's fingerprint.
        let bytes = try convert(value.bytes.span, from: 0, kind, of: node, kept: kept)
        return try bytes.map { try WireEmbedded(wireBytes: $0) } ?? value
    }

    /// The mistakes in the versions of the types of a tree's reactors.
    static func mistakes(in tree: Tree) -> [RecoveryError] {
        var checked: Set<ObjectIdentifier> = []
        var found: [RecoveryError] = []
        tree.forEachNode { node in
            guard checked.insert(ObjectIdentifier(type(of: node))).inserted else { return }
            let kinds = DurableTaskKind.problem(in: node.taskKinds).map { [$0] } ?? []
            found += (node.versionedTypes.problems + kinds).map { problem in
                .misversioned(
                    path: node.path.description, reactor: node.describedName, problem: problem)
            }
        }
        return found
    }
}

extension RecoveryError {
    /// The refusal of a node's values `what` that cannot be read or converted.
    init(_ what: String, of node: AnyNode, _ error: any Error) {
        let path = node.path.description
        self =
            switch error {
            case let error as WireError: .unreadable(path: path, what: what, error)
            case let error as MigrationError:
                .unconverted(path: path, what: what, reason: error.description)
            default: .damaged("\(path): \(what): \(error)")
            }
    }
}
