import ReactorCore
import Testing

@Suite("AsyncLoad")
struct AsyncLoadTests {
    private typealias Load = AsyncLoad<[String], LoadError>

    private struct Broken: Error {}

    @Test("F60: loads are equal if their payloads are")
    func equality() {
        #expect(Load.loaded(["a"]) == .loaded(["a"]) && Load.loaded(["a"]) != .loaded(["b"]))
        #expect(Load.none != .loading && Load.loading == .loading)
        let missing = LoadError(code: "notFound", message: "no such profile")
        #expect(Load.failed(missing) != .failed(LoadError(code: "busy", message: "later")))
        #expect(Set<Load>([.none, .none, .loaded(["a"])]).count == 2)
    }

    @Test("F60: the item and the failure of a load are properties")
    func reading() {
        let error = LoadError(code: "busy", message: "later")
        #expect(Load.loading.isLoading && !Load.none.isLoading)
        #expect(Load.loaded(["a"]).item == ["a"] && Load.failed(error).item == nil)
        #expect(Load.failed(error).failure == error && Load.none.failure == nil)
    }

    @Test("F60: every case is encoded, with an error of any type as its description")
    func coding() throws {
        let loads: [Load] = [.none, .loading, .loaded(["a"]), .failed(LoadError(Broken()))]
        for load in loads { #expect(try Load(wireBytes: load.wireBytes()) == load) }
        #expect(try WireValue(encoding: loads[2]) == ["loaded": ["a"]])
        #expect(LoadError(Broken()) == LoadError(code: "Broken", message: "Broken()"))
        let known = LoadError(code: "busy", message: "later")
        #expect(LoadError(known as any Error) == known && "\(known)" == "busy: later")
    }
}
