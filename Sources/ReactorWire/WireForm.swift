// What the code that `@WireCodable` generates needs to report a type without coding once, at its
// field.

/// What a type lacks that is codable only with `import ReactorFoundation`; every ``WireCodable``
/// type has it. The compiler quotes the name if such a type has no coding.
@_marker public protocol WireCodableByImportingReactorFoundation {}

/// The name that `@WireCodable` uses for the type of a field: it exists if the type is codable.
public enum WireForm<Value: WireCodable> {
    /// The type itself.
    public typealias Checked = Value
}

/// The same as ``WireForm`` for the types of Foundation: the compiler's message names the remedy.
public enum WireFoundationForm<Value: WireCodableByImportingReactorFoundation> {
    /// The type itself.
    public typealias Checked = Value
}
