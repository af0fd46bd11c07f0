import Foundation
import ReactorCore

// No file of this folder imports ReactorFoundation.

@Reactor
struct Diary {
    enum Action {
        case open(Date)  // expect: `WireCodable: import ReactorFoundation`
        case move(Int, Undoable<Date>)  // expect: `WireCodable: import ReactorFoundation`
        case file(at: [URL]?)  // expect: `WireCodable: import ReactorFoundation`
    }
    enum Mutation { case filed([UUID: Int]) }  // expect: `WireMapKey: import ReactorFoundation`
    struct State {
        var due: Date  // expect: 'Date' does not conform to protocol '`WireCodable: import
        var id = UUID()  // expect: 'UUID' does not conform to protocol '`WireCodable: import
        var blob = Data()  // expect: 'Data' does not conform to protocol '`WireCodable: import
        var page: Foundation.URL?  // expect: 'URL' does not conform to protocol '`WireCodable:
        var undo: Undoable<Date>  // expect: `WireCodable: import ReactorFoundation`
        var load: AsyncLoad<Date, LoadError> = .none  // expect: `WireCodable: import
        var byPage: [URL: Int] = [:]  // expect: `WireMapKey: declare it, or use String, WireKey
        var byName: [String: [URL?]] = [:]  // expect: `WireCodable: import ReactorFoundation`
        var byID: [UUID: Int] = [:]  // expect: `WireMapKey: import ReactorFoundation`
        var days: Set<Date> = []  // expect: `WireCodable: import ReactorFoundation`
    }
    var initialState: State

    func mutate(action: Action) -> Mutations<Mutation> { .none }
    func reduce(state: inout State, mutation: Mutation) {}
}

@WireCodable
struct Ledger {
    var entries: Keyed<UUID, Int>  // expect: `WireMapKey: import || 'KeyedKey'
}
