import ReactorCore
import Testing

@Suite("AsyncLoad as text")
struct AsyncLoadTextTests {
    private typealias Load = AsyncLoad<Int, LoadError>

    @Test("F77: each state of a load has its text")
    func text() {
        let loads: [Load] = [
            .none, .loading, .loaded(7), .failed(LoadError(code: "gone", message: "no such page")),
        ]
        #expect(
            loads.map { $0.text { "\($0) pages" } } == [
                "", "…", "7 pages", "failed: gone: no such page",
            ])
        #expect(
            loads.map { $0.text(none: "-", loading: "wait", failed: \.code) { "\($0)" } } == [
                "-", "wait", "7", "gone",
            ])
    }
}
