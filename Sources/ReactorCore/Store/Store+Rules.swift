// MARK: - Who looks on
extension Store {
    /// Lets `middleware` look at every action, until the token goes.
    public func addMiddleware(_ middleware: Middleware<R>) -> StoreToken {
        let id = node.orderedRules().middleware.add(middleware)
        node.weighRules()
        return StoreToken { [weak node] in
            node?.rules?.middleware.remove(id)
            node?.weighRules()
        }
    }

    /// Tells `tap` of the actions and mutations of the root reactor, until the token goes.
    public func addTap(_ tap: NodeTap<R>) -> StoreToken { core.tree.addTap(to: node, tap) }
}
