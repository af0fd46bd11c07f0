import ReactorCore
import ReactorWire

/// A question for a checksum, which is answered when the turn ends: as of the turn's mark.
struct ChecksumQuestion {
    var header: FrameHeader
    var path: String
    var mode: SubscriptionMode
    var connection: Connection
}

// MARK: - What followers must hold
extension Server {
    /// Takes a question in; it is answered when all of the turn has been carried out.
    func ask(
        _ header: FrameHeader, _ path: String, _ mode: SubscriptionMode, of connection: Connection
    ) {
        checksumQuestions.append(
            ChecksumQuestion(header: header, path: path, mode: mode, connection: connection))
        note(connection)
    }

    /// Answers the turn's questions; each slice is encoded once, however many ask.
    func answerChecksums() {
        let questions = checksumQuestions
        checksumQuestions = []
        var known: [String: UInt64] = [:]
        for question in questions where question.connection.stage != .closed {
            let key = "\(question.mode) \(question.path)"
            do throws(Refusal) {
                // because many may ask for what is large
                let value: UInt64
                if let before = known[key] {
                    value = before
                } else {
                    value = try checksum(of: question)
                }
                known[key] = value
                let answer = SliceChecksum(
                    revision: Revision(epoch: tree.turn.epoch, sequence: tree.turn.sequence),
                    checksum: value)
                let body = answer.wireBytes()
                reply(to: question.connection) { writer in
                    writer.parts(.answer, number: question.header.number, body: body.span)
                }
            } catch {
                refuse(question.header, error, of: question.connection)
            }
        }
    }

    private func checksum(of question: ChecksumQuestion) throws(Refusal) -> UInt64 {
        let (node, field) = try find(question.path).get()
        var value = WireWriter()
        if question.mode == .value {
            // because where nothing stands there is no body either
            if node.encodeValue(at: field, into: &value) != .found { value.removeAll() }
        } else {
            guard field.isEmpty else {
                let text = "\(question.path) is inside a state: ask in value mode"
                throw Refusal(.path, text)
            }
            node.encodeReplica(into: &value)
        }
        return value.withBytes { WireChecksum(of: $0).value }
    }
}
