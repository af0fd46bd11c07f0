/// The reason why bytes from the engine are no entry, leader record, report or base.
package enum RecordError: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated(record: String, at: Int, field: String, expected: Int, got: Int)
    /// A field has a value that no writer of this version stores.
    case invalid(record: String, at: Int, field: String, got: UInt64)
    /// Bytes follow the last field.
    case excess(record: String, at: Int, byteCount: Int)
    /// The bytes are more than a record may have.
    case tooLong(record: String, byteCount: Int, bytesMax: Int)
}

extension RecordError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let record, let at, let field, let expected, let got):
            "\(record) at byte \(at): \(field) needs \(expected) bytes, \(got) are left; "
                + "the cluster's log is damaged, or another program wrote it"
        case .invalid(let record, let at, let field, let got):
            "\(record) at byte \(at): \(field) is \(got), which this version does not know; "
                + "upgrade this node, or look for another program that writes the cluster's keys"
        case .excess(let record, let at, let byteCount):
            "\(record) at byte \(at): \(byteCount) bytes follow its end; the cluster's log is "
                + "damaged, or another program wrote it"
        case .tooLong(let record, let byteCount, let bytesMax):
            "\(record): \(byteCount) bytes exceed the maximum of \(bytesMax); look for another "
                + "program that writes the cluster's keys"
        }
    }
}
