public import ReactorWire
import Testing

@WireCodable
struct MacroPoint: Equatable {
    var x: Int
    var y = 7
    let unit = 1
}

struct MacroShop {
    /// What a customer may ask for.
    ///
    /// More text.
    @WireCodable
    enum Action: Equatable {
        /// Counts up.
        case increment(by: Int = 1)
        case add(Int)
        case move(Int, MacroPoint)
        case reset
        case `default`
        case spread(from: MacroPoint, to: MacroPoint = .origin, über: Int)
    }

    @WireCodable
    fileprivate struct Secret { private var a: Int = 4 }
    @WireCodable
    enum One { case only(Int) }
    @WireCodable
    enum Lone { case only }
}

extension MacroPoint { static var origin: MacroPoint { MacroPoint(x: 0) } }

@WireCodable
public struct MacroOpen {
    public var item: Item
    public var amount: Int = 3
    public var at: MacroBox<Int>
    public let fixed = 5
    public init(item: Item, amount: Int) { self.item = item; self.amount = amount; at = .init(value: 1) }
    @WireCodable
    public enum Item { case add(Int), increment(by: Int) }
}

@WireCodable
public struct MacroBox<Value> {
    public var value: Value
    public var twice: [Value]?
}

@WireCodable
indirect enum MacroExpression: Equatable {
    case literal(Int)
    case sum(MacroExpression, MacroExpression)
    case list(items: [MacroExpression])
}

struct WireCodableMacroTests {
    @Test("the members that the macro writes compile and round-trip")
    func roundTrip() throws {
        let action = MacroShop.Action.spread(from: MacroPoint(x: 1), to: .origin, über: 3)
        #expect(try MacroShop.Action(wireBytes: action.wireBytes()) == action)
    }
}
