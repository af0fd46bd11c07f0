// MARK: - Beginning
extension Tree {
    /// Lets every reactor begin, parents before children: each decides what it starts with, in a
    /// transaction of its own.
    ///
    /// Called once by the owner of an authoritative tree; replicas and previews begin nothing.
    public func open() {
        precondition(!isOpen, "a tree is opened once")
        isOpen = true
        var all: [AnyNode] = []
        forEachNode { all.append($0) }
        for node in all where !node.isGone {
            turn.caller = .daemon
            turn.origin = .daemon
            if node.begin(turn) { finishEmission() }
        }
    }
}

extension Node {
    /// Lets the reactor decide what it begins with; whether it asked for anything.
    func beginReactor(_ turn: Turn) -> Bool {
        guard turn.tree.isOpen else { return false }
        openSources(turn)
        openStreams(turn)
        beginSagas(turn)
        let mutations = reactor.start(state: state)
        guard mutations.count > 0 || mutations.extras != nil else { return false }
        commit(mutations, turn)
        return true
    }

    private func openSources(_ turn: Turn) {
        guard let rules else { return }
        for source in rules.actions?.sources ?? [] {
            openSource(source, turn) { $0.arrive(action: $1, from: source.stage, $2) }
        }
        for source in rules.mutations?.sources ?? [] {
            openSource(source, turn) { $0.arrive(mutation: $1, from: source.stage, $2) }
        }
        for source in rules.states?.sources ?? [] {
            openSource(source, turn) { $0.arrive(state: $1, from: source.stage, $2) }
        }
        if rules.states != nil { present(state, turn) }
    }
}
