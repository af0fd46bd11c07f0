/// What a mirror does with a field of its state that the daemon's type of the same reactor lacks.
///
/// An optional field that has no other default is `nil` in both cases: `nil` claims nothing.
public enum MissingFields: Sendable {
    /// The mirror fails with ``ClientError/incompatible(path:_:)``, which names the field: the
    /// field's default is not a value of the daemon's.
    case fail
    /// The field shows its default, and ``TypeDifference/missing`` lists it. A field without a
    /// default still fails.
    case defaults
}
