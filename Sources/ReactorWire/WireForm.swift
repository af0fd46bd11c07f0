// What the code that `@WireCodable` generates needs to report a type without coding once, at its
// field, with the remedy: the compiler quotes the name of the protocol that the type does not have.

/// The compiler names this protocol where an author's type has no coding. Each ``WireCodable`` type
/// conforms to it.
@_marker public protocol `WireCodable: declare the type with @WireCodable` {}

/// The compiler names this protocol where a type of Foundation is used without the import. Each
/// ``WireCodable`` type conforms to it.
@_marker public protocol `WireCodable: import ReactorFoundation` {}

/// The compiler names this protocol where the key of a dictionary cannot be coded. Each
/// ``WireMapKey`` conforms to it.
@_marker public protocol `WireMapKey: declare it, or use String, WireKey or an integer` {}

/// The compiler names this protocol where a key of Foundation is used without the import. Each
/// ``WireMapKey`` conforms to it.
@_marker public protocol `WireMapKey: import ReactorFoundation` {}

/// The name that `@WireCodable` uses for the type of a field: it exists if the type is codable.
public enum WireForm<Value: `WireCodable: declare the type with @WireCodable`> {
    /// The type itself.
    public typealias Checked = Value
}

/// The same as ``WireForm`` for the types of Foundation.
public enum WireFoundationForm<Value: `WireCodable: import ReactorFoundation`> {
    /// The type itself.
    public typealias Checked = Value
}

/// The same as ``WireForm`` for the key of a dictionary.
public enum WireKeyForm<Key: `WireMapKey: declare it, or use String, WireKey or an integer`> {
    /// The type itself.
    public typealias Checked = Key
}

/// The same as ``WireKeyForm`` for the keys of Foundation.
public enum WireFoundationKeyForm<Key: `WireMapKey: import ReactorFoundation`> {
    /// The type itself.
    public typealias Checked = Key
}
