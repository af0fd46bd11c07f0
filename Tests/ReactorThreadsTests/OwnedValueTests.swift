import Testing

@testable import ReactorThreads

@Suite("Owned values")
struct OwnedValueTests {
    private final class Content {}

    @Test("a value can be taken out once")
    func taken() {
        let box = OwnedValue(Content())
        weak var seen: Content?
        do {
            let content = box.take()
            seen = content
            #expect(seen != nil && box.take() == nil)
        }
        #expect(seen == nil)
    }
}
