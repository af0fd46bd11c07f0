import Testing

@testable import ReactorServer

struct RangeListTests {
    @Test("adjacent ranges are joined, others stay apart, and empty ones are dropped")
    func joins() {
        var list = RangeList()
        #expect(list.isEmpty && list.count == 0)
        let ranges = [3..<3, 0..<2, 2..<5, 7..<7, 7..<9, 9..<10, 12..<13]
        for range in ranges { list.append(range) }
        #expect((0..<list.count).map { list[$0] } == [0..<5, 7..<10, 12..<13])
        #expect(list.count == 3 && list.byteCount == 9)
        list.clear()
        #expect(list.isEmpty && list.count == 0 && list.byteCount == 0)
        list.append(12..<13)
        #expect(list.count == 1 && list[0] == 12..<13)
    }
}
