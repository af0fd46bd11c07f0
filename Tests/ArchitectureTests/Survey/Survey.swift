import Dispatch
import Synchronization

/// All files of `Sources`, parsed once.
struct Survey: Sendable {
    /// The files of each target, sorted by path.
    let rooms: [String: [ParsedFile]]

    static let current = Survey(Repository.current.files(in: "Sources"))

    /// Parses files, on all cores.
    init(_ files: [SourceFile]) {
        let parsed = Mutex<[ParsedFile]>([])
        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            let file = FileParser.parse(files[index])
            parsed.withLock { $0.append(file) }
        }
        let all = parsed.withLock { $0 }.sorted { $0.file.path < $1.file.path }
        rooms = Dictionary(grouping: all, by: \.file.room)
    }

    /// The figures that `measure` returns for each target, in the order of the targets' names.
    func figures(_ measure: ([ParsedFile]) -> [Figure]) -> [Figure] {
        rooms.sorted { $0.key < $1.key }.flatMap { measure($0.value) }
    }

    /// The figures of all measures, in the order of the rules.
    var allFigures: [Figure] {
        let measures: [([ParsedFile]) -> [Figure]] = [
            SpreadTests.figures, SpreadTests.blockFigures, StateTests.figures, CycleTests.figures,
            MeaningTests.figures,
            LengthTests.shortFileFigures,
        ]
        let tests = SubjectTests.names(in: Repository.current.files(in: "Tests"))
        return measures.flatMap(figures) + figures { SubjectTests.figures(in: $0, named: tests) }
    }
}
