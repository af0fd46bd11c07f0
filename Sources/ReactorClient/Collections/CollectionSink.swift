import ReactorCore
import ReactorThreads

/// The part of a mirrored collection on the client's thread: reads values and patches, and decodes
/// the children that they change.
final class CollectionSink<Key: ChildKey, R: Reactor>: SliceSink {
    /// The children that the daemon shows, if it is a selection of them.
    let selection: Selection?
    /// The collection, while a reference to it exists.
    private(set) weak var collection: MirrorCollection<Key, R>?
    private let path: String
    private let shown: Guarded<ShownChildren<Key, R.State>>
    private let phase: Guarded<ClientPhase>
    private let notices: CollectionNotices
    private let shared: SharedState
    private let composed = ComposedState<R>()
    private var types: TypeComparison
    /// The encoded states of the shown children, without the values of nodes below.
    private var values: [WireKey: [UInt8]] = [:]
    /// The staged differences from ``values``; `nil` if no update is staged.
    private var staged: [WireKey: Edit]?
    /// The order of the children, if the selection has one.
    private var order: OrderedNames?
    /// Changes that took effect and were not announced yet.
    private var changes = Changes()
    private var progress = Progress()
    private var starting: Starting?

    private enum Edit {
        case removed
        case set(Key, encoded: [UInt8], R.State)
    }

    private struct Progress {
        /// True once a whole value has taken effect.
        var hasState = false
        var isLive = false
        /// Why the last update could not be read, if its bytes are not at fault.
        var fault: ClientError?
    }

    private struct Changes {
        var names: Set<WireKey> = []
        var areKeysChanged = false
        var isPhaseChanged = false
    }

    /// Calls that wait for the first value; they hold the only reference to the collection until
    /// then.
    private struct Starting {
        let collection: MirrorCollection<Key, R>
        var completions: [Completion]
    }

    typealias Completion = (Result<MirrorCollection<Key, R>, ClientError>) -> Void

    init(
        _ collection: MirrorCollection<Key, R>, _ missing: MissingFields,
        _ selection: Selection? = nil, then ready: @escaping Completion
    ) {
        self.collection = collection
        types = TypeComparison(ofChildren: R.self, missing)
        self.selection = selection
        order = selection.flatMap { $0.order.isEmpty ? nil : OrderedNames() }
        path = collection.path
        shown = collection.shown
        phase = collection.phaseNow
        notices = collection.notices
        shared = collection.shared
        starting = Starting(collection: collection, completions: [ready])
    }

    var fingerprint: UInt64 { 0 }

    var isReleased: Bool { collection == nil }

    var takesPatches: Bool { true }

    /// Calls `completion` as soon as the collection shows the daemon's children; returns false if
    /// the last reference to it is gone.
    func whenReady(_ completion: @escaping Completion) -> Bool {
        guard let collection else { return false }
        if starting == nil {
            completion(.success(collection))
        } else {
            starting?.completions.append(completion)
        }
        return true
    }

    // MARK: What stands at the path

    /// What becomes of fields that the daemon's type lacks.
    var missing: MissingFields { types.missing }

    var needsTypes: Bool { !types.areKnown }

    func learn(_ types: NodeTypes, at path: String) -> TypeVerdict {
        let wasDiffering = self.types.difference != nil
        return switch self.types.learn(types, at: path) {
        // A collection follows the values of its children, whatever their types.
        case .replica: .value(isChanged: wasDiffering)
        case let verdict: verdict
        }
    }

    func forgetTypes() { types.forget() }

    func granted(_ slice: UInt32, epoch: UInt64) {}

    var isMismatched: Bool { progress.fault != nil }

    func explain(_ error: WireError, at path: String) -> ClientError {
        progress.fault ?? .incompatible(path: path, error)
    }

    // MARK: Updates

    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        progress.fault = nil
        if isAbsent {
            progress.fault = .gone(path: path)
            throw WireError(.mismatch(expected: "a collection", got: "nothing"), at: 0)
        }
        if order == nil { return try stage(children: value) }
        let parts = try ComposedState<R>.children(of: value)
        guard let names = parts.first(where: { $0.key == Selection.orderKey })?.value,
            let children = parts.first(where: { $0.key == Selection.childrenKey })?.value
        else {
            throw WireError(.mismatch(expected: "an order and children", got: "others"), at: 0)
        }
        try stage(children: children.span)
        order?.plan(whole: try [WireKey](wireBytes: names))
        try checkOrder()
    }

    private func stage(children: Span<UInt8>) throws(WireError) {
        var edits: [WireKey: Edit] = [:]
        var names: Set<WireKey> = []
        for (name, value) in try ComposedState<R>.children(of: children) {
            names.insert(name)
            // After a reconnection, nearly all children are as before.
            edits[name] = try edit(name, composed: value, over: values[name])
        }
        for name in values.keys where !names.contains(name) { edits[name] = .removed }
        staged = edits
    }

    /// Checks that the staged order has every staged child once, and no other.
    private func checkOrder() throws(WireError) {
        guard let order else { return }
        let changed = Set(order.changedNames).union((staged ?? [:]).keys)
        let wrong = changed.first { name in
            order.count(of: name, isKnown: values[name] != nil) != (encoded(name) == nil ? 0 : 1)
        }
        if let wrong {
            throw WireError(.mismatch(expected: "an order of the children", got: wrong.text), at: 0)
        }
    }

    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {
        progress.fault = nil
        // The daemon sends a whole value to a sink that joins a followed slice, after the patches
        // that it has already sent.
        guard progress.hasState || staged != nil else { return }
        if staged == nil { staged = [:] }
        // A patch may change several fields of a child, which is decoded once.
        var drafts: [WireKey: WireValue] = [:]
        var cursor = WireCursor()
        while cursor.offset < patch.count {
            let start = cursor.offset
            let (whole, value) = try WireValue.change(patch, &cursor)
            if order != nil, whole.first == Selection.orderKey {
                try stage(step: whole, value, at: start)
                continue
            }
            let place = order == nil ? whole[...] : whole.dropFirst()
            guard let name = place.first else {
                throw WireError(.mismatch(expected: "a key", got: "an empty path"), at: start)
            }
            if place.count == 1 {
                drafts[name] = nil
                try stage(name, composed: value?.wireBytes())
            } else if !composed.isChild(place[place.startIndex + 1]) {
                // A second reference to the draft would make the change copy it.
                let known = drafts.removeValue(forKey: name)
                var draft = if let known { known } else { try self.draft(of: name, at: start) }
                guard draft.set(value, at: place.dropFirst()) != nil else {
                    throw WireError(
                        .mismatch(expected: "a map at \(SlicePath(whole))", got: "none"),
                        at: start)
                }
                drafts[name] = draft
            }
        }
        for (name, draft) in drafts {
            try put(edit(name, encoded: draft.wireBytes(), over: encoded(name)), name)
        }
        try checkOrder()
    }

    /// Stages an insertion in the order or, without a value, a removal.
    private func stage(
        step place: [WireKey], _ value: WireValue?, at offset: Int
    ) throws(WireError) {
        let name = value?.textValue.map { WireKey($0) }
        guard place.count == 2, (name == nil) == (value == nil),
            order?.plan(step: place[1], inserting: name) ?? false
        else {
            throw WireError(
                .mismatch(expected: "a position in the order", got: "\(SlicePath(place))"),
                at: offset)
        }
    }

    /// The encoded state of a child, with the staged updates.
    private func encoded(_ name: WireKey) -> [UInt8]? {
        switch staged?[name] {
        case .set(_, let encoded, _): encoded
        case .removed: nil
        case nil: values[name]
        }
    }

    private func draft(of name: WireKey, at offset: Int) throws(WireError) -> WireValue {
        guard let encoded = encoded(name) else {
            throw WireError(.mismatch(expected: "a child at \(name)", got: "none"), at: offset)
        }
        return try WireValue(wireBytes: encoded)
    }

    /// Stages the whole value of a child, or its removal.
    private func stage(_ name: WireKey, composed value: [UInt8]?) throws(WireError) {
        if let value {
            try put(edit(name, composed: value, over: encoded(name)), name)
        } else {
            staged?[name] = values[name] == nil ? nil : .removed
        }
    }

    private func put(_ edit: Edit?, _ name: WireKey) {
        if let edit { staged?[name] = edit }
    }

    private func edit(
        _ name: WireKey, composed value: [UInt8], over old: [UInt8]?
    ) throws(WireError) -> Edit? {
        try edit(name, encoded: composed.own(value), over: old)
    }

    /// The change of a child to an encoded state; `nil` if it has that state.
    private func edit(
        _ name: WireKey, encoded: [UInt8], over old: [UInt8]?
    ) throws(WireError) -> Edit? {
        if let old, try isSame(old, encoded) { return nil }
        do throws(WireError) {
            guard let key = Key(wireKeyText: name.text) else {
                throw WireError(
                    .mismatch(expected: Key.wireKeyKind, got: name.text.quoted()), at: 0)
            }
            let state = try R.State(wireBytes: encoded)
            try types.check(state)
            return .set(key, encoded: encoded, state)
        } catch {
            let place = MirrorCollection<Key, R>.childPath(of: name, in: path)
            progress.fault = .incompatible(path: place, error)
            throw error
        }
    }

    // The daemon writes a record's fields in the order of their declaration, a value in that of
    // its keys.
    private func isSame(_ left: [UInt8], _ right: [UInt8]) throws(WireError) -> Bool {
        if left == right { return true }
        if left.count != right.count { return false }
        return try WireValue(wireBytes: left) == WireValue(wireBytes: right)
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {}

    func discard() {
        staged = nil
        order?.discard()
    }

    // MARK: Taking effect

    func commit(epoch: UInt64) {
        guard let staged else { return }
        self.staged = nil
        shown.whileLocked { shown in
            if progress.hasState { apply(staged, to: &shown) } else { fill(&shown, staged) }
            guard let names = order?.commit() else { return }
            shown.states.setOrder(names)
            changes.areKeysChanged = true
        }
        progress.hasState = true
        changes.names.formUnion(staged.keys)
        guard !progress.isLive else { return }
        progress.isLive = true
        phase.whileLocked { $0 = types.livePhase }
        changes.isPhaseChanged = true
    }

    private func fill(_ shown: inout ShownChildren<Key, R.State>, _ staged: [WireKey: Edit]) {
        var children: [KeyedState<Key, R.State>] = []
        children.reserveCapacity(staged.count)
        for case (let name, .set(let key, let encoded, let state)) in staged {
            values[name] = encoded
            children.append(KeyedState(name, key, state))
            shown.record(name, wasPresent: false, isPresent: true)
        }
        shown.states = CollectionStates(children)
        changes.areKeysChanged = true
    }

    private func apply(_ staged: [WireKey: Edit], to shown: inout ShownChildren<Key, R.State>) {
        for (name, edit) in staged {
            let old: [UInt8]?
            switch edit {
            case .removed:
                old = values.removeValue(forKey: name)
                shown.states.remove(name)
            case .set(let key, let encoded, let state):
                old = values.updateValue(encoded, forKey: name)
                shown.states.set(KeyedState(name, key, state))
            }
            let isPresent = values[name] != nil
            if (old != nil) != isPresent { changes.areKeysChanged = true }
            shown.record(name, wasPresent: old != nil, isPresent: isPresent)
        }
    }

    func announce() {
        let changes = changes
        self.changes = Changes()
        notices.publish(
            changes.names, areKeysChanged: changes.areKeysChanged, countOfChildren: values.count
        ) { values[$0] != nil }
        if changes.isPhaseChanged, changes.names.isEmpty { notices.publishPhase() }
        guard progress.hasState, let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.success(starting.collection)) }
    }

    func setLive(_ isLive: Bool) {
        guard progress.hasState, isLive != progress.isLive else { return }
        progress.isLive = isLive
        phase.withLock { $0 = isLive ? types.livePhase : .connecting }
        notices.publishPhase()
    }

    func fail(_ error: ClientError) {
        progress.isLive = false
        phase.withLock { $0 = .failed(error) }
        notices.publishEnd()
        guard let starting else { return }
        self.starting = nil
        for completion in starting.completions { completion(.failure(error)) }
    }
}
