import ReactorBytes
import Testing

@Suite("a table of references")
struct ReferenceTableTests {
    private final class Item {
        let number: Int
        let onEnd: (Int) -> Void

        init(_ number: Int, _ onEnd: @escaping (Int) -> Void = { _ in }) {
            self.number = number
            self.onEnd = onEnd
        }

        deinit { onEnd(number) }
    }

    @Test("a visit passes the object of its number, and none for another number")
    func visits() {
        var table = ReferenceTable<Item>()
        for number in 1...40 { table.insert(Item(number), at: UInt64(number)) }
        let sum = (1...40).reduce(0) { sum, number in
            sum + (table.with(UInt64(number)) { $0.number } ?? 0)
        }
        #expect(sum == 820)
        let missing = table.with(41) { $0.number }
        let (found, count) = (table[7]?.number, table.count)
        #expect(missing == nil && found == 7 && count == 40)
        let numbers = table.objects.map(\.number).sorted()
        #expect(numbers == Array(1...40))
    }

    @Test("the table keeps an object alive until it is replaced or removed, or until its own end")
    func ends() {
        var ended: [Int] = []
        do {
            var table = ReferenceTable<Item>()
            for number in 1...3 {
                table.insert(Item(number) { ended.append($0) }, at: UInt64(number))
            }
            #expect(ended.isEmpty)
            table.remove(at: 2)
            #expect(ended == [2])
            let former = table.insert(Item(4) { ended.append($0) }, at: 1)
            #expect(former?.number == 1 && ended == [2])
            let removed = table.remove(at: 9)
            #expect(removed == nil)
        }
        #expect(ended.first == 2 && ended.sorted() == [1, 2, 3, 4])
    }
}
