import ReactorThreads
import ReactorWire

/// By what others know whether a reactor is the one that they know: its name and the form of its
/// values.
struct ReactorForm: Equatable, Sendable {
    let name: String
    let fingerprint: UInt64

    // made of a whole schema each time, it was a sixth of what opening a node cost
    private static let known = Guarded<[ObjectIdentifier: ReactorForm]>([:])

    /// The form of a type of reactors, which is made once.
    static func of<R: Reactor>(_ type: R.Type) -> ReactorForm {
        let id = ObjectIdentifier(type)
        if let form = known.withLock({ $0[id] }) { return form }
        // not inside the lock: a schema may ask for others
        let form = ReactorForm(
            name: "\(type)",
            fingerprint: R.State.wireSchema.fingerprint &* 0x100_0000_01b3
                ^ R.Mutation.wireSchema.fingerprint &+ UInt64(R.version))
        known.withLock { $0[id] = form }
        return form
    }
}
