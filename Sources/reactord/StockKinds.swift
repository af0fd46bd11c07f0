import ReactorCore
import ReactorDaemon
import StockReactors

extension ReactorCatalog<any Reactor> {
    /// The ready-made kinds.
    static var stock: ReactorCatalog<any Reactor> {
        var catalog = ReactorCatalog<any Reactor>()
        catalog.register("counter") { _ in Counter() }
        return catalog
    }
}
