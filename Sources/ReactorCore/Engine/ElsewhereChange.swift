/// A change of another node, in the transaction of a decision.
enum ElsewhereChange {
    case mutation(of: ChildSlot, any AnyMutation)
    case keyedMutation(of: ChildSlot, WireKey, any AnyMutation)
    case create(in: ChildSlot, WireKey)
    case ensure(in: ChildSlot, WireKey)
    case remove(in: ChildSlot, WireKey)
    case restart(in: ChildSlot, WireKey)
    case send(any AnySentAction)

    /// Whether the change may create a child.
    var isCreation: Bool {
        switch self {
        case .create, .ensure: true
        case .mutation, .keyedMutation, .remove, .restart, .send: false
        }
    }
}

/// A mutation without its reactor's type.
protocol AnyMutation {
    func encode(into writer: inout WireWriter)
    func apply(to node: AnyNode, _ turn: Turn)
}

struct ErasedMutation<Target: Reactor>: AnyMutation {
    let mutation: Target.Mutation

    init(_ mutation: Target.Mutation) { self.mutation = mutation }

    func encode(into writer: inout WireWriter) { mutation.encode(into: &writer) }

    func apply(to node: AnyNode, _ turn: Turn) {
        guard let node = node as? Node<Target> else {
            preconditionFailure("node \(node.path) is not a \(Target.self)")
        }
        node.commit(Mutations(mutation), turn)
    }
}

/// An action for a node below, without its reactor's type.
protocol AnySentAction {
    var encoded: WireEmbedded { get }

    /// The path of the target; where a node is missing, the path of the first missing one.
    func path(below node: AnyNode) -> SlicePath

    /// Has the target decide the action, in a transaction that can be rolled back.
    func carryOut(below node: AnyNode, _ turn: Turn) throws(Rejection)
}

struct SentAction<Target: Reactor>: AnySentAction {
    let action: Target.Action
    let target: Descendant<Target>

    var encoded: WireEmbedded { WireEmbedded(action) }

    func path(below node: AnyNode) -> SlicePath {
        do throws(MissingNode) {
            return try target.find(node).path
        } catch {
            return error.path
        }
    }

    func carryOut(below node: AnyNode, _ turn: Turn) throws(Rejection) {
        let target = try find(from: node)
        try turn.enterSend(to: target)
        defer { turn.leaveSend() }
        do throws(Rejection) {
            try Target._carryOut(action, target, turn)
            try turn.checkRefusal()
        } catch {
            throw error.naming(target.path)
        }
    }

    private func find(from node: AnyNode) throws(Rejection) -> Node<Target> {
        do throws(MissingNode) {
            let found = try target.find(node)
            // A reaction may have removed the sender with all nodes below it.
            if found.isGone { throw MissingNode(found.path) }
            return found
        } catch {
            throw error.rejection
        }
    }
}

extension Rejection {
    static func noChild(_ key: WireKey, in collection: SlicePath) -> Rejection {
        Rejection(
            .notFound,
            "\(collection): there is no child \"\(key)\": its parent has to create it first")
    }

    /// The same rejection, with a message that begins with `path` or a path below it.
    fileprivate func naming(_ path: SlicePath) -> Rejection {
        message.hasPrefix("\(path)") ? self : Rejection(code, "\(path): \(message)")
    }
}

/// Checks and executes the changes that a decision of a node requests in other nodes.
struct ElsewhereWork {
    let node: AnyNode
    let turn: Turn

    init(of node: AnyNode, _ turn: Turn) {
        self.node = node
        self.turn = turn
    }

    private func hasChild(_ key: WireKey, in slot: ChildSlot) -> Bool {
        node.children[slot.name]?.children[key] != nil
    }

    private func noChild(_ key: WireKey, in slot: ChildSlot) -> Rejection {
        .noChild(key, in: node.path.appending(slot.name))
    }

    private func exists(_ key: WireKey, in slot: ChildSlot) -> Rejection {
        Rejection(
            .conflict,
            "\(node.path.appending(slot.name)): there is a child \"\(key)\" already: remove it first, "
                + "or use `ensuring` where it may stay")
    }

    // MARK: Checks

    /// Refuses changes that exceed a limit.
    func checkLimits(_ changes: [ElsewhereChange]) throws(Rejection) {
        var createdCount = 0
        for change in changes {
            switch change {
            case .mutation(_, let mutation), .keyedMutation(_, _, let mutation):
                try turn.check(mutation, of: node)
            case .create(let slot, let key), .ensure(let slot, let key):
                guard let collection = node.children[slot.name], collection.children[key] == nil
                else { continue }
                try collection.checkCreation(of: key, turn.tree.nodes.count + createdCount)
                createdCount += 1
            case .remove, .restart, .send: break
            }
        }
    }

    /// Refuses changes of missing children, and the creation of existing children. It stops at a
    /// sent action, which may change what exists.
    func checkKeys(_ changes: ArraySlice<ElsewhereChange>) throws(Rejection) {
        guard !changes.isEmpty else { return }
        // The changes earlier in the list count, not only the tree.
        var decided: [WireKey: [WireKey: Bool]] = [:]
        for change in changes {
            switch change {
            case .mutation: break
            case .send: return
            case .keyedMutation(let slot, let key, _), .restart(let slot, let key):
                guard decided[slot.name]?[key] ?? hasChild(key, in: slot) else {
                    throw noChild(key, in: slot)
                }
            case .create(let slot, let key):
                guard !(decided[slot.name]?[key] ?? hasChild(key, in: slot)) else {
                    throw exists(key, in: slot)
                }
                try decide(key, in: slot, &decided)
            case .ensure(let slot, let key):
                guard !(decided[slot.name]?[key] ?? hasChild(key, in: slot)) else { continue }
                try decide(key, in: slot, &decided)
            case .remove(let slot, let key): decided[slot.name, default: [:]][key] = false
            }
        }
    }

    private func decide(
        _ key: WireKey, in slot: ChildSlot, _ decided: inout [WireKey: [WireKey: Bool]]
    ) throws(Rejection) {
        try node.children[slot.name]?.checkTwin(of: key, after: decided[slot.name] ?? [:])
        decided[slot.name, default: [:]][key] = true
    }

    // MARK: Execution

    /// Executes a change of a decision that cannot be refused. What cannot be executed is left out,
    /// and the reactor may decide what follows.
    func carryOut(_ change: ElsewhereChange) {
        do throws(Rejection) {
            if case .send(let action) = change {
                try turn.nested { () throws(Rejection) in
                    try action.carryOut(below: node, turn)
                }
            } else {
                try execute(change)
            }
        } catch {
            leaveOut(change, error)
        }
    }

    /// Executes the changes of a decision that sends actions, in a transaction that can be rolled
    /// back; a change that cannot be executed refuses the transaction.
    func carryOutAll(_ changes: [ElsewhereChange]) throws(Rejection) {
        for change in changes { try execute(change) }
    }

    // What reactions to earlier changes of the list have changed is not known before.
    private func execute(_ change: ElsewhereChange) throws(Rejection) {
        switch change {
        case .mutation(let slot, let mutation):
            guard let child = node.children[slot.name] else { return }
            mutation.apply(to: child, turn)
        case .keyedMutation(let slot, let key, let mutation):
            guard let child = node.children[slot.name]?.children[key] else {
                throw noChild(key, in: slot)
            }
            mutation.apply(to: child, turn)
        case .create(let slot, let key):
            guard let collection = node.children[slot.name] else { return }
            guard collection.children[key] == nil else { throw exists(key, in: slot) }
            try turn.create(key, in: collection)
        case .ensure(let slot, let key):
            guard let collection = node.children[slot.name] else { return }
            try turn.create(key, in: collection)
        case .remove(let slot, let key):
            guard let collection = node.children[slot.name] else { return }
            turn.remove(key, from: collection)
        case .restart(let slot, let key):
            guard let child = node.children[slot.name]?.children[key] else {
                throw noChild(key, in: slot)
            }
            child.restart(turn)
        case .send(let action): try action.carryOut(below: node, turn)
        }
    }

    private func leaveOut(_ change: ElsewhereChange, _ rejection: Rejection) {
        switch change {
        case .mutation, .remove: break
        case .keyedMutation(let slot, let key, _):
            leaveOut(key, in: slot, rejection, "its mutation is dropped")
        case .create(let slot, let key), .ensure(let slot, let key):
            leaveOut(key, in: slot, rejection, "none is created")
        case .restart(let slot, let key):
            leaveOut(key, in: slot, rejection, "it is not restarted")
        case .send(let action):
            leaveOut(
                FollowerRefusal(
                    path: action.path(below: node), rejection: rejection, action: action.encoded),
                "\(node.path): an action that it sent is left out: \(rejection)")
        }
    }

    private func leaveOut(
        _ key: WireKey, in slot: ChildSlot, _ rejection: Rejection, _ consequence: String
    ) {
        let path = node.path.appending(slot.name).appending(key)
        leaveOut(
            FollowerRefusal(path: path, rejection: rejection, action: nil),
            "\(rejection): \(consequence)")
    }

    private func leaveOut(_ refusal: FollowerRefusal, _ report: String) {
        turn.transaction.wishes.request(
            .refusal(refusal, asker: node.number, report: report))
    }
}
