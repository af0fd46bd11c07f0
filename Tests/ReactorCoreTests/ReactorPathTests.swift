import ReactorCore
import Testing

/// A street of shops, whose instances can be created by type.
@Reactor
struct Street {
    @Child var shop = Shop()

    enum Action: Equatable, Sendable { case nothing }
    enum Mutation: Equatable, Sendable { case nothing }
    struct State: Equatable, Sendable { var name = "" }

    func reduce(state: inout State, mutation: Mutation) {}
}

@Suite("ReactorPath")
struct ReactorPathTests {
    @Test("F64: properties lead to nested reactors, static and keyed")
    func paths() throws {
        let shop = ReactorPath(Street.self).child(\.$shop)
        #expect(shop.path.description == "/shop")
        let visits: ReactorPath<Tally> = shop.child(\.$visits)
        #expect(visits.path.description == "/shop/visits")
        let guests: ReactorPath<Tally> =
            ReactorPath(Street.self, at: try SlicePath("/town/a b")).child(\.$shop)
            .child(\.$rooms, "kit/chen").child(\.$guests)
        #expect(guests.path == SlicePath(["town", "a b", "shop", "rooms", "kit/chen", "guests"]))
    }

    @Test("F64: an instance of the target is created as its parents create it")
    func instance() {
        let room = ReactorPath { Shop() }.child(\.$rooms, "hall")
        #expect(room.make().name == "hall")
    }

    @Test("F64: a path in text is checked against the properties, and a mismatch names both")
    func check() throws {
        let visits = ReactorPath(Street.self).child(\.$shop).child(\.$visits)
        try visits.check("/shop/visits")
        try visits.check("/shop/%76isits")
        let error = #expect(throws: ReactorPathMismatch.self) { try visits.check("/shop/vists") }
        #expect(
            error?.description
                == "Tally: the properties lead to /shop/visits, the text says /shop/vists")
        #expect(throws: ReactorPathMismatch.self) { try visits.check("no path") }
    }
}
