/// Searches for an order of exchanges that explains all outcomes, independently of the revisions.
///
/// An exchange replaces the current value and returns the old one. If one was answered before
/// another was sent, it precedes the other. Of an exchange without an answer, it is unknown
/// whether and when it took place.
///
/// *Cost*: exponential in the number of overlapping exchanges; visited states are not searched
/// again.
struct Linearization {
    /// One exchange, as its client saw it.
    struct Exchange {
        var asked: UInt64
        /// The time and the value of the answer.
        var answer: (time: UInt64, value: Int)?
        var value: Int
        /// The sequence in the outcome, if any.
        var sequence: UInt64?
    }

    private struct Place: Hashable {
        var done: UInt64
        var value: Int
    }

    /// Maximum number of exchanges: one bit each.
    static let countMax = 60
    /// Maximum number of states to search; above it the exchanges are accepted.
    static let placesMax = 50_000

    let exchanges: [Exchange]
    private var seen: Set<Place> = []

    init(_ exchanges: [Exchange]) {
        self.exchanges = Array(exchanges.sorted { $0.asked < $1.asked }.prefix(Self.countMax))
    }

    /// Whether a valid order exists that begins with `value`.
    mutating func exists(from value: Int) -> Bool { search(Place(done: 0, value: value)) }

    private mutating func search(_ place: Place) -> Bool {
        let open = exchanges.indices.filter { place.done & (1 << $0) == 0 }
        let ends = open.compactMap { exchanges[$0].answer?.time }
        guard let first = ends.min() else { return true }
        // Exchanges without an answer can be placed in too many ways to try them all.
        if seen.count >= Self.placesMax { return true }
        guard seen.insert(place).inserted else { return false }
        for index in open where exchanges[index].asked <= first {
            let exchange = exchanges[index]
            if let answer = exchange.answer, answer.value != place.value { continue }
            let next = Place(done: place.done | (1 << index), value: exchange.value)
            if search(next) { return true }
        }
        return false
    }
}
