import DequeModule
import ReactorBytes
import ReactorWire

/// What every turn of a server touches, in one place.
///
/// *Place*: ``Server/desk``. Nothing that is called while one of these is being changed comes back
/// to it: tables and queues are changed by calls that know nothing but them.
struct Desk: ~Copyable {
    var connections: [ConnectionID: Connection] = [:]
    var slices = SliceTable(cachedBytesMax: 0)
    /// Answers to questions, of the turn at hand.
    var replies = WireWriter(capacity: 4_096)
    /// Outcomes of actions, of the turn at hand.
    var outcomes = WireWriter(capacity: 4_096)
    /// What the journal is told of the turn at hand besides its deltas: ``TurnFact``s.
    var facts = WireWriter()
    /// Which action is being carried out.
    var watch = ActionWatch()
    /// When states are probed.
    var probes = ProbeBook()
    /// Whether an action of the turn at hand asks to survive a power cut.
    var isDurable = false
    /// Connections that the turn at hand has something for.
    var noted: [Connection] = []
    // because each turn needs such a list, and gives it back when its outputs have left
    /// A list to be used again.
    var spare: [Connection] = []
    /// Turns that wait for their batches, oldest first.
    var unreleased = Deque<Server.TurnRecord>()
    /// Connections with updates and nothing urgent, in the order in which they get them.
    var unflushed = Deque<Connection>()
    /// Questions that wait for their answers.
    var questions = QuestionTable()
    /// Large answers that are under way.
    var answers = AnswerTable()
    /// Orders for the shell.
    var outputs: [ServerOutput] = []

    /// Whether the turn's batch is to survive a power cut; the next turn's is not.
    mutating func takeDurable() -> Bool {
        defer { isDurable = false }
        return isDurable
    }

    /// Takes the list of noted connections, and leaves the spare one in its place.
    mutating func takeNoted() -> [Connection] {
        let taken = noted
        noted = spare
        spare = []
        return taken
    }
}

extension Server {
    var connections: [ConnectionID: Connection] {
        @inline(__always) _read { yield desk.value.connections }
        @inline(__always) _modify { yield &desk.value.connections }
    }

    var slices: SliceTable {
        @inline(__always) _read { yield desk.value.slices }
        @inline(__always) _modify { yield &desk.value.slices }
    }

    var replies: WireWriter {
        @inline(__always) _read { yield desk.value.replies }
        @inline(__always) _modify { yield &desk.value.replies }
    }

    var outcomes: WireWriter {
        @inline(__always) _read { yield desk.value.outcomes }
        @inline(__always) _modify { yield &desk.value.outcomes }
    }

    var noted: [Connection] {
        @inline(__always) _read { yield desk.value.noted }
        @inline(__always) _modify { yield &desk.value.noted }
    }

    var unreleased: Deque<TurnRecord> {
        @inline(__always) _read { yield desk.value.unreleased }
        @inline(__always) _modify { yield &desk.value.unreleased }
    }

    var unflushed: Deque<Connection> {
        @inline(__always) _read { yield desk.value.unflushed }
        @inline(__always) _modify { yield &desk.value.unflushed }
    }

    var questions: QuestionTable {
        @inline(__always) _read { yield desk.value.questions }
        @inline(__always) _modify { yield &desk.value.questions }
    }

    var answers: AnswerTable {
        @inline(__always) _read { yield desk.value.answers }
        @inline(__always) _modify { yield &desk.value.answers }
    }

    var watch: ActionWatch {
        @inline(__always) _read { yield desk.value.watch }
    }

    var outputs: [ServerOutput] {
        @inline(__always) _read { yield desk.value.outputs }
        @inline(__always) _modify { yield &desk.value.outputs }
    }
}
