/// The identity of a snapshot.
package struct SnapshotHeader: Equatable, Sendable {
    /// The snapshot's journal.
    package var instance: JournalInstance
    /// The row whose state the snapshot contains, and its checksum: the journal continues there.
    package var position: JournalPosition
    /// Number of parts.
    package var partCount: Int

    /// The application id of a snapshot's file: "rsnp".
    static let applicationID: Int32 = 0x7273_6E70

    /// The path of the snapshot in `directory`.
    package func file(in directory: DataDirectory) -> String {
        directory.path(Self.name(position.number))
    }

    /// The file name of the snapshot of row `number`.
    static func name(_ number: UInt64) -> String { "snapshot-\(number).sqlite" }

    /// A file name for an incomplete snapshot; unique.
    static func partialName(_ number: UInt64) -> String {
        "snapshot-\(number).partial-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    }

    /// Whether the file `name` is an incomplete snapshot.
    static func isPartial(_ name: String) -> Bool {
        name.hasPrefix("snapshot-") && name.contains(".partial")
    }

    /// The row of the snapshot in the file `name`; nil if it is not a snapshot.
    static func number(of name: String) -> UInt64? {
        guard name.hasPrefix("snapshot-"), name.hasSuffix(".sqlite") else { return nil }
        let digits = name.dropFirst("snapshot-".count).dropLast(".sqlite".count)
        guard let number = UInt64(digits), Self.name(number) == name else { return nil }
        return number
    }

    /// The seed of the first part's checksum.
    static func seed(_ instance: JournalInstance, _ number: UInt64) -> UInt64 {
        Checksum.of(instance.words + [number], behind: 1)
    }

    /// The checksum of a part, seeded with that of the part before.
    static func chain(of part: Span<UInt8>, number: UInt64, behind chain: UInt64) -> UInt64 {
        Checksum.of(part, behind: seed(of: part.count, number: number, behind: chain))
    }

    /// The seed of that checksum for a part of `byteCount` bytes.
    static func seed(of byteCount: Int, number: UInt64, behind chain: UInt64) -> UInt64 {
        Checksum.of([number, UInt64(byteCount)], behind: chain)
    }
}
