/// A set is an array in ascending order of the encoded elements, so equal sets have equal bytes.
///
/// *Throws*: refuses an element that occurs twice, also one that equals another only by Unicode
/// equivalence; and an element that does not equal itself (NaN), with which a peer could fill a
/// set.
extension Set: WireCodable where Element: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.array(count: count)
        if count == 1 {
            for element in self { element.encode(into: &writer) }
            return
        }
        var elements: [[UInt8]] = []
        elements.reserveCapacity(count)
        for element in self { elements.append(element.wireBytes()) }
        elements.sort { $0.lexicographicallyPrecedes($1) }
        for element in elements { writer.raw(element) }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Set<Element> {
        var set: Set<Element> = []
        var items = try cursor.openArray(in: bytes)
        while try cursor.nextElement(in: bytes, &items) {
            let start = cursor.offset
            let element: Element
            do throws(WireError) {
                element = try Element.decode(bytes, &cursor)
            } catch {
                throw error.inside(String(set.count))
            }
            guard element == element else {
                throw WireError(.refused("a set element that is not equal to itself"), at: start)
            }
            let (isNew, member) = set.insert(element)
            guard isNew else { throw secondElementError(element, member, at: start) }
        }
        return set
    }

    private static func secondElementError(
        _ element: Element, _ member: Element, at start: Int
    ) -> WireError {
        element.wireBytes() == member.wireBytes()
            ? WireError(.duplicateKey("\(element)"), at: start)
            : WireError(.mergedKeys("\(element)"), at: start)
    }

    public static var wireSchema: WireSchema { .array(Element.wireSchema) }
}
