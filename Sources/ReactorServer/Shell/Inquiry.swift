import ReactorBytes
package import ReactorWire

/// A client's question about the past, which only the journal can answer.
public struct Inquiry: Sendable {
    /// The connection that asked.
    package let connection: ConnectionID
    /// Its client, as the kernel reports it.
    package let peer: Peer
    /// The number of the request.
    package let number: UInt64
    /// The question.
    package let ask: Ask
}

extension Inquiry {
    /// Maximum number of questions about the past that one connection waits for.
    package static let perConnectionMax = 8
}
