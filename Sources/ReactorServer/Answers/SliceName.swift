import ReactorCore
import ReactorWire

/// The content that a request names: all spellings of a path give one name.
struct SliceName: Hashable {
    var form: Form
    var path: SlicePath
    /// The class of callers for which hidden nodes are left out; nil for the whole content.
    var view: AccessClass?

    /// The part of the path's content that is encoded.
    enum Form: Hashable {
        /// The composed value.
        case value
        /// The value of a selection of a collection's children.
        case selection(Selection)
        /// The state that a replica starts from.
        case replica
        /// The node's types.
        case description
        /// The list of all nodes.
        case entries
        /// The server's counters.
        case counters
    }
}

/// The state of a node that an encoding is of.
struct SliceState: Equatable {
    /// The node's number.
    private var number: UInt32
    private var birthSequence: UInt64
    /// The tree's sequence at the time of the state.
    let sequence: UInt64

    init(of node: AnyNode, at sequence: UInt64) {
        number = node.number
        birthSequence = node.birthSequence
        self.sequence = sequence
    }

    /// Whether `node`, which is now at the path, is the same node and has not changed since.
    func isCurrent(of node: AnyNode) -> Bool {
        node.number == number && node.birthSequence == birthSequence && node.sequence <= sequence
    }
}
