import ReactorThreads

/// The record inside a ``TrackedState``: a bit for each field that was changed.
///
/// Equal to any other, for it is no part of a state's value.
public struct StateMarks: Sendable, Hashable {
    // because a state that was made or decoded as a whole has no past: all of it counts as changed
    @usableFromInline var bits: UInt64 = .max
    /// What the logs of keyed fields bear since the last drain; 0 before the first.
    var stamp: UInt64 = 0
    /// Which field of which state around it drained it last; 0 if none did.
    var owner: UInt64 = 0

    /// Marks of a state that was made as a whole: all of it counts as changed.
    @inlinable public init() {}

    /// Records that the field with this index was changed.
    @inlinable
    public mutating func mark(_ index: Int) { bits |= 1 &<< UInt64(truncatingIfNeeded: index) }

    @inlinable
    public static func == (left: StateMarks, right: StateMarks) -> Bool { true }

    @inlinable
    public func hash(into hasher: inout Hasher) {}

    // because what is equal to its author may be other bytes, and nobody could tell from outside: a
    // text in another normal form, a number that counts as another, half of a value
    /// Whether a field that is set must be marked: always, where equal values may have other bytes.
    @inlinable
    public static func differ<Value>(_ old: Value, _ new: Value) -> Bool { true }

    /// Whether a number that is set must be marked.
    @inlinable
    public static func differ<Value: FixedWidthInteger>(_ old: Value, _ new: Value) -> Bool {
        old != new
    }

    /// Whether a truth value that is set must be marked.
    @inlinable
    public static func differ(_ old: Bool, _ new: Bool) -> Bool { old != new }

    /// Whether a text that is set must be marked: where its bytes are others.
    @inlinable
    public static func differ(_ old: String, _ new: String) -> Bool {
        !old.utf8.elementsEqual(new.utf8)
    }
}

/// What a tracked state is to whoever asks for its changes: all there is, or a field of another.
public struct StatePart: Sendable {
    // because a state may be copied from one field into another: its marks are believed only by
    // the field that they were begun for
    let owner: UInt64?
    let next: UInt64

    /// A state that stands by itself.
    public static let whole = StatePart(owner: nil, next: 0)
}

/// Reads the marks of a state, field by field, and starts them anew.
///
/// *Place*: in the `drainChanges` that the macro writes.
public struct StateDrain {
    private let bits: UInt64
    private let oldStamp: UInt64
    private let newStamp: UInt64
    private var found: [FieldChange] = []

    // because a collection may be copied from one state into another, or back after a while: a log
    // is believed only by the field, and for the time, that it was begun for
    private static let lastStamp = Guarded<UInt64>(0)

    /// Takes the marks, and starts them anew.
    public init(_ marks: inout StateMarks, as part: StatePart) {
        bits = part.owner.map { $0 == marks.owner } ?? true ? marks.bits : .max
        marks.owner = part.next
        oldStamp = marks.stamp
        newStamp = Self.lastStamp.withLock { last in
            last &+= 64
            return last
        }
        marks.bits = 0
        marks.stamp = newStamp
    }

    /// What was changed.
    public var changes: StateChanges { bits >> 63 == 1 ? .all : .fields(found) }

    private func isMarked(_ index: Int) -> Bool { bits >> UInt64(index) & 1 == 1 }

    /// Looks at a field.
    public mutating func note<Value>(_ index: Int, _ name: WireKey, _ field: inout Value) {
        if isMarked(index) { found.append(FieldChange(index: index, name: name)) }
    }

    /// Looks at a field that is a tracked state itself.
    public mutating func note<Value: TrackedState>(
        _ index: Int, _ name: WireKey, _ field: inout Value
    ) {
        let place = UInt64(index)
        let changes = field.drainChanges(
            as: StatePart(owner: oldStamp &+ place, next: newStamp &+ place))
        guard isMarked(index) else { return }
        // because fields that share the last index would share its stamp
        switch index < TrackedField<Value>.indexMax ? changes : .all {
        case .all: found.append(FieldChange(index: index, name: name))
        case .fields(let fields) where fields.isEmpty: break
        case .fields(let fields):
            found.append(FieldChange(index: index, name: name, parts: .fields(fields)))
        }
    }

    /// Looks at a keyed field, and at its log.
    public mutating func note<Key, Value>(
        _ index: Int, _ name: WireKey, _ field: inout Keyed<Key, Value>
    ) {
        let touches = field.drainTouched(
            expecting: oldStamp &+ UInt64(index), next: newStamp &+ UInt64(index))
        guard isMarked(index) else { return }
        // because fields that share the last index would share its stamp
        switch index < TrackedField<Value>.indexMax ? touches : .all {
        case .all: found.append(FieldChange(index: index, name: name))
        case .keys(let keys) where keys.isEmpty: break
        case .keys(let keys):
            let texts = keys.map { WireKey($0.wireKeyText) }
            found.append(FieldChange(index: index, name: name, parts: .keys(texts)))
        }
    }

    /// Looks at a field that counts its own changes.
    public mutating func note<Value>(_ index: Int, _ name: WireKey, _ field: inout Pulse<Value>) {
        if field.drain() || isMarked(index) {
            found.append(FieldChange(index: index, name: name))
        }
    }

    /// Looks at a field whose observers are not told.
    public mutating func noteIgnored<Value>(_ index: Int, _ name: WireKey, _ field: inout Value) {
        if isMarked(index) {
            found.append(FieldChange(index: index, name: name, isIgnored: true))
        }
    }
}
