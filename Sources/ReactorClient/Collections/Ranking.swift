import ReactorCore

/// The first children of a collection in an order, kept up to date change by change.
///
/// *Shape*: more children than are shown are kept in order, so that a child that leaves the shown
/// ones has a successor. Every accepted child that is not kept follows the last kept one.
struct Ranking<Key: ChildKey, State: Sendable>: Sendable {
    typealias Element = KeyedState<Key, State>

    /// Maximum children that are shown.
    private let countMax: Int
    /// Maximum children that are kept in order.
    private let keptMax: Int
    private let isIncluded: @Sendable (Element) -> Bool
    private let precedes: (@Sendable (Element, Element) -> Bool)?
    private var ranked: [Element] = []
    /// The elements of ``ranked``, by key.
    private var kept: [WireKey: Element] = [:]
    /// True if every accepted child is kept.
    private var isComplete = true
    /// Number of changes of the elements.
    private(set) var count: UInt64 = 0

    init(
        countMax: Int, isIncluded: @escaping @Sendable (Element) -> Bool,
        precedes: (@Sendable (Element, Element) -> Bool)?
    ) {
        self.countMax = countMax
        keptMax = countMax > .max / 4 ? .max : countMax * 2 + 16
        self.isIncluded = isIncluded
        self.precedes = precedes
    }

    /// The shown children.
    var elements: [Element] {
        ranked.count <= countMax ? ranked : Array(ranked.prefix(countMax))
    }

    mutating func countChange() { count += 1 }

    /// Ranks all children.
    mutating func rank(_ states: CollectionStates<Key, State>) {
        var all = states.filter(isIncluded)
        if precedes != nil { all.sort { isBefore($0, $1) } }
        isComplete = all.count <= keptMax
        ranked = isComplete ? all : Array(all.prefix(keptMax))
        kept = Dictionary(uniqueKeysWithValues: ranked.map { ($0.name, $0) })
    }

    /// Takes the present states of the children called `names`. Returns whether a shown child
    /// changed, came or left.
    mutating func update(
        _ names: Set<WireKey>, from states: CollectionStates<Key, State>
    ) -> Bool {
        var isNews = false
        for name in names {
            if let old = kept.removeValue(forKey: name), let index = index(of: old) {
                ranked.remove(at: index)
                if index < countMax { isNews = true }
            }
            guard let child = states.child(named: name), isIncluded(child) else { continue }
            let index = ranked.firstSorted { isBefore(child, $0) }
            // A child that is not kept may precede this one.
            if index == ranked.count, !isComplete { continue }
            ranked.insert(child, at: index)
            kept[name] = child
            if index < countMax { isNews = true }
            if ranked.count > keptMax {
                kept[ranked.removeLast().name] = nil
                isComplete = false
            }
        }
        if ranked.count < countMax, !isComplete { rank(states) }
        return isNews
    }

    private func isBefore(_ left: Element, _ right: Element) -> Bool {
        guard let precedes else { return left.name < right.name }
        if precedes(left, right) { return true }
        return !precedes(right, left) && left.name < right.name
    }

    private func index(of child: Element) -> Int? {
        let index = ranked.firstSorted { isBefore(child, $0) } - 1
        if index >= 0, ranked[index].name == child.name { return index }
        // An order that contradicts itself leads to another place.
        return ranked.firstIndex { $0.name == child.name }
    }
}
