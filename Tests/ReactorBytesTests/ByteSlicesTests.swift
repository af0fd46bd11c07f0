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

    @Test("a literal creates the same slices")
    func literal() {
        let slices: ByteSlices = [ByteSlice([1]), ByteSlice([2, 3], range: 1..<2)]
        #expect(slices.flatMap { Array($0.storage[$0.range]) } == [1, 3])
        #expect(ByteSlices(ByteSlice([7])).map(\.count) == [1])
    }
}
