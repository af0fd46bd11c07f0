/// A node at one revision, to be encoded on any thread.
package struct SavedNode: Sendable {
    /// The node's place in the tree, and when it changed.
    package let head: NodeHead
    /// The first component of the node's path; nil for the root. It is not encoded.
    package let topName: WireKey?
    // The closure holds a copy of the state, which shares storage with it; encoding happens later.
    let encodeState: @Sendable (inout WireWriter) -> Void

    /// Appends the form that ``TreeRecovery`` reads.
    package func encode(into writer: inout WireWriter) {
        head.encode(into: &writer)
        writer.byteString(of: encodeState)
    }

    /// Number of bytes of that form, of which the state has `stateByteCount`.
    package func byteCount(stateByteCount: Int) -> Int {
        WireWriter.byteCount { appendHead(to: &$0, stateByteCount: stateByteCount) }
            + stateByteCount
    }

    /// Number of bytes of the state, if that form has `byteCount`.
    package func stateByteCount(in byteCount: Int) -> Int {
        // The head of a byte string has one of these sizes.
        let rest = byteCount - WireWriter.byteCount { head.encode(into: &$0) }
        let sizes = [1, 2, 3, 5, 9].map { rest - $0 }
        return sizes.first { $0 >= 0 && self.byteCount(stateByteCount: $0) == byteCount } ?? 0
    }

    /// Appends that form without a further measurement of the state, for a writer that passes its
    /// bytes on.
    package func encode(into writer: inout WireWriter, stateByteCount: Int) {
        appendHead(to: &writer, stateByteCount: stateByteCount)
        encodeState(&writer)
    }

    private func appendHead(to writer: inout WireWriter, stateByteCount: Int) {
        head.encode(into: &writer)
        writer.head(major: 2, UInt64(stateByteCount))
    }
}

/// The parts of a node in a snapshot besides its state.
@WireCodable
package struct NodeHead: Equatable, Sendable {
    /// ``AnyNode/number``.
    package var number: UInt32
    /// The number of the parent; its own at the root.
    package var parent: UInt32
    /// The last component of its path.
    package var name: WireKey
    /// Sequence of the transaction that created it.
    package var birth: UInt64
    /// Sequence of the last transaction that changed it or a node below it.
    package var sequence: UInt64
    /// The fingerprint of its types.
    package var fingerprint: UInt64
    /// ``AnyNode/reactorName``; empty in histories that do not record it.
    package var reactor: String = ""
}
