import ReactorThreads
import ReactorWire

/// Identifies a reactor to mirrors and histories: its name and the form of its values.
struct ReactorForm: Equatable, Sendable {
    let name: String
    let fingerprint: UInt64

    // Cached: computing it from the schema each time took a sixth of the time to open a node.
    private static let known = Guarded<[ObjectIdentifier: ReactorForm]>([:])

    /// The form of a reactor's type, computed once.
    static func of<R: Reactor>(_ type: R.Type) -> ReactorForm {
        let id = ObjectIdentifier(type)
        if let form = known.withLock({ $0[id] }) { return form }
        // Outside the lock, since computing a schema may ask for the form of another type.
        let form = ReactorForm(
            name: "\(type)",
            fingerprint: R.State.wireSchema.fingerprint &* 0x100_0000_01b3
                ^ R.Mutation.wireSchema.fingerprint &+ UInt64(R.version))
        known.withLock { $0[id] = form }
        return form
    }
}
