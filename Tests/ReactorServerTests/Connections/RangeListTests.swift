import Testing

@testable import ReactorServer

struct RangeListTests {
    @Test("adjacent ranges are joined, others stay apart, and empty ones are dropped")
    func joins() {
        var list = RangeList()
        #expect(list.isEmpty && list.count == 0)
        let ranges = [3..<3, 0..<2, 2..<5, 7..<7, 7..<9, 9..<10, 12..<13]
        for range in ranges { list.append(range) }
        var shown: [Range<Int>] = []
        list.visit { shown.append($0) }
        #expect(shown == [0..<5, 7..<10, 12..<13])
        #expect(list.count == 3 && list.byteCount == 9)
    }
}
