import ReactorCore

struct Plain: Hashable { var number = 1 }
enum Level: Int { case low, high }
struct Pair<Left: Sendable, Right: Sendable> {
    var left: Left
    var right: Right
}

@Reactor
struct Plainly {
    enum Action {
        case add(Plain)  // expect: `WireCodable: declare the type with @WireCodable`
    }
    enum Mutation { case raised(to: Level?) }  // expect: `WireCodable: declare the type with
    struct State {
        var plain = Plain()  // expect: 'Plain' does not conform to protocol '`WireCodable: declare
        var list: [Level] = []  // expect: `WireCodable: declare the type with @WireCodable`
        var undo = Undoable<Plain>(Plain())  // expect: `WireCodable: declare the type with
        var load: AsyncLoad<[Plain], LoadError> = .none  // expect: `WireCodable: declare the type
        var table: [Plain: Int] = [:]  // expect: `WireMapKey: declare it, or use String, WireKey
        var pair: Pair<Int, String>?  // expect: `WireCodable: declare the type with @WireCodable`
    }
    var initialState: State

    func mutate(action: Action) -> Mutations<Mutation> { .none }
    func reduce(state: inout State, mutation: Mutation) {}
}

/// Mistakes that the macro sees; it reports the types of the other fields after their correction.
@WireCodable
struct Seen {
    var level = Level.low  // expect: the type of "level" is not visible to @WireCodable; write it
    var both: (Int, Int) = (1, 2)  // expect: a tuple, which has no names on the wire
    var any: Any  // expect: declare an enum of what it may be, or a WireValue
    var action = { 1 }  // expect: the type of "action" is not visible to @WireCodable; write it
    var undo = Undoable(1)  // expect: write it: undo: Undoable<Type>
    var ids = Set([1, 2])  // expect: write it: ids: Set<Type>
    var port = Int("80")  // expect: write it: port: Int?
}

@WireCodable
struct Outer {
    var inner = Inner()
    struct Inner { var number = 1 }  // expect: declare it with @WireCodable
}

// The type of the field itself is an error as well. In a reactor's State the compiler would also
// report that State is not Sendable.
@WireCodable
struct Levels {
    var keyed: Keyed<Level, Int> = [:]  // expect: `KeyedKey: declare it, || 'KeyedKey'
}

@WireCodable
enum Move {
    case put(Int, at: Int)  // expect: case "put" labels some of its values and not others
}

@ReactorState
@WireCodable
struct Tracked {
    var plain = Plain()  // expect: `WireCodable: declare the type with @WireCodable`
    var tables: [[Plain: Int]] = []  // expect: `WireMapKey: declare it, or use String, WireKey
}

/// A generic type has a condition, and its arguments are checked where it is used.
@WireCodable
struct Box<Item> {
    var item: Item
    var pair: Plain?  // expect: `WireCodable: declare the type with @WireCodable`
}

/// The author's own type has the name of a library's.
enum Own {
    struct LoadError { var text = "" }

    @WireCodable
    struct Shadowing {
        var error = LoadError()  // expect: `WireCodable: declare the type with @WireCodable`
        var list: Swift.Array<Plain> = []  // expect: `WireCodable: declare the type with
    }
}

@WireCodable
enum Stage: String {
    case build
    @WireInternal case ship  // expect: @WireInternal has no effect in an enum with a raw value
    @WireSecret case check  // expect: @WireSecret has no effect in an enum with a raw value
}
