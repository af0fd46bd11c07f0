import DequeModule
import ReactorWire

/// What a following server knows of actions that it passed on, and whose client has lost its
/// connection since.
///
/// A leading daemon that ends leaves its followers without rows, so that they close their clients'
/// connections. A client sends its actions again on the next one. Without this book, the server would
/// take them for new ones, and a poisoned action would end every daemon.
///
/// *Shape*: at most ``countMax`` actions; those of the session that lost its connection first go
/// first. Actions that rows have are removed from time to time. ``invariants()`` states the
/// invariants.
struct AbandonedActions {
    /// What is known of an action.
    struct Doubt: Equatable {
        /// Number of leading daemons that ended while they had it.
        var deaths: UInt64
        /// Whether a link had it, since the last change of the leadership, and no answer came.
        var isOpen: Bool
    }

    /// An action that a daemon may have ended by.
    struct Suspect {
        let ordinal: UInt64
        let session: Session
        let deaths: UInt64
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
    /// The sessions in the order of their first action here; also some that have none any more.
    private var order: Deque<SessionWords> = []
    /// Number of actions.
    private(set) var count = 0
    /// Number of actions from which on those that rows have are removed.
    private var pruneCount = Self.pruneCountMin
    private static let pruneCountMin = 1_024

    /// Keeps what is known of `countMax` actions at most.
    init(countMax: Int = Self.countMax) { self.countMax = countMax }

    /// Keeps what is known of an action whose connection has ended.
    mutating func remember(_ doubt: Doubt, of ordinal: UInt64, _ session: Session) {
        guard doubt.isOpen || doubt.deaths > 0 else { return }
        let key = SessionWords(session.secret)
        if books[key] == nil {
            books[key] = Book(session: session)
            order.append(key)
            // A session that comes back leaves its former place.
            if order.count > 2 * books.count + 64 {
                order.removeAll { books[$0] == nil }
            }
        }
        if books[key]?.doubts.updateValue(doubt, forKey: ordinal) == nil { count += 1 }
        if count >= pruneCount { change { $0 } }
        while count > countMax, let first = order.popFirst() {
            count -= books.removeValue(forKey: first)?.doubts.count ?? 0
        }
        invariants()
    }

    /// Hands over what is known of an action that its client sends again; nil if that is nothing.
    mutating func recall(_ ordinal: UInt64, of session: Session) -> Doubt? {
        guard count > 0 else { return nil }
        let key = SessionWords(session.secret)
        guard let doubt = books[key]?.doubts.removeValue(forKey: ordinal) else { return nil }
        count -= 1
        if books[key]?.doubts.isEmpty == true { books[key] = nil }
        invariants()
        return doubt
    }

    /// Forgets the actions of a session that has ended.
    mutating func dropDoubts(of session: Session) {
        guard count > 0 else { return }
        count -= books.removeValue(forKey: SessionWords(session.secret))?.doubts.count ?? 0
        invariants()
    }

    /// Another daemon leads. With `isSuspected`, the former may have ended by one of the actions.
    mutating func endTerm(isSuspected: Bool) {
        change {
            Doubt(deaths: $0.deaths + (isSuspected && $0.isOpen ? 1 : 0), isOpen: false)
        }
    }

    /// Removes all actions, and returns those during which daemons have ended, at most `countMax` of
    /// them: those during which most have ended.
    mutating func takeSuspects(countMax: Int) -> [Suspect] {
        let suspects = books.values.flatMap { book in
            book.doubts.filter { $0.value.deaths > 0 && $0.key > book.session.ordinal }
                .map { Suspect(ordinal: $0.key, session: book.session, deaths: $0.value.deaths) }
        }
        self = AbandonedActions(countMax: self.countMax)
        return Array(
            suspects.sorted { ($1.deaths, $0.ordinal) < ($0.deaths, $1.ordinal) }.prefix(countMax))
    }

    /// Changes each doubt, and removes those that say nothing, and those of actions that rows have.
    private mutating func change(_ body: (Doubt) -> Doubt) {
        count = 0
        books = books.compactMapValues { book in
            var changed = book
            changed.doubts = book.doubts.filter { $0.key > book.session.ordinal }.mapValues(body)
                .filter { $0.value.isOpen || $0.value.deaths > 0 }
            count += changed.doubts.count
            return changed.doubts.isEmpty ? nil : changed
        }
        order.removeAll { books[$0] == nil }
        pruneCount = max(Self.pruneCountMin, 2 * count)
        invariants()
    }

    /// Checks the invariants, in debug builds.
    private func invariants() {
        assert(count <= countMax, "\(count) abandoned actions are more than \(countMax)")
        assert(
            books.count > 32 || count == books.values.reduce(0) { $0 + $1.doubts.count },
            "abandoned actions are counted wrongly")
        assert(books.count <= order.count, "a session with abandoned actions has no place")
    }
}
