import ReactorCore
import ReactorWire

/// What a question is about: all spellings of one path name one slice.
struct SliceName: Hashable {
    var form: Form
    var path: SlicePath

    /// What of the path is encoded.
    enum Form: Hashable {
        /// The composed value.
        case value
        /// What a replica starts from.
        case replica
        /// The node's types.
        case description
        /// The list of all nodes.
        case entries
        /// The server's counters.
        case counters
    }
}

/// Which state of a node an encoding is of.
struct SliceState: Equatable {
    /// The node's number.
    private var number: UInt32
    private var birthSequence: UInt64
    /// The tree's sequence when the state was looked at.
    let sequence: UInt64

    init(of node: AnyNode, at sequence: UInt64) {
        number = node.number
        birthSequence = node.birthSequence
        self.sequence = sequence
    }

    /// Whether `node`, which stands at the path now, is the same and has not changed since.
    func isCurrent(of node: AnyNode) -> Bool {
        node.number == number && node.birthSequence == birthSequence && node.sequence <= sequence
    }
}
