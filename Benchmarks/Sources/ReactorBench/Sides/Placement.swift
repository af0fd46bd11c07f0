/// The cores on which the servers and the load run.
enum Placement: String, CaseIterable {
    case oneCore = "one core"
    case twoCores = "two cores"
    case unpinned

    /// Core of the servers; `nil` for any.
    var serverCore: Int? { self == .unpinned ? nil : 0 }

    /// Core of the load; `nil` for any.
    var loadCore: Int? {
        switch self {
        case .oneCore: 0
        case .twoCores: 1
        case .unpinned: nil
        }
    }
}
