import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

@Suite("SliceIndex")
struct SliceIndexTests {
    private let node = Tree(ReactorGroup([]), epoch: 1).root

    private func slice(_ id: UInt32, _ field: WireKey...) -> Slice {
        Slice(id: id, node: node, mode: .value, field: field[...])
    }

    private func index(_ slices: [Slice]) -> SliceIndex {
        var index = SliceIndex()
        for slice in slices { index.insert(slice) }
        return index
    }

    @Test("a change concerns the slices above it, at it and below it, and no others")
    func showing() {
        let slices = [
            slice(0), slice(1, "entries"), slice(2, "entries", "a"), slice(3, "entries", "b"),
            slice(4, "entries", "a", "x"), slice(5, "entries", "a", "y"), slice(6, "count"),
        ]
        let index = index(slices)
        func ids(_ place: WireKey...) -> [UInt32] {
            index.slices(showing: place).map(\.id).sorted()
        }
        #expect(ids() == [0, 1, 2, 3, 4, 5, 6])
        #expect(ids("entries") == [0, 1, 2, 3, 4, 5])
        #expect(ids("entries", "a") == [0, 1, 2, 4, 5])
        #expect(ids("entries", "a", "x") == [0, 1, 2, 4])
        #expect(ids("entries", "c") == [0, 1])
        #expect(ids("count") == [0, 6] && ids("title") == [0])
    }

    @Test("a slice is found by its field, and no longer after its removal")
    func removal() {
        let slices = [
            slice(0), slice(1, "entries"), slice(2, "entries", "a"), slice(3, "entries", "a", "x"),
        ]
        var index = index(slices)
        for slice in slices {
            #expect(index.slice(at: slice.field) === slice)
            index.remove(slice)
            #expect(index.slice(at: slice.field) == nil)
        }
        #expect(index.isEmpty && index.all.isEmpty)
    }
}
