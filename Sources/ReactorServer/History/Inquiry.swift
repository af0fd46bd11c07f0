import ReactorBytes
public import ReactorWire

/// A question of a client's about the past, which a journal answers and no state in memory.
public struct Inquiry: Sendable {
    /// Who asked.
    public let connection: ConnectionID
    /// Who that is, as the kernel says.
    public let peer: Peer
    /// Under which number the connection waits for the answer.
    public let number: UInt64
    /// What was asked.
    public let ask: Ask
}

extension Inquiry {
    /// Most questions about the past that one connection waits for.
    public static let perConnectionMax = 8
}
