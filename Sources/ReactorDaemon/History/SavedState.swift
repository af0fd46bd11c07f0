import ReactorCore
import ReactorWire

/// One line of a file of states: `{"path":"/visits","reactor":"Counter","state":{"count":5}}`.
struct SavedState {
    let path: SlicePath
    /// The state, encoded.
    let bytes: [UInt8]

    /// Parses a line and checks it against the tree that the state goes into. `reactor` is
    /// optional.
    ///
    /// *Throws*: a text for the operator that names the field.
    init(json: String, for tree: Tree) throws(SavedStateError) {
        let value: WireValue
        do throws(JSONError) {
            value = try WireValue(json: json)
        } catch {
            throw SavedStateError(text: "not JSON: \(error)")
        }
        guard case .map(let fields) = value, case .text(let text)? = fields["path"],
            let state = fields["state"]
        else { throw SavedStateError(text: "expected {\"path\":\"/…\",\"state\":…}") }
        do throws(SlicePathError) {
            path = try SlicePath(text)
        } catch {
            throw SavedStateError(text: "\(error)")
        }
        bytes = state.wireBytes()
        guard let node = tree.node(at: path) else { return }
        if case .text(let reactor)? = fields["reactor"], reactor != node.reactorName {
            throw SavedStateError(
                text: "\(text): expected a state of \(node.reactorName), got one of \(reactor)")
        }
        if let issue = node.stateSchema.check(state).first {
            throw SavedStateError(text: "not a state of \(text): \(issue)")
        }
    }
}

/// The problem with a line of a file of states.
struct SavedStateError: Error, CustomStringConvertible {
    let text: String

    var description: String { text }
}
