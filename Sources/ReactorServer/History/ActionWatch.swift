import ReactorBytes

/// Marks the action in progress where the next run of the daemon finds it. An action during which
/// the daemon ended twice does not run a third time.
///
///     | word   | meaning                                                      |
///     | ------ | ------------------------------------------------------------ |
///     | 0      | the format, ``format``                                       |
///     | 1, 2   | the secret of the session whose actions are in progress      |
///     | 3      | the ordinal of the marked action; 0 between actions          |
///     | 4 …    | suspects, four words each: secret, ordinal, deaths           |
///
/// *Place*: only in a daemon with a journal: only there a client sends an action again after a
/// crash. *Cost*: one store per action. *Shape*: at most ``suspectsMax`` actions are suspected.
package struct ActionWatch {
    /// An action that was in progress when the daemon died.
    package struct Death: Equatable, Sendable {
        /// Its ordinal, in its session.
        package var ordinal: UInt64
        /// Number of runs of the daemon that died of it.
        package var count: UInt64
    }

    /// Maximum number of suspected actions; one more replaces the oldest of those that the fewest
    /// daemons have ended by.
    static let suspectsMax = 32
    /// Number of words of the marker.
    package static let wordCount = firstSuspect + suspectsMax * suspectWords
    /// Deaths after which an action is refused.
    static let deathsMax: UInt64 = 2
    private static let format: UInt64 = 0x3163_7461_7473_616c
    private static let firstSuspect = 4
    private static let suspectWords = 4
    fileprivate static let ordinalWord = 3

    /// The shared words; nil if no action is marked.
    private let words: SharedWords?
    /// The action that was in progress when the last run died, if it did.
    let death: Death?
    /// Actions of which the daemon died, oldest first.
    private var suspects: [(session: SessionWords, death: Death)] = []

    /// Whether any action is suspected.
    var hasSuspects: Bool { !suspects.isEmpty }

    /// Number of actions that must not run again.
    var poisonedCount: Int { suspects.count { $0.death.count >= Self.deathsMax } }

    /// Marks nothing.
    init() {
        words = nil
        death = nil
    }

    /// Reads the marks of the last run, and marks actions from here on.
    init(_ words: SharedWords) {
        precondition(words.count >= Self.wordCount, "an action watch needs more words")
        self.words = words
        guard words[0] == Self.format else {
            death = nil
            for index in 0..<Self.wordCount { words[index] = 0 }
            words[0] = Self.format
            return
        }
        for index in 0..<Self.suspectsMax {
            let start = Self.firstSuspect + index * Self.suspectWords
            guard words[start + 3] > 0 else { break }
            suspects.append(
                (
                    SessionWords(words[start], words[start + 1]),
                    Death(ordinal: words[start + 2], count: words[start + 3])
                ))
        }
        let ordinal = words[Self.ordinalWord]
        guard ordinal > 0 else {
            death = nil
            return
        }
        let session = SessionWords(words[1], words[2])
        let count = Self.remove(session, ordinal, from: &suspects)
        let found = Death(ordinal: ordinal, count: count + 1)
        death = found
        suspects.append((session, found))
        makeRoom()
        // With this order, a daemon that is killed in between loses a death, but never counts one
        // twice.
        words[Self.ordinalWord] = 0
        write()
    }

    /// Begins actions of a session. Returns the page that marks each of them; nil if actions are
    /// not marked.
    func begin(_ session: Session) -> WatchPage? {
        guard let words else { return nil }
        let secret = SessionWords(session.secret)
        words[1] = secret.high
        words[2] = secret.low
        return WatchPage(words: words)
    }

    /// Clears the mark: no action is in progress.
    func end() { words?[Self.ordinalWord] = 0 }

    /// Whether an action is marked as in progress.
    var isMarked: Bool { words.map { $0[Self.ordinalWord] != 0 } ?? false }

    /// Bytes of a marker up to the ordinal.
    package static let markBytes = (ordinalWord + 1) * 8

    /// The ordinal that is marked in the bytes of a file; nil between actions.
    package static func markedOrdinal(in bytes: [UInt8]) -> UInt64? {
        guard bytes.count >= markBytes else { return nil }
        let word = bytes[(ordinalWord * 8)..<markBytes].reversed().reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        return word == 0 ? nil : word
    }

    /// Whether an action of the session is suspected.
    func suspects(_ session: Session) -> Bool {
        guard hasSuspects else { return false }
        let secret = SessionWords(session.secret)
        return suspects.contains { $0.session == secret }
    }

    /// Whether an action must not run again.
    func isPoisoned(_ ordinal: UInt64, of session: Session) -> Bool {
        guard hasSuspects else { return false }
        let secret = SessionWords(session.secret)
        return suspects.contains {
            $0.session == secret && $0.death.ordinal == ordinal
                && $0.death.count >= Self.deathsMax
        }
    }

    /// Number of daemons that have ended while they ran the action, as far as this one knows.
    func deaths(of ordinal: UInt64, _ session: Session) -> UInt64 {
        guard hasSuspects else { return 0 }
        let secret = SessionWords(session.secret)
        return suspects.first { $0.session == secret && $0.death.ordinal == ordinal }?.death.count
            ?? 0
    }

    /// Suspects that `deaths` other daemons have ended since they ran an action.
    mutating func suspect(_ ordinal: UInt64, of session: Session, deaths: UInt64) {
        let secret = SessionWords(session.secret)
        let count = max(deaths, Self.remove(secret, ordinal, from: &suspects))
        suspects.append((secret, Death(ordinal: ordinal, count: count)))
        makeRoom()
        write()
    }

    /// Removes the least suspected action if there are too many, but not the newest.
    private mutating func makeRoom() {
        guard suspects.count > Self.suspectsMax,
            let index = suspects.indices.dropLast().min(by: {
                suspects[$0].death.count < suspects[$1].death.count
            })
        else { return }
        suspects.remove(at: index)
    }

    /// Clears the suspicion of an action that ran without harm.
    mutating func acquit(_ ordinal: UInt64, of session: Session) {
        guard hasSuspects, Self.remove(SessionWords(session.secret), ordinal, from: &suspects) > 0
        else { return }
        write()
    }

    /// Removes a suspect; returns the number of runs that died of it.
    private static func remove(
        _ session: SessionWords, _ ordinal: UInt64,
        from suspects: inout [(session: SessionWords, death: Death)]
    ) -> UInt64 {
        let index = suspects.firstIndex { $0.session == session && $0.death.ordinal == ordinal }
        return index.map { suspects.remove(at: $0).death.count } ?? 0
    }

    private func write() {
        guard let words else { return }
        for index in 0..<Self.suspectsMax {
            let start = Self.firstSuspect + index * Self.suspectWords
            guard index < suspects.count else {
                words[start + 3] = 0
                continue
            }
            let (session, death) = suspects[index]
            words[start] = session.high
            words[start + 1] = session.low
            words[start + 2] = death.ordinal
            words[start + 3] = death.count
        }
    }
}

/// Marks the actions of one session; a run of actions looks it up once.
struct WatchPage {
    fileprivate let words: SharedWords

    /// Marks the next action.
    @inline(__always)
    func mark(_ ordinal: UInt64) { words[ActionWatch.ordinalWord] = ordinal }
}

/// The secret of a session, as two words.
struct SessionWords: Hashable {
    let high: UInt64
    let low: UInt64

    init(_ high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ secret: [UInt8]) {
        high = secret.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = secret.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
