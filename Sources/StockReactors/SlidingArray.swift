public import ReactorCore

/// An array with cheap appending at the back and removal at the front.
///
/// *Shape*: on the wire an array. *Cost*: appending and removing the first are O(1) amortised.
public struct SlidingArray<Element> {
    /// The elements from ``head`` on; those before are `nil`.
    private var storage: [Element?]
    private var head = 0

    /// Makes an array of `elements`.
    public init(_ elements: [Element] = []) { storage = elements }

    /// Adds an element at the back.
    public mutating func append(_ element: Element) { storage.append(element) }

    /// Inserts elements at the front, in their order.
    public mutating func prepend(_ elements: [Element]) {
        if elements.count > head {
            storage.replaceSubrange(..<head, with: elements.map { $0 })
            head = 0
            return
        }
        head -= elements.count
        for (offset, element) in elements.enumerated() { storage[head + offset] = element }
    }

    /// Removes the first `number` elements, or all if there are fewer.
    public mutating func removeFirst(_ number: Int = 1) {
        let leaving = Swift.min(Swift.max(number, 0), count)
        for index in head..<head + leaving { storage[index] = nil }
        head += leaving
        // Frees the space of removed elements once they are more than half of the storage.
        if head > 32, head > storage.count / 2 {
            storage.removeSubrange(..<head)
            head = 0
        }
    }

    /// Removes all elements.
    public mutating func removeAll() {
        storage = []
        head = 0
    }
}

extension SlidingArray: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.count - head }

    /// The element at an index, counted from the oldest.
    public subscript(position: Int) -> Element {
        guard let element = storage[head + position] else {
            preconditionFailure("there is no element before the head")
        }
        return element
    }
}

extension SlidingArray: Sendable where Element: Sendable {}

extension SlidingArray: Equatable where Element: Equatable {
    public static func == (left: SlidingArray, right: SlidingArray) -> Bool {
        left.elementsEqual(right)
    }
}

extension SlidingArray: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension SlidingArray: WireCodable where Element: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.array(count: count)
        for element in self { element.encode(into: &writer) }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> SlidingArray {
        SlidingArray(try [Element].decode(bytes, &cursor))
    }

    /// A component is a decimal index.
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard let component = path.first else {
            encode(into: &writer)
            return .found
        }
        guard let index = Int(wireKeyText: component.text), index >= 0 else { return .impossible }
        guard index < count else { return .absent }
        return self[index].encode(at: path.dropFirst(), into: &writer)
    }

    public static var wireSchema: WireSchema { [Element].wireSchema }
}
