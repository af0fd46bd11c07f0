import Testing

/// Every import is allowed by the plan.
struct ImportTests {
    /// Imports in `file` that its target may not have.
    static func findings(in file: SourceFile) -> [Finding] {
        guard let room = Plan.room(file.room) else {
            return [file.finding(at: 0, "no room of the plan holds this file", remedy: "move it")]
        }
        return file.declarations.compactMap { declaration in
            guard declaration.kind == .module, !room.importable.contains(declaration.name) else {
                return nil
            }
            return file.finding(
                at: declaration.line, "\(room.name) must not know \(declaration.name)",
                remedy: "move the code to a room that may, or change the plan with its reason")
        }
    }

    @Test(
        "every target imports only modules that the plan allows", arguments: Plan.rooms.map(\.name))
    func imports(room: String) {
        let files = Repository.current.files(in: "Sources").filter { $0.room == room }
        expectNone(files.flatMap(Self.findings))
    }

    @Test("every file of Sources belongs to a target")
    func strays() {
        for file in Repository.current.files(in: "Sources") {
            #expect(Plan.room(file.room) != nil, "\(file.path) lies in no room of the plan")
        }
    }

    @Test(
        "F84: only ReactorLoop imports CLibUV, and the pure targets never import Foundation or a UI"
    )
    func pureRooms() {
        let speakers = Plan.rooms.filter { $0.rooms.contains("CLibUV") }.map(\.name)
        #expect(speakers == ["ReactorLoop"])
        let pure: Set = [
            "ReactorWire", "ReactorCore", "ReactorServer", "ReactorCluster", "StockReactors",
        ]
        for room in Plan.rooms where pure.contains(room.name) {
            #expect(room.system.isEmpty, "\(room.name) is pure and knows no system module")
        }
    }

    @Test(
        "a forbidden import is found in every form it can take",
        arguments: [
            "import Foundation", "public import ReactorServer", "@testable import ReactorLoop",
            "internal import struct Foundation.URL", "  @preconcurrency import Glibc",
        ])
    func planted(line: String) {
        let file = SourceFile(
            path: "Sources/ReactorCore/Planted.swift",
            text: "public import ReactorWire\n// import CLibUV\n\(line)\n")
        #expect(Self.findings(in: file).map(\.line) == [3])
    }
}
