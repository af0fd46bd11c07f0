import FoundationEssentials
import GRDB

/// Columns that a flipped bit may have turned into anything: nothing here traps.
extension Row {
    /// The integer in a column; nil if it holds something else.
    func integer(_ index: Int) -> Int64? {
        let value: DatabaseValue = self[index]
        guard case .int64(let integer) = value.storage else { return nil }
        return integer
    }

    /// The 64 bits in a column; nil if it holds something else.
    func word(_ index: Int) -> UInt64? { integer(index).map { UInt64(bitPattern: $0) } }

    /// The bytes in a column; nil if it holds something else.
    func bytes(_ index: Int) -> [UInt8]? {
        let value: DatabaseValue = self[index]
        guard case .blob(let data) = value.storage else { return nil }
        return [UInt8](data)
    }
}

/// Values in the form in which SQLite takes them.
enum Column {
    /// An integer column.
    static func word(_ value: UInt64) -> DatabaseValue {
        Int64(bitPattern: value).databaseValue
    }

    /// A blob column, empty ones included.
    static func bytes(_ value: ArraySlice<UInt8>) -> DatabaseValue {
        DatabaseValue(value: Data(value)) ?? .null
    }
}
