import ReactorCore
import Testing

@Reactor
private struct Scale {
    let factor: Int

    init(factor: Int = 3) { self.factor = factor }

    enum Action { case weigh(Int) }
    struct State: Equatable { var weight = 0 }

    func reduce(state: inout State, mutation: Action) {
        if case .weigh(let weight) = mutation { state.weight += weight * factor }
    }
}

@Reactor
private struct Tailored {
    let factor: Int

    static func makeForMirror() -> Tailored { Tailored(factor: 7) }

    enum Action { case weigh(Int) }
    struct State: Equatable { var weight = 0 }
}

@Reactor
private struct Rigid {
    let factor: Int

    enum Action { case weigh(Int) }
    struct State: Equatable { var weight = 0 }
}

@Suite("MirrorableReactor")
struct MirrorableReactorTests {
    private func make<R: MirrorableReactor>(_ type: R.Type) -> R { R.makeForMirror() }

    @Test("an initializer with default values for all parameters creates the instance")
    func defaults() {
        let scale = make(Scale.self)
        var state = scale.initialState
        scale.reduce(state: &state, mutation: .weigh(2))
        #expect(state.weight == 6)
    }

    @Test("an author's own factory is used")
    func own() {
        #expect(make(Tailored.self).factor == 7)
    }

    @Test("a reactor that needs arguments is not mirrorable; a class and a generic type may be")
    func others() {
        let types: [any Reactor.Type] = [Rigid.self, House.self, Holder<Int>.self]
        #expect(types.map { $0 is any MirrorableReactor.Type } == [false, true, true])
    }
}
