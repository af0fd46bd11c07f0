import ReactorCore
import Testing

/// A root with children at several depths.
@Reactor
struct Town {
    @Child var shop = Shop()
    @Child var hall = Hall()
    @Child private var meter = Meter()

    enum Action: Equatable { case wait }
    struct State: Equatable { var name = "" }

    /// A path to a private child.
    static var meterPath: SlicePath? { PathTable<Town>().path(of: \.$meter) }
}

/// Declares its child's visit by hand.
struct Harbour: Reactor {
    typealias Action = NoReply
    typealias Mutation = NoReply
    @Child var ship = Tally()
    let town = Town()

    var initialState: ReactorGroup.State { ReactorGroup.State() }

    func children(_ visitor: inout ChildVisitor) {
        visitor.child("boat", _ship)
        visitor.child("town", town)
    }

    static func childPaths(_ visitor: inout ChildPathVisitor<Harbour>) {
        visitor.child("boat", \.ship, \.$ship)
    }
}

@Suite("PathTable")
struct PathTableTests {
    @Test("F64: a key path leads to its child's path, by property and by handle")
    func lookUp() throws {
        let table = PathTable<Town>()
        let expected: [(PartialKeyPath<Town>, String)] = [
            (\.self, "/"), (\.shop, "/shop"), (\.$shop, "/shop"), (\.hall, "/hall"),
            (\.shop.visits, "/shop/visits"), (\.shop.$visits, "/shop/visits"),
            (\.shop.$rooms, "/shop/rooms"), (\.hall.meter, "/hall/meter"),
            (\.hall.$meter, "/hall/meter"),
        ]
        for (keyPath, path) in expected {
            #expect(table.path(of: keyPath)?.description == path, "\(path)")
        }
        #expect(Town.meterPath?.description == "/meter")
        #expect(table.count == 12)
    }

    @Test("F64: a property that is not a child has no path")
    func nothing() {
        let table = PathTable<Town>()
        #expect(table.path(of: \.initialState) == nil)
        #expect(table.path(of: \.shop.rooms) == nil)
        #expect(table.path(of: \.shop.initialState.notes) == nil)
    }

    @Test("F64: every path in the table has a node, and every static child is in the table")
    func agreesWithTree() throws {
        let tree = Tree(Town(), epoch: 1)
        var paths: [SlicePath] = []
        tree.forEachNode { paths.append($0.path) }
        #expect(PathTable<Town>().allPaths == paths)
        #expect(paths.count == 7)
    }

    @Test("a child has the name with which its parent's own code visits it")
    func byHand() throws {
        let table = PathTable<Harbour>()
        #expect(table.path(of: \.$ship)?.description == "/boat")
        #expect(table.path(of: \.town) == nil)
        #expect(try Tree(Harbour(), epoch: 1).node(at: SlicePath("/boat")) != nil)
    }
}
