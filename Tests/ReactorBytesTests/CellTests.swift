import ReactorBytes
import Testing

@Suite("a cell")
struct CellTests {
    private final class Token {
        let onEnd: () -> Void

        init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    @Test("a value in a cell is changed in place")
    func changes() {
        let cell = Cell([1])
        cell.value.append(2)
        cell.value[0] = 7
        #expect(cell.value == [7, 2])
    }

    @Test(
        "a cell releases its value at its own release, and an old value at its replacement"
    )
    func ends() {
        var ended: [Int] = []
        do {
            let cell = Cell(Token { ended.append(1) })
            cell.value = Token { ended.append(2) }
            #expect(ended == [1])
        }
        #expect(ended == [1, 2])
    }

    @Test("a read may overlap with another read")
    func reads() {
        let cell = Cell([1, 2])
        func sum(_ values: borrowing [Int]) -> Int { values.count + cell.value.count }
        #expect(sum(cell.value) == 4)
    }

    #if DEBUG
        @Test("a change that overlaps with another access traps in a debug build")
        func overlaps() async {
            await #expect(processExitsWith: .failure) {
                let cell = Cell([1])
                func change(_ values: inout [Int]) { values.append(cell.value.count) }
                change(&cell.value)
            }
            await #expect(processExitsWith: .failure) {
                let cell = Cell([1])
                func change(_ values: inout [Int]) { cell.value.append(values.count) }
                change(&cell.value)
            }
        }
    #endif
}
