import Foundation
import Testing

/// Prints the figures of the rules: `REACTORD_SURVEY=1 swift test --filter SurveyTests`.
struct SurveyTests {
    @Test("the survey contains every file of Sources, and its report the lines of each type")
    func report() {
        let survey = Survey.current
        let files = Repository.current.files(in: "Sources")
        #expect(survey.rooms.values.map(\.count).reduce(0, +) == files.count)
        let report = SurveyReport(survey, Manifest(Repository.text(at: "Package.swift")))
        #expect(report.types.contains("ReactorWire") && report.close.contains("storedProperties"))
        guard ProcessInfo.processInfo.environment["REACTORD_SURVEY"] != nil else { return }
        let text = [report.types, report.cycles, report.products, report.close]
        FileHandle.standardOutput.write(Data(text.joined(separator: "\n").utf8))
    }

    @Test("a type's row sums its declaration and its extensions, and nothing else")
    func rows() {
        let texts = [
            "public struct A: ~Copyable {\n    private var a = 0\n    var b = 0\n"
                + "    public func c() {}\n}\n",
            "extension A {\n    init() {}\n    struct B { let d = 0 }\n}\n",
        ]
        let files = texts.enumerated().map { number, text in
            SourceFile(path: "Sources/ReactorWire/F\(number).swift", text: text)
        }
        let manifest = Manifest(Repository.text(at: "Package.swift"))
        let report = SurveyReport(Survey(files), manifest, rowLinesMin: 0)
        let rows = report.types.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(rows.contains("ReactorWire A 2 1 2 2 9"))
        #expect(rows.contains("ReactorWire A.B 1 1 0 1 1"))
        #expect(report.products.contains("ReactorWire"))
    }
}
