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
        let place = Cell([1])
        place.value.append(2)
        place.value[0] = 7
        #expect(place.value == [7, 2])
    }

    @Test(
        "a cell releases its value at its own release, and an old value at its replacement"
    )
    func ends() {
        var ended: [Int] = []
        do {
            let place = Cell(Token { ended.append(1) })
            place.value = Token { ended.append(2) }
            #expect(ended == [1])
        }
        #expect(ended == [1, 2])
    }

    @Test("a read may overlap with another read")
    func reads() {
        let place = Cell([1, 2])
        func sum(_ values: borrowing [Int]) -> Int { values.count + place.value.count }
        #expect(sum(place.value) == 4)
    }

    #if DEBUG
        @Test("a change that overlaps with another access traps in a debug build")
        func overlaps() async {
            await #expect(processExitsWith: .failure) {
                let place = Cell([1])
                func change(_ values: inout [Int]) { values.append(place.value.count) }
                change(&place.value)
            }
            await #expect(processExitsWith: .failure) {
                let place = Cell([1])
                func change(_ values: inout [Int]) { place.value.append(values.count) }
                change(&place.value)
            }
        }
    #endif
}
