/// Looks for an order of exchanges that explains what everybody was told, whatever the revisions.
///
/// An exchange puts a value in place of the one that stands, which it answers. One that was answered
/// before another was asked for comes before it; of one whose answer nobody knows, it is unknown
/// whether and when it took place.
///
/// *Cost*: exponential in how many overlap; what was tried is not tried again.
struct Linearization {
    /// One exchange, as its client saw it.
    struct Exchange {
        var asked: UInt64
        /// When it was answered, and with what.
        var answer: (time: UInt64, value: Int)?
        var value: Int
        /// The sequence that it was told, if any.
        var sequence: UInt64?
    }

    private struct Place: Hashable {
        var done: UInt64
        var value: Int
    }

    /// Most exchanges that are looked at: one bit each.
    static let countMax = 60
    /// Most states that are tried; beyond it nothing is said against the exchanges.
    static let placesMax = 50_000

    let exchanges: [Exchange]
    private var seen: Set<Place> = []

    init(_ exchanges: [Exchange]) {
        self.exchanges = Array(exchanges.sorted { $0.asked < $1.asked }.prefix(Self.countMax))
    }

    /// Whether there is an order that begins with `value`.
    mutating func exists(from value: Int) -> Bool { search(Place(done: 0, value: value)) }

    private mutating func search(_ place: Place) -> Bool {
        let open = exchanges.indices.filter { place.done & (1 << $0) == 0 }
        let ends = open.compactMap { exchanges[$0].answer?.time }
        guard let first = ends.min() else { return true }
        // because what nobody was told of can be placed in too many ways to try them all
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
