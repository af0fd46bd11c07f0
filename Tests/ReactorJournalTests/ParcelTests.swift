import Testing

@testable import ReactorJournal

@Suite("parcels")
struct ParcelTests {
    private final class Content {}

    @Test("what is taken out is nobody else's, and the parcel is empty")
    func taken() {
        let parcel = Parcel(Content())
        weak var seen: Content?
        do {
            let content = parcel.take()
            seen = content
            #expect(seen != nil && parcel.take() == nil)
        }
        #expect(seen == nil)
    }
}
