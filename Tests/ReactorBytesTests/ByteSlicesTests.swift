import ReactorBytes
import Testing

@Suite struct ByteSlicesTests {
    @Test("slices keep the order in which they were appended, however many there are")
    func order() {
        for count in 0..<4 {
            var slices = ByteSlices()
            for number in 0..<count { slices.append(ByteSlice([UInt8(number)])) }
            #expect(slices.count == count)
            #expect(slices.map(\.storage) == (0..<count).map { [UInt8($0)] })
        }
    }

    @Test("a visit of a range passes the same slices as the subscript")
    func visit() {
        for count in 0..<4 {
            let slices = ByteSlices((0..<count).map { ByteSlice([UInt8($0)]) })
            for start in 0...count {
                for end in start...count {
                    var visited: [[UInt8]] = []
                    slices.visit(start..<end) { visited.append($0.storage) }
                    #expect(visited == slices[start..<end].map(\.storage))
                }
            }
        }
    }

    @Test("a literal creates the same slices")
    func literal() {
        let slices: ByteSlices = [ByteSlice([1]), ByteSlice([2, 3], range: 1..<2)]
        #expect(slices.flatMap { Array($0.storage[$0.range]) } == [1, 3])
        #expect(ByteSlices(ByteSlice([7])).map(\.count) == [1])
    }
}
