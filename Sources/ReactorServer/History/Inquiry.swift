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

// MARK: - Questions about the past
extension Server {
    /// Hands a question to who knows the past.
    func inquire(_ ask: Ask, _ header: FrameHeader, of connection: Connection) {
        guard keepsHistory else {
            let text = "the daemon keeps everything in memory, there is no past: give it `data:`"
            return refuse(header, Refusal(.history, text), of: connection)
        }
        guard connection.inquiryCount < Inquiry.perConnectionMax else {
            let text = "\(Inquiry.perConnectionMax) questions about the past wait for their answers"
            return refuse(header, Refusal(.quota, text), of: connection)
        }
        connection.inquiryCount += 1
        outputs.append(
            .inquire(
                Inquiry(
                    connection: connection.id, peer: connection.peer, number: header.number,
                    ask: ask)))
    }

    /// The past has answered, between two turns: CBOR, or why not.
    ///
    /// Nothing happens where the connection has gone.
    public func answer(
        _ inquiry: Inquiry, with result: Result<[UInt8], Refusal>, at now: UInt64
    ) {
        self.now = now
        guard let connection = connections[inquiry.connection] else { return }
        connection.inquiryCount -= 1
        guard !connection.isClosing, connection.stage == .open else { return }
        let header = FrameHeader(kind: .ask, number: inquiry.number)
        switch result {
        case .failure(let refusal): refuse(header, refusal, of: connection)
        case .success(let bytes): send(bytes, of: inquiry.number, to: connection)
        }
        note(connection)
    }
}
