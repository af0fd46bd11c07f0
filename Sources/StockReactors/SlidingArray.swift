public import ReactorCore

/// An array whose elements come at the back and leave at the front, both at no cost.
///
/// *Shape*: on the wire an array. *Cost*: appending and removing the first are O(1) amortised.
public struct SlidingArray<Element> {
    /// The elements from ``head`` on; those before have left.
    private var storage: [Element?]
    private var head = 0

    /// Makes an array of `elements`.
    public init(_ elements: [Element] = []) { storage = elements }

    /// Adds an element at the back.
    public mutating func append(_ element: Element) { storage.append(element) }

    /// Adds elements at the front, the first of them first.
    public mutating func prepend(_ elements: [Element]) {
        if elements.count > head {
            storage.replaceSubrange(..<head, with: elements.map { $0 })
            head = 0
            return
        }
        head -= elements.count
        for (offset, element) in elements.enumerated() { storage[head + offset] = element }
    }

    /// Takes the first `number` elements away; all, if there are not so many.
    public mutating func removeFirst(_ number: Int = 1) {
        let leaving = Swift.min(Swift.max(number, 0), count)
        for index in head..<head + leaving { storage[index] = nil }
        head += leaving
        // because the space of those who left is given back once it is the larger half
        if head > 32, head > storage.count / 2 {
            storage.removeSubrange(..<head)
            head = 0
        }
    }

    /// Takes all elements away.
    public mutating func removeAll() {
        storage = []
        head = 0
    }
}

extension SlidingArray: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.count - head }

    /// The element at a place, counted from the oldest.
    public subscript(position: Int) -> Element {
        guard let element = storage[head + position] else {
            preconditionFailure("no element stands before the head")
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
