/// A number of bytes, or a share of another limit.
public enum ByteShare: Equatable, Sendable {
    /// A number of bytes.
    case bytes(Int)
    /// A share in percent, 1 to 100.
    case percent(Int)

    /// The number of bytes where the other limit is `whole` bytes.
    package func byteCount(of whole: Int) -> Int {
        switch self {
        case .bytes(let count): count
        case .percent(let share): whole / 100 * share + whole % 100 * share / 100
        }
    }
}
