import ReactorWire

/// What a following server knows of actions that it passed on, and whose client has lost its
/// connection since.
///
/// A leading daemon that ends leaves its followers without rows, so that they close their clients'
/// connections. A client sends its actions again on the next one. Without this book, each would come
/// as an action that no daemon has ended by, and a poisoned one would end every daemon.
///
/// *Shape*: at most ``countMax`` actions; those of the session that lost its connection first go
/// first. An action is here or owed, never both.
struct AbandonedActions {
    /// What is known of an action.
    struct Doubt: Equatable {
        /// Number of leading daemons that ended while they had it.
        var deaths: UInt64
        /// Whether a link had it, since the last change of the leadership, and no answer came.
        var isOpen: Bool
    }

    private struct Book {
        let session: Session
        var doubts: [UInt64: Doubt] = [:]
    }

    /// Maximum number of actions.
    static let countMax = 1 << 16
    /// Maximum number of actions in this book.
    private let countMax: Int
    private var books: [SessionWords: Book] = [:]
    /// The sessions of the books, in the order of their first action here.
    private var order: [SessionWords] = []
    /// Number of actions.
    private(set) var count = 0

    /// Keeps what is known of `countMax` actions at most.
    init(countMax: Int = Self.countMax) { self.countMax = countMax }

    /// Keeps what is known of an action whose connection has ended.
    mutating func remember(_ doubt: Doubt, of ordinal: UInt64, _ session: Session) {
        guard doubt.isOpen || doubt.deaths > 0 else { return }
        let key = SessionWords(session.secret)
        if books[key] == nil {
            books[key] = Book(session: session)
            order.append(key)
        }
        if books[key]?.doubts.updateValue(doubt, forKey: ordinal) == nil { count += 1 }
        while count > countMax, let first = order.first { remove(first) }
    }

    /// Hands over what is known of an action that its client sends again; nil if that is nothing.
    mutating func recall(_ ordinal: UInt64, of session: Session) -> Doubt? {
        guard count > 0 else { return nil }
        let key = SessionWords(session.secret)
        guard let doubt = books[key]?.doubts.removeValue(forKey: ordinal) else { return nil }
        count -= 1
        if books[key]?.doubts.isEmpty == true { remove(key) }
        return doubt
    }

    /// Another daemon leads, and the former may have ended since it carried out one of the actions.
    /// Forgets those that rows have by now.
    mutating func suspect() {
        for key in order {
            guard var book = books[key] else { continue }
            let former = book.doubts.count
            book.doubts = book.doubts.filter { $0.key > book.session.ordinal }.mapValues {
                Doubt(deaths: $0.deaths + ($0.isOpen ? 1 : 0), isOpen: false)
            }
            count -= former - book.doubts.count
            books[key] = book
            if book.doubts.isEmpty { remove(key) }
        }
    }

    /// Removes all actions, and returns those during which daemons have ended, at most `countMax` of
    /// them: those during which most have ended.
    mutating func takeSuspects(
        countMax: Int
    ) -> [(ordinal: UInt64, session: Session, deaths: UInt64)] {
        let suspects = order.compactMap { books[$0] }.flatMap { book in
            book.doubts.filter { $0.value.deaths > 0 }
                .map { (ordinal: $0.key, session: book.session, deaths: $0.value.deaths) }
        }
        (books, order, count) = ([:], [], 0)
        return Array(
            suspects.sorted { ($1.deaths, $0.ordinal) < ($0.deaths, $1.ordinal) }.prefix(countMax))
    }

    private mutating func remove(_ key: SessionWords) {
        count -= books.removeValue(forKey: key)?.doubts.count ?? 0
        order.removeAll { $0 == key }
    }
}
