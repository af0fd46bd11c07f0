/// A point in time of the system's clock, which may jump.
///
/// *Shape*: on the wire an integer, the milliseconds since 1970-01-01T00:00:00Z.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public var milliseconds: Int64

    /// Makes a time from milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The time from `earlier` to this time.
    public func since(_ earlier: WallTime) -> Duration {
        .milliseconds(Int128(milliseconds) - Int128(earlier.milliseconds))
    }

    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension WallTime: WireCodable {
    public static var wireSchema: WireSchema { Int64.wireSchema }

    public func encode(into writer: inout WireWriter) { milliseconds.encode(into: &writer) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WallTime {
        WallTime(milliseconds: try Int64.decode(bytes, &cursor))
    }
}
