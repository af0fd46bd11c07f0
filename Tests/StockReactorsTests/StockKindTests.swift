import Foundation
import ReactorCore
import StockReactors
import Testing

@Suite("StockKind")
struct StockKindTests {
    @Test("every kind makes a reactor with documentation of itself, its actions and its state")
    func documentation() throws {
        for kind in StockKind.allCases {
            let tree = Tree(ReactorGroup([(WireKey(kind.rawValue), kind.make())]), epoch: 1)
            let node = try #require(tree.node(at: SlicePath([WireKey(kind.rawValue)])))
            #expect(!node.documentation.isEmpty, "\(kind)")
            guard case .choice(let action) = node.actionSchema,
                case .record(let state) = node.stateSchema
            else {
                Issue.record("\(kind): actions are no choice or the state is no record")
                continue
            }
            #expect(action.cases.allSatisfy { !$0.doc.isEmpty }, "\(kind)")
            #expect(state.fields.allSatisfy { !$0.doc.isEmpty }, "\(kind)")
        }
    }

    // [WIRE-14-1]
    @Test("the wire format's article names every mutation of every kind, and no other")
    func article() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Sources/ReactorWire/ReactorWire.docc/WireFormat.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        var expected: Set<String> = []
        for kind in StockKind.allCases {
            let tree = Tree(ReactorGroup([("a", kind.make())]), epoch: 1)
            let node = try #require(tree.node(at: SlicePath("/a")))
            guard case .choice(let mutation) = node.mutationSchema else { continue }
            for item in mutation.cases { expected.insert("| \(kind) | `\(item.name)` |") }
        }
        #expect(expected.count > 20)
        let rows = text.split(separator: "\n").filter { line in
            StockKind.allCases.contains { line.hasPrefix("| \($0) | `") }
        }
        let told = rows.map { $0.split(separator: "|").prefix(2).joined(separator: "|") }
        #expect(Set(told.map { "|\($0)|" }) == expected && told.count == expected.count)
    }

    @Test("a kind with a capacity uses the given one")
    func capacity() {
        for kind in StockKind.allCases {
            guard let capacity = kind.capacity else { continue }
            #expect(capacity.range.contains(capacity.fallback), "\(kind)")
            #expect(capacity.range.lowerBound == 1, "\(kind)")
        }
        #expect((StockKind.list.make(capacity: 3) as? List)?.capacity == 3)
        #expect((StockKind.list.make() as? List)?.capacity == List.capacityDefault)
        #expect(StockKind.counter.capacity == nil)
    }

    @Test("every kind can be mirrored by its type")
    func mirrorable() throws {
        for kind in StockKind.allCases {
            let made = kind.make()
            let type = try #require(type(of: made) as? any MirrorableReactor.Type, "\(kind)")
            #expect(stateBytes(of: type.makeForMirror()) == stateBytes(of: made), "\(kind)")
        }
    }

    private func stateBytes(of reactor: some Reactor) -> [UInt8] {
        reactor.initialState.wireBytes()
    }
}
