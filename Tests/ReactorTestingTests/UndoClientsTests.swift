import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// A text that its clients write and undo: the last change, or only their own.
@Reactor
struct SharedNote {
    enum Action: Equatable {
        case write(String)
        case undo
        case undoOwn
        case redo
        case redoOwn
    }

    enum Mutation: Equatable {
        case written(text: String, by: Origin)
        case undone
        case redone
    }

    struct State: Equatable {
        var text: Undoable<String> = Undoable("", limit: 4)
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<SharedNote>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .write(let text): return Mutations(.written(text: text, by: context.cause))
        case .undo: try state.text.checkUndo()
        case .undoOwn: try state.text.checkUndo(by: context.caller.client)
        case .redo: try state.text.checkRedo()
        case .redoOwn: try state.text.checkRedo(by: context.caller.client)
        }
        let isUndo = action == .undo || action == .undoOwn
        return Mutations(isUndo ? .undone : .redone)
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .written(let text, let origin): state.text.set(text, by: origin)
        case .undone: state.text.undo()
        case .redone: state.text.redo()
        }
    }
}

/// Two clients of one ``Undoable``, in a daemon in memory.
@Suite("Undo by two clients")
struct UndoClientsTests {
    private let daemon = TestDaemon(SharedNote())

    private func code(_ outcome: ActionOutcome) -> String? {
        guard case .rejected(let rejection) = outcome else { return nil }
        return rejection.code
    }

    @Test("each client undoes the other's change, and both mirrors show the same text")
    func eachOthers() throws {
        let (ann, bob) = (daemon.connect(), daemon.connect())
        let annSees = try ann.mirror(SharedNote.self)
        let bobSees = try bob.mirror(SharedNote.self)
        _ = try ann.dispatch(SharedNote.Action.write("a"))
        _ = try bob.dispatch(SharedNote.Action.write("ab"))
        let clients =
            annSees.state.text.past.map(\.origin.client) + [annSees.state.text.origin.client]
        #expect(Set(clients).count == 3 && clients[0] == Origin.daemon.client)
        #expect(try ann.dispatch(SharedNote.Action.undo).revision != nil)
        #expect(annSees.state.text.value == "a" && bobSees.state == annSees.state)
        #expect(try bob.dispatch(SharedNote.Action.undo).revision != nil)
        #expect(annSees.state.text.value == "" && bobSees.state == annSees.state)
        #expect(code(try ann.dispatch(SharedNote.Action.undo)) == "nothing_to_undo")
        // The one redoes what the other has undone.
        #expect(try ann.dispatch(SharedNote.Action.redo).revision != nil)
        #expect(try ann.dispatch(SharedNote.Action.redo).revision != nil)
        #expect(bobSees.state.text.value == "ab" && bobSees.state == annSees.state)
        #expect(code(try bob.dispatch(SharedNote.Action.redo)) == "nothing_to_redo")
    }

    @Test("a client undoes its own change only while it is the last, and redoes only its own")
    func own() throws {
        let (ann, bob) = (daemon.connect(), daemon.connect())
        let shown = try ann.mirror(SharedNote.self)
        _ = try ann.dispatch(SharedNote.Action.write("a"))
        _ = try bob.dispatch(SharedNote.Action.write("ab"))
        #expect(code(try ann.dispatch(SharedNote.Action.undoOwn)) == "changed_since")
        #expect(shown.state.text.value == "ab")
        #expect(try bob.dispatch(SharedNote.Action.undoOwn).revision != nil)
        #expect(code(try bob.dispatch(SharedNote.Action.undoOwn)) == "changed_since")
        #expect(code(try ann.dispatch(SharedNote.Action.redoOwn)) == "not_own")
        #expect(try ann.dispatch(SharedNote.Action.undoOwn).revision != nil)
        #expect(shown.state.text.value == "")
        #expect(code(try bob.dispatch(SharedNote.Action.redoOwn)) == "not_own")
        #expect(try ann.dispatch(SharedNote.Action.redoOwn).revision != nil)
        #expect(try bob.dispatch(SharedNote.Action.redoOwn).revision != nil)
        #expect(shown.state.text.value == "ab")
    }

    @Test("after a restart with the history, each client still undoes its own change and no other")
    func restart() throws {
        let (ann, bob) = (daemon.connect(), daemon.connect())
        let shown = try bob.mirror(SharedNote.self)
        _ = try ann.dispatch(SharedNote.Action.write("a"))
        _ = try bob.dispatch(SharedNote.Action.write("ab"))
        let before = shown.state.text
        try daemon.restart()
        daemon.advance(by: .seconds(10))
        #expect(shown.state.text == before && shown.phase == .live)
        #expect(code(try ann.dispatch(SharedNote.Action.undoOwn)) == "changed_since")
        #expect(try bob.dispatch(SharedNote.Action.undoOwn).revision != nil)
        try daemon.restart()
        daemon.advance(by: .seconds(10))
        #expect(try ann.dispatch(SharedNote.Action.undoOwn).revision != nil)
        #expect(shown.state.text.value == "" && shown.state.text.future.count == 2)
        // A client that comes later is another one, also if it begins with the first action.
        let eve = daemon.connect()
        #expect(code(try eve.dispatch(SharedNote.Action.redoOwn)) == "not_own")
        #expect(try eve.dispatch(SharedNote.Action.redo).revision != nil)
        #expect(code(try eve.dispatch(SharedNote.Action.undoOwn)) == "changed_since")
        #expect(shown.state.text.value == "a")
    }

    @Test("the changes beyond the limit cannot be undone, by any client")
    func limit() throws {
        let clients = [daemon.connect(), daemon.connect()]
        for number in 1...10 {
            _ = try clients[number % 2].dispatch(SharedNote.Action.write("\(number)"))
        }
        for number in 1...4 {
            let outcome = try clients[number % 2].dispatch(SharedNote.Action.undo)
            #expect(outcome.revision != nil)
        }
        #expect(code(try clients[0].dispatch(SharedNote.Action.undo)) == "nothing_to_undo")
        #expect(daemon.state(of: SharedNote.self)?.text.value == "6")
    }
}
