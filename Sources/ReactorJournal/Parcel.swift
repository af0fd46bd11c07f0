import ReactorThreads

/// A value of the owner's thread on its way through another: taken out where it belongs.
///
/// *Place*: callbacks hold what is the owner's, so that the last reference to them may not be let
/// go elsewhere. The parcel itself may: it is empty by then.
final class Parcel<Value>: Sendable {
    private let content: Guarded<Confined<Value>?>

    /// Packs `value`. *Owner*: the thread that owns it.
    init(_ value: Value) { content = Guarded(Confined(value)) }

    /// Takes the value out, once. *Owner*: the thread that owns it.
    func take() -> Value? {
        content.withLock { content in
            defer { content = nil }
            return content
        }?.open()
    }
}
