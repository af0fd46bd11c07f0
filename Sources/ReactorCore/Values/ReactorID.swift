import ReactorThreads
import ReactorWire

/// Identifies a reactor instance within one history of its daemon, or within one store of a
/// process.
///
/// May be part of a state or a key, to tell a child from an earlier child at the same path.
@WireCodable
@MemberwiseInit
public struct ReactorID: Hashable, Sendable {
    /// The epoch of the daemon's tree, which is a random number, or the number of the store, which
    /// counts from 1 in each process.
    public var epoch: UInt64
    /// The node's number, unique within its tree.
    public var node: UInt32
}

extension ReactorID: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))#\(node)" }
}

/// Identifies a reactor to mirrors and histories: its name and the form of its values.
struct ReactorForm: Equatable, Sendable {
    let name: String
    let fingerprint: UInt64

    // Cached: computing it from the schema each time took a sixth of the time to open a node.
    private static let known = Guarded<[ObjectIdentifier: ReactorForm]>([:])

    /// The form of a reactor's type; `fingerprint` is computed once for each type.
    static func of(_ type: Any.Type, _ fingerprint: () -> UInt64) -> ReactorForm {
        let id = ObjectIdentifier(type)
        if let form = known.withLock({ $0[id] }) { return form }
        // Outside the lock, since computing a schema may ask for the form of another type.
        let name = (type as? any RecordedUnderName.Type)?.recordedName ?? "\(type)"
        let form = ReactorForm(name: name, fingerprint: fingerprint())
        known.withLock { $0[id] = form }
        return form
    }
}

extension VersionedTypes {
    private static let known = Guarded<[ObjectIdentifier: VersionedTypes]>([:])

    /// The types in a reactor's values; `schemas` are described once for each type of reactor.
    static func of(_ type: Any.Type, _ schemas: () -> [WireSchema]) -> VersionedTypes {
        let id = ObjectIdentifier(type)
        if let types = known.withLock({ $0[id] }) { return types }
        let types = VersionedTypes(in: schemas())
        known.withLock { $0[id] = types }
        return types
    }
}

/// A reactor whose name in histories and on the wire is not that of its type.
protocol RecordedUnderName {
    static var recordedName: String { get }
}
