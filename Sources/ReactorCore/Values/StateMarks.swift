import ReactorThreads

/// The change record inside a ``TrackedState``: one bit per field.
///
/// All values are equal, since the record is no part of a state's value.
public struct StateMarks: Sendable, Hashable {
    // A state that was made or decoded as a whole counts as changed in all fields.
    @usableFromInline var bits: UInt64 = .max
    /// Stamp of the logs of keyed fields since the last drain; 0 before the first.
    var stamp: UInt64 = 0
    /// Identifies the enclosing state's field that drained it last; 0 if there was none.
    var owner: UInt64 = 0

    /// Marks of a new state: all fields count as changed.
    @inlinable public init() {}

    /// Records a change of the field with this index.
    @inlinable
    public mutating func mark(_ index: Int) { bits |= 1 &<< UInt64(truncatingIfNeeded: index) }

    @inlinable
    public static func == (left: StateMarks, right: StateMarks) -> Bool { true }

    @inlinable
    public func hash(into hasher: inout Hasher) {}

    // Values that compare equal may have different encodings: a text in another normal form, a
    // number that counts as equal, a value whose equality ignores parts.
    /// Whether setting a field marks it: always, since equal values may have different encodings.
    @inlinable
    public static func differ<Value>(_ old: Value, _ new: Value) -> Bool { true }

    /// Whether setting a number marks it.
    @inlinable
    public static func differ<Value: FixedWidthInteger>(_ old: Value, _ new: Value) -> Bool {
        old != new
    }

    /// Whether setting a truth value marks it.
    @inlinable
    public static func differ(_ old: Bool, _ new: Bool) -> Bool { old != new }

    /// Whether setting a text marks it: if its bytes differ.
    @inlinable
    public static func differ(_ old: String, _ new: String) -> Bool {
        !old.utf8.elementsEqual(new.utf8)
    }
}

/// Reads and resets the marks of a state, field by field.
///
/// *Place*: in the `drainChanges` that the macro writes.
public struct StateDrain {
    private let bits: UInt64
    private let oldStamp: UInt64
    private let newStamp: UInt64
    private var found: [FieldChange] = []

    // A collection may be copied from one state into another, or restored from an older copy; its
    // log is valid only for the field and the period for which it was started.
    private static let lastStamp = Guarded<UInt64>(0)

    /// Takes the marks, and resets them.
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

    /// The changes found.
    public var changes: StateChanges { bits >> 63 == 1 ? .all : .fields(found) }

    private func isMarked(_ index: Int) -> Bool { bits >> UInt64(index) & 1 == 1 }

    /// Reads the mark of a field.
    public mutating func note<Value>(_ index: Int, _ name: WireKey, _ field: inout Value) {
        if isMarked(index) { found.append(FieldChange(index: index, name: name)) }
    }

    /// Reads the marks of a field that is a tracked state itself.
    public mutating func note<Value: TrackedState>(
        _ index: Int, _ name: WireKey, _ field: inout Value
    ) {
        let place = UInt64(index)
        let changes = field.drainChanges(
            as: StatePart(owner: oldStamp &+ place, next: newStamp &+ place))
        guard isMarked(index) else { return }
        // Fields that share the last index would share its stamp.
        switch index < TrackedField<Value>.indexMax ? changes : .all {
        case .all: found.append(FieldChange(index: index, name: name))
        case .fields(let fields) where fields.isEmpty: break
        case .fields(let fields):
            found.append(FieldChange(index: index, name: name, parts: .fields(fields)))
        }
    }

    /// Reads the mark of a keyed field, and its log.
    public mutating func note<Key, Value>(
        _ index: Int, _ name: WireKey, _ field: inout Keyed<Key, Value>
    ) {
        let touches = field.drainTouched(
            expecting: oldStamp &+ UInt64(index), next: newStamp &+ UInt64(index))
        guard isMarked(index) else { return }
        // Fields that share the last index would share its stamp.
        switch index < TrackedField<Value>.indexMax ? touches : .all {
        case .all: found.append(FieldChange(index: index, name: name))
        case .keys(let keys) where keys.isEmpty: break
        case .keys(let keys):
            let texts = keys.map { WireKey($0.wireKeyText) }
            found.append(FieldChange(index: index, name: name, parts: .keys(texts)))
        }
    }

    /// Reads the mark of a field that counts its own assignments.
    public mutating func note<Value>(_ index: Int, _ name: WireKey, _ field: inout Pulse<Value>) {
        if field.drain() || isMarked(index) {
            found.append(FieldChange(index: index, name: name))
        }
    }

    /// Reads the mark of a field that observers ignore.
    public mutating func noteIgnored<Value>(_ index: Int, _ name: WireKey, _ field: inout Value) {
        if isMarked(index) {
            found.append(FieldChange(index: index, name: name, isIgnored: true))
        }
    }
}
