import ReactorCore
import Testing

@testable import ReactorClient

@Suite("Merge patches")
struct MergePatchTests {
    @Test("a patch names what differs, at any depth, and the keys that are gone")
    func differences() {
        let old: WireValue = ["a": 1, "b": ["x": 1, "y": [1, 2]], "gone": true, "same": ["k": 0]]
        let new: WireValue = ["a": 2, "b": ["x": 1, "y": [1]], "new": ["n": 1], "same": ["k": 0]]
        #expect(
            new.mergePatch(from: old)
                == ["a": 2, "b": ["y": [1]], "new": ["n": 1], "gone": .null])
        #expect(new.mergePatch(from: new) == nil)
        #expect((["a": 1] as WireValue).mergePatch(from: [:]) == ["a": 1])
        #expect(([:] as WireValue).mergePatch(from: ["a": 1, "b": 2]) == ["a": .null, "b": .null])
    }

    @Test("a value that is no map is replaced, and an equal one is no difference")
    func others() {
        #expect((5 as WireValue).mergePatch(from: 4) == 5)
        #expect((5 as WireValue).mergePatch(from: 5) == nil)
        #expect((["a": 1] as WireValue).mergePatch(from: 5) == ["a": 1])
        #expect((5 as WireValue).mergePatch(from: ["a": 1]) == 5)
    }
}
