import ReactorCore
import ReactorWire

/// An open node to which a client may send only some actions, or none.
///
/// *Place*: a ``Connection`` keeps it apart from its other open nodes; the ``Dispatcher`` asks it
/// about each action.
struct GuardedNode {
    let node: AnyNode
    /// The rights at the node's path.
    let rights: AccessRights

    /// The refusal of the action at `offset`; nil if the client may send it.
    ///
    /// An action that is no valid value is refused like one that the client may not send.
    func refusal(of body: Span<UInt8>, at offset: Int) -> Rejection? {
        let name = Self.caseName(of: body, at: offset)
        if let name, rights.allows(action: name) { return nil }
        let action = name.map { "the action \($0.text.quoted(bytesMax: 64))" } ?? "actions"
        return Rejection(
            .forbidden,
            "\(node.path): the access rules do not grant you \(action), ask the daemon's operator")
    }

    /// The name of an action's case: the action is a map with one key, or a text.
    private static func caseName(of body: Span<UInt8>, at offset: Int) -> WireKey? {
        var cursor = WireCursor(offset: offset)
        do throws(WireError) {
            switch try WireValue.decode(body, &cursor) {
            case .text(let name): return WireKey(name)
            case .map(let map): return map.count == 1 ? map.first?.key : nil
            default: return nil
            }
        } catch {
            return nil
        }
    }
}

extension Rejection {
    /// The same refusal, of an action.
    init(_ refusal: Refusal) { self.init(refusal.code, refusal.message) }
}
