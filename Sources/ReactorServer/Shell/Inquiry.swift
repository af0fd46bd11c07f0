import ReactorBytes
package import ReactorWire

/// A client's query about the past, which the archive answers from the journal.
package struct Inquiry: Sendable {
    /// The connection that asked.
    package let connection: ConnectionID
    /// The peer's identity, as the kernel reports it.
    package let peer: Peer
    /// The number of the request.
    package let number: UInt64
    /// The question.
    package let ask: Question
}

extension Inquiry {
    /// Maximum number of queries about the past that wait on one connection.
    package static let perConnectionMax = 8
}
