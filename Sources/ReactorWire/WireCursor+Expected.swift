/// Reading what this library itself would have written, where the next bytes are known.
///
/// Names stand in a fixed order in what we write, so that a constant of up to 24 bytes usually
/// matches and nothing needs to be looked up. What does not match is read by the general way,
/// from where the cursor stands: no value is ever decoded twice, because a nested value that is
/// read twice at each of 64 levels would never end.
extension WireCursor {
    /// The second byte of a choice that is a map with one key: the head of its case's name. Zero
    /// if no such choice is next, or if two more levels of nesting would be too deep.
    @inlinable
    @inline(__always)
    public func choiceHead(in bytes: Span<UInt8>) -> UInt8 {
        guard offset >= 0, bytes.count &- offset >= 2, bytes[offset] == 0xa1, depthLeft > 1 else {
            return 0
        }
        return bytes[offset &+ 1]
    }

    /// Moves past the next `byteCount` (1 to 8) bytes if they are `word`, lowest first.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ word: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: byteCount) == word
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Moves past the next `byteCount` (9 to 16) bytes if the first eight of them are `first` and
    /// the last eight are `last`: the two may overlap.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ first: UInt64, _ last: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: 8) == first,
            bytes.word(at: offset &+ byteCount &- 8, byteCount: 8) == last
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Moves past the next `byteCount` (17 to 24) bytes if the first sixteen of them are `first`
    /// and `second`, and the last eight are `last`.
    @inlinable
    @inline(__always)
    public mutating func takes(
        _ first: UInt64, _ second: UInt64, _ last: UInt64, byteCount: Int, in bytes: Span<UInt8>
    ) -> Bool {
        guard offset >= 0, bytes.count &- offset >= byteCount,
            bytes.word(at: offset, byteCount: 8) == first,
            bytes.word(at: offset &+ 8, byteCount: 8) == second,
            bytes.word(at: offset &+ byteCount &- 8, byteCount: 8) == last
        else { return false }
        offset &+= byteCount
        return true
    }

    /// Decodes a value that stands two levels down, in a record or an array in a choice.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ type: Value.Type, inside outer: StaticString, _ inner: StaticString,
        in bytes: Span<UInt8>
    ) throws(WireError) -> Value {
        depthLeft &-= 2
        do throws(WireError) {
            let value = try Value.decode(bytes, &self)
            depthLeft &+= 2
            return value
        } catch {
            throw error.inside(inner.description).inside(outer.description)
        }
    }

    /// Decodes a value that stands one level down, in a choice.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ type: Value.Type, inside outer: StaticString, in bytes: Span<UInt8>
    ) throws(WireError) -> Value {
        depthLeft &-= 1
        do throws(WireError) {
            let value = try Value.decode(bytes, &self)
            depthLeft &+= 1
            return value
        } catch {
            throw error.inside(outer.description)
        }
    }

    /// Whether another pair of a counted map follows; it is counted as read only when its key
    /// matches.
    @inlinable
    @inline(__always)
    public func hasPair(_ map: borrowing WireContainer) -> Bool { map.left > 0 }

    /// Decodes the value of a key that ``takes(_:byteCount:in:)`` has just moved past.
    @inlinable
    @inline(__always)
    public mutating func expected<Value: WireCodable>(
        _ name: StaticString, into value: inout Value?, in bytes: Span<UInt8>,
        _ map: inout WireContainer
    ) throws(WireError) {
        map.left &-= 1
        do throws(WireError) {
            value = try Value.decode(bytes, &self)
        } catch {
            throw error.inside(name.description)
        }
    }
}
