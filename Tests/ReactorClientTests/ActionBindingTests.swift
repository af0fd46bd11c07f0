import ReactorThreads
import Testing

@testable import ReactorClient

@Suite("ActionBinding")
struct ActionBindingTests {
    /// A form with a bound property.
    private struct Form {
        @ActionBinding var name: String
    }

    @Test("F66: as a property, a binding reads and writes through its functions")
    func property() {
        let place = Guarded("Ann")
        let form = Form(
            name: ActionBinding(
                get: { place.withLock { $0 } }, set: { new in place.withLock { $0 = new } }))
        #expect(form.name == "Ann")
        form.name = "Bob"
        #expect(place.withLock { $0 } == "Bob" && form.$name.wrappedValue == "Bob")
    }

    @Test("F72: a mapped binding converts the value in each direction")
    func map() {
        let place = Guarded(7)
        let number = ActionBinding(
            get: { place.withLock { $0 } }, set: { new in place.withLock { $0 = new } })
        let text = number.map(get: { "\($0)" }, set: { Int($0) ?? 0 })
        #expect(text.wrappedValue == "7")
        text.wrappedValue = "12"
        #expect(number.wrappedValue == 12)
    }
}
