import ReactorWire

/// A number that differs for programs whose reactors differ: in their places, names, versions, or the
/// schemas of their states, mutations and actions.
///
///     TypesFingerprint(of: tree).value
///
/// *Shape*: of a collection, whose children come and go, only the type of the children counts. So two
/// trees of one program have the same number, whatever their states are. *Cost*: encodes the schemas of
/// all reactors; computed once for a tree.
package struct TypesFingerprint: Equatable, Sendable {
    /// The number.
    package let value: UInt64

    /// The fingerprint of the reactors of `tree`.
    package init(of tree: Tree) {
        var writer = WireWriter()
        Self.describe(tree.root, in: &writer)
        value = writer.withBytes { WireChecksum(of: $0) }.value
    }

    private static func describe(_ node: AnyNode, in writer: inout WireWriter) {
        writer.text(node.path.description)
        writer.text(node.describedName)
        let fingerprints = [
            node.mirroredTypes.fingerprint, node.actionSchema.fingerprint,
            node.stateSchema.fingerprint, UInt64(node.ownVersion),
        ]
        for fingerprint in fingerprints { writer.unsigned(fingerprint) }
        guard !node.isCollection else { return }
        for (_, child) in node.children.sorted(by: { $0.key < $1.key }) {
            describe(child, in: &writer)
        }
    }
}
