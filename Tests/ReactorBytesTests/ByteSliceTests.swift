import ReactorBytes
import Testing

@Suite struct ByteSliceTests {
    @Test("slices of one array share its bytes at one address")
    func sharesStorage() throws {
        let storage: [UInt8] = [1, 2, 3, 4, 5]
        let whole = ByteSlice(storage)
        let part = ByteSlice(storage, range: 1..<4)
        let start = try unsafe #require(unsafe whole.address)
        let partStart = try unsafe #require(unsafe part.address)
        #expect(unsafe partStart == start + 1)
        #expect(part.count == 3)
        let rest = part.dropping(2)
        #expect(rest.range == 3..<4)
        #expect(unsafe rest.address?.pointee == 4)
    }

    @Test("slices of one array have one number, those of another array another")
    func storageNumbers() {
        let storage: [UInt8] = [1, 2, 3]
        let (one, part) = (ByteSlice(storage), ByteSlice(storage, range: 1..<2))
        let other = ByteSlice(storage.map { $0 + 1 })
        #expect(one.storageNumber == part.storageNumber)
        #expect(one.storageNumber != other.storageNumber && other.count == 3)
    }

    @Test("an empty slice is allowed")
    func isEmpty() {
        #expect(ByteSlice([]).count == 0)
        #expect(ByteSlice([1], range: 1..<1).count == 0)
    }

    @Test("a slice outside of its array traps")
    func trapsOutside() async {
        await #expect(processExitsWith: .failure) {
            _ = ByteSlice([1, 2], range: 1..<3)
        }
    }
}
