public import ReactorCore
public import ReactorDaemon
import StockReactors

extension ReactorCatalog<any Reactor> {
    /// The ready-made kinds with their options; register your own kinds in addition.
    public static var stock: ReactorCatalog<any Reactor> {
        var catalog = ReactorCatalog<any Reactor>()
        for kind in StockKind.allCases {
            catalog.register(kind.rawValue) { (options) throws(ConfigProblem) in
                guard let capacity = kind.capacity else { return kind.make() }
                return kind.make(
                    capacity: try options.integer(
                        "capacity", default: capacity.fallback, in: capacity.range))
            }
        }
        return catalog
    }
}
