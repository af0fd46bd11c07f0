import ReactorBytes
import Testing

@Suite("a list of references")
struct ReferenceListTests {
    private final class Item {
        let number: Int
        let onEnd: (Int) -> Void

        init(_ number: Int, _ onEnd: @escaping (Int) -> Void = { _ in }) {
            self.number = number
            self.onEnd = onEnd
        }

        deinit { onEnd(number) }
    }

    @Test("a visit passes each object once, in the order of appending")
    func order() {
        var list = ReferenceList<Item>()
        var (isEmpty, hasCapacity) = (list.isEmpty, list.hasCapacity)
        #expect(isEmpty && !hasCapacity)
        for number in 1...5 { list.append(Item(number)) }
        list.append(list.objects[0])
        var numbers: [Int] = []
        list.visit { numbers.append($0.number) }
        #expect(numbers == [1, 2, 3, 4, 5, 1])
        #expect(list.objects.map(\.number) == numbers)
        list.removeAll { $0.number.isMultiple(of: 2) }
        let left = list.objects.map(\.number)
        #expect(left == [1, 3, 5, 1])
        list.removeAll()
        (isEmpty, hasCapacity) = (list.isEmpty, list.hasCapacity)
        #expect(isEmpty && hasCapacity)
    }

    @Test("the list keeps its objects alive until they are removed, or until its own end")
    func ends() {
        var ended: [Int] = []
        do {
            var list = ReferenceList<Item>()
            for number in 1...3 { list.append(Item(number) { ended.append($0) }) }
            list.visit { _ in #expect(ended.isEmpty) }
            list.removeAll { $0.number == 2 }
            #expect(ended == [2])
            list.removeAll()
            #expect(ended == [2, 1, 3])
            list.append(Item(4) { ended.append($0) })
            #expect(ended.count == 3)
        }
        #expect(ended == [2, 1, 3, 4])
    }

    @Test("an object that a visitor holds outlives the list")
    func held() {
        var ended: [Int] = []
        var held: Item?
        do {
            var list = ReferenceList<Item>()
            list.append(Item(1) { ended.append($0) })
            list.visit { held = $0 }
        }
        #expect(ended.isEmpty && held?.number == 1)
        held = nil
        #expect(ended == [1])
    }
}
