/// What a snapshot is of.
public struct SnapshotHeader: Equatable, Sendable {
    /// The journal that it belongs to.
    public var instance: JournalInstance
    /// The row as of which the state is, and its checksum: the journal goes on there.
    public var position: JournalPosition
    /// How many parts there are.
    public var partCount: Int

    /// The name of the snapshot of row `number`.
    static func name(_ number: UInt64) -> String { "snapshot-\(number).sqlite" }

    /// What a file is called while it is half a snapshot; no two have the same name.
    static func partialName(_ number: UInt64) -> String {
        "snapshot-\(number).partial-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    }

    /// Whether the file called `name` is half a snapshot.
    static func isPartial(_ name: String) -> Bool {
        name.hasPrefix("snapshot-") && name.contains(".partial")
    }

    /// The row that the file called `name` is of; nil if it is no snapshot's.
    static func number(of name: String) -> UInt64? {
        guard name.hasPrefix("snapshot-"), name.hasSuffix(".sqlite") else { return nil }
        let digits = name.dropFirst("snapshot-".count).dropLast(".sqlite".count)
        guard let number = UInt64(digits), Self.name(number) == name else { return nil }
        return number
    }

    /// What the first part's checksum is seeded with.
    static func seed(_ instance: JournalInstance, _ number: UInt64) -> UInt64 {
        Checksum.of(instance.words + [number], behind: 1)
    }

    /// What a part's checksum has to be behind the part before.
    static func chain(of part: ArraySlice<UInt8>, number: UInt64, behind chain: UInt64) -> UInt64 {
        let head = Checksum.of([number, UInt64(part.count)], behind: chain)
        return Checksum.of(part.span, behind: head)
    }
}
