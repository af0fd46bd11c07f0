import ReactorBytes
import Testing

@Suite("a place")
struct PlaceTests {
    private final class Token {
        let onEnd: () -> Void

        init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    @Test("what stands in a place is changed there")
    func changes() {
        let place = Place([1])
        place.value.append(2)
        place.value[0] = 7
        #expect(place.value == [7, 2])
    }

    @Test(
        "what stands in a place goes with it, and what stood there before goes when it is replaced")
    func ends() {
        var ended: [Int] = []
        do {
            let place = Place(Token { ended.append(1) })
            place.value = Token { ended.append(2) }
            #expect(ended == [1])
        }
        #expect(ended == [1, 2])
    }
}
