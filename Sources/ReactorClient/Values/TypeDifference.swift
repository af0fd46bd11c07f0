import ReactorCore

/// How the daemon's type of a mirrored state differs from the client's type of the same name: one
/// of the two programs is of an earlier version.
///
/// All lists are empty if only the mutations or the reactor's `version` differ.
///
/// *Shape*: a field of a nested value is named with the names around it, joined by dots, such as
/// `address.street`; `*` stands for each element of an array or a map.
public struct TypeDifference: Equatable, Sendable {
    /// Fields of the daemon's state that the client's type lacks. The mirror skips their values.
    public var skipped: [String] = []
    /// Fields of the client's state that the daemon's type lacks. They are `nil`, or with
    /// ``MissingFields/defaults`` their defaults: not values of the daemon's.
    public var missing: [String] = []
    /// Other differences, each as the field and what differs. The mirror fails only if it receives
    /// a value that its type cannot read.
    public var changed: [String] = []
    /// Places of the missing fields that must be `nil`.
    var nilPaths: [[String]] = []
    /// Why the daemon's values cannot be shown as the client's type: the first missing field without
    /// an acceptable value, or the first type of another version; `nil` if they can.
    private(set) var refusal: WireError?

    init() {}

    /// Compares the schema of the daemon's state with that of the client's.
    init(from daemon: WireSchema, to own: WireSchema, _ accepted: MissingFields) {
        for change in daemon.changes(to: own) {
            let place = change.path.joined(separator: ".")
            switch change.kind {
            case .skipped: skipped.append(place)
            case .missing(let takesNil, let hasDefault):
                missing.append(place)
                if hasDefault, accepted == .defaults { continue }
                if takesNil {
                    nilPaths.append(change.path)
                } else {
                    refuse(.missingField(change.path.last ?? ""), at: change.path.dropLast())
                }
            // A mirror converts nothing, and the value may have another unit.
            case .version(let stored, let today):
                let text =
                    "the daemon has version \(stored) of this type, and this program \(today)"
                changed.append("\(place.isEmpty ? "the state" : place): \(text)")
                refuse(.refused("\(text): build both from one version"), at: change.path[...])
            case .other: changed.append("\(place.isEmpty ? "the state" : place) \(change.change)")
            }
        }
    }

    private mutating func refuse(_ condition: WireError.Condition, at path: ArraySlice<String>) {
        refusal = refusal ?? WireError(condition, at: 0, path: Array(path))
    }
}

extension TypeDifference: CustomStringConvertible {
    /// One line: what is skipped, what is missing, and what else differs. Safe to print.
    public var description: String {
        let lists = [("skipped", skipped), ("missing", missing), ("changed", changed)]
        let texts = lists.filter { !$0.1.isEmpty }.map { name, list in
            "\(name): \(list.joined(separator: ", "))"
        }
        return texts.isEmpty
            ? "the mutations or the version differ"
            : texts.joined(separator: "; ").terminalSafe
    }
}
