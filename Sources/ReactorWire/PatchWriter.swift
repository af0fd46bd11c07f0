/// Writes what of a value changed, for those who have the value as it was before.
///
/// *Shape*: changes back to back, to be made one after the other. A change is an array of a path
/// (one key at least, from the value's outermost map inwards) and what stands there now; without
/// the latter, nothing does any more.
///
///     [["entries", "theme"], "dark"] [["entries", "font"]]
public struct PatchWriter: ~Copyable {
    private var changes = WireWriter()

    /// An empty patch.
    public init() {}

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.count == 0 }

    /// Adds a change at `path`, where `encode` appends what stands there, or says that nothing does.
    /// What can never be there is no change.
    public mutating func append(
        _ path: ArraySlice<WireKey>, _ encode: (inout WireWriter) -> WireReach
    ) {
        let start = changes.count
        changes.array(count: 2)
        append(path)
        let reach = encode(&changes)
        if reach == .found { return }
        changes.truncate(to: start)
        guard reach == .absent else { return }
        changes.array(count: 1)
        append(path)
    }

    private mutating func append(_ path: ArraySlice<WireKey>) {
        changes.array(count: path.count)
        for key in path { changes.text(key.text) }
    }

    /// The patch. *Cost*: copies it.
    public var bytes: [UInt8] { changes.bytes }
}
