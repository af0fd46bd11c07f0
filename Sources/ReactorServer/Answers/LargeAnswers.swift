import ReactorBytes

/// The large answers that the connections of each user read at one moment, each counted once.
///
/// *Place*: ``AnswerService`` lets a user have ``ServerLimits/heavyPerUIDMax`` of them. *Cost*:
/// O(connections) to make.
struct LargeAnswers {
    private var read: [UInt32: Set<ObjectIdentifier>] = [:]

    /// Finds the answers of more than `byteCountMax` bytes.
    init(_ connections: some Sequence<Connection>, above byteCountMax: Int) {
        for connection in connections where connection.outlet.value.hasStreams {
            for answer in connection.outlet.value.answers where answer.bytes.count > byteCountMax {
                read[connection.peer.uid, default: []].insert(ObjectIdentifier(answer))
            }
        }
    }

    /// Number of large answers that a user reads.
    func count(of uid: UInt32) -> Int { read[uid]?.count ?? 0 }

    /// Whether a user of these requests reads `answer` already, or fewer than `countMax`.
    func admits(_ answer: Answer, for askers: [Asker], countMax: Int) -> Bool {
        askers.contains { asker in
            guard let own = read[asker.connection.peer.uid] else { return true }
            return own.count < countMax || own.contains(ObjectIdentifier(answer))
        }
    }
}
