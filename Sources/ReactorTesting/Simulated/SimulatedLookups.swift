import ReactorCore

/// What the conditions of one run look up in the daemon's tree, and which of it they have found.
///
/// A misspelt path or another type finds nothing, and a condition over nothing holds: the run
/// fails instead.
///
/// *Place*: ``SimulatedTree`` records each look-up, ``SimulationRun`` takes the mistakes and, at
/// the end, what was never found. *Invariants*: a look-up that has found something is in `found`
/// with the keys of collections as `*`; each other one is in `missed`. *Owner*: the run.
final class SimulatedLookups {
    /// What a condition looks up: `state of Order`.
    struct Subject {
        let type: ObjectIdentifier
        let text: String
    }

    private struct Lookup: Hashable {
        let type: ObjectIdentifier
        let names: [WireKey]

        /// Whether the names of `other` are a path of this pattern, for the same type.
        func covers(_ other: Lookup) -> Bool {
            type == other.type && names.count == other.names.count
                && zip(names, other.names).allSatisfy { $0 == "*" || $0 == $1 }
        }
    }

    /// The condition that looks up.
    private var claim = ""
    /// Whether another type may be at a path before or after the upgrade.
    private let isUpgraded: Bool
    private var found: Set<Lookup> = []
    private var missed: [Lookup: String] = [:]
    private var mistake: String?
    /// Patterns of followed collections in which no child has been seen.
    private var emptyCollections: Set<String>

    /// Creates a list of no look-ups, for a run that follows `collections`.
    init(collections: [String], isUpgraded: Bool) {
        emptyCollections = Set(collections)
        self.isUpgraded = isUpgraded
    }

    /// Names the condition whose look-ups follow.
    func begin(_ claim: String) { self.claim = claim }

    /// Reads a path; a text that is none is a mistake.
    func path(_ text: String) -> SlicePath? {
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            note("\"\(claim)\" looks up \(text): \(error)")
            return nil
        }
    }

    /// Records a look-up at `names`, where nodes of the subject are, or `other`, or none.
    func record(
        _ subject: Subject, at names: [WireKey], in model: TreeModel, isFound: Bool,
        other: AnyNode? = nil
    ) {
        let lookup = Lookup(type: subject.type, names: model.pattern(of: names))
        if isFound {
            found.insert(lookup)
            return
        }
        if let other, !isUpgraded {
            note(
                "\"\(claim)\" looks up the \(subject.text) at \(SlicePath(names)), and "
                    + "\(other.describedName) is there: name the type that the path has")
        }
        if missed[lookup] == nil {
            missed[lookup] =
                "\"\(claim)\" looks up the \(subject.text) at \(SlicePath(lookup.names)), and found "
                + "none in the whole run: correct the path, or make the run create one"
        }
    }

    /// Removes and returns the first mistake since the last call.
    func takeMistake() -> String? {
        defer { mistake = nil }
        return mistake
    }

    /// Looks for children in the followed collections that were empty so far.
    func lookAtCollections(of model: TreeModel) {
        for text in emptyCollections {
            if let pattern = PathPattern(text), !model.paths(matching: pattern).isEmpty {
                emptyCollections.remove(text)
            }
        }
    }

    /// Describes each look-up that has never found anything, and each followed pattern that has
    /// never matched a child; sorted.
    var unmatched: [String] {
        let lookups = missed.filter { lookup, _ in
            !found.contains { $0.covers(lookup) }
        }
        let patterns = emptyCollections.map {
            "\($0) matched no child in the whole run: correct the pattern, or make the run create "
                + "a child"
        }
        return lookups.values.sorted() + patterns.sorted()
    }

    private func note(_ text: String) { mistake = mistake ?? text }
}

extension SimulatedLookups.Subject {
    /// The state of a reactor.
    static func state<R: Reactor>(of type: R.Type) -> Self {
        Self(type: ObjectIdentifier(type), text: "state of \(type)")
    }

    /// A derived value.
    static func value<Value>(of type: Value.Type) -> Self {
        Self(type: ObjectIdentifier(type), text: "value \(type)")
    }
}
