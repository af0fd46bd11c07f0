import ReactorWire
import Testing

@testable import ReactorCore

/// Also drives ``KeptForms``, and ``HistoryConversions`` without conversions.
@Suite("The schemas of a history")
struct KeptSchemasTests {
    private enum First {}
    private enum Second {}

    private func schema(
        _ reactor: String, _ fingerprint: UInt64, action: WireSchema = .bool
    ) -> KeptSchema {
        KeptSchema(
            reactor: reactor, fingerprint: fingerprint, version: 1, state: .text, mutation: .float,
            action: action)
    }

    @Test("schemas are found by reactor and fingerprint, the last used first")
    func find() {
        let schemas = KeptSchemas()
        #expect(schemas.isEmpty && schemas.find("a", 1) == nil)
        schemas.add(schema("b", 1))
        schemas.add(schema("a", 1))
        schemas.add(schema("a", 2))
        #expect(schemas.find("a", 2) == schema("a", 2) && schemas.find("b", 2) == nil)
        #expect(schemas.all.map(\.reactor) == ["a", "a", "b"])
        schemas.add(schema("a", 1, action: .bytes))
        #expect(schemas.find("a", 1)?.schema(of: .action) == .bytes)
        schemas.add(schema("a", 1))
        #expect(schemas.find("a", 1)?.schema(of: .action) == .bool)
        #expect(schemas.all.count == 4)
    }

    @Test("a type is recorded once, and again after another with the same fingerprint")
    func take() {
        let schemas = KeptSchemas()
        #expect(schemas.take(First.self, schema("a", 1)) == schema("a", 1))
        #expect(schemas.take(First.self, schema("a", 1)) == nil)
        #expect(schemas.take(Second.self, nil) == nil)
        let next = KeptSchemas()
        for schema in schemas.all { next.add(schema) }
        #expect(next.take(First.self, schema("a", 1)) == nil)
        let other = schema("a", 1, action: .bytes)
        #expect(next.take(Second.self, other) == other)
        let last = KeptSchemas()
        for schema in next.all { last.add(schema) }
        #expect(last.take(First.self, schema("a", 1)) == schema("a", 1))
    }

    @Test("the earliest schemas of a reactor are forgotten above the maximum")
    func limit() {
        let schemas = KeptSchemas()
        for print in 0..<UInt64(KeptSchemas.perReactorMax) + 2 { schemas.add(schema("a", print)) }
        #expect(schemas.all.count == KeptSchemas.perReactorMax)
        #expect(schemas.find("a", 1) == nil && schemas.find("a", 2) != nil)
    }

    @Test("a schema is read as it was written, and an unknown form of schemas is no error")
    func coding() throws {
        let written = schema("a", 7)
        let bytes = written.wireBytes()
        let read = try KeptSchema(wireBytes: bytes)
        #expect(read == written && read.schema(of: .state) == .text)
        let map = try #require(try WireValue(wireBytes: bytes).mapValue)
        var strange = map
        strange["state"] = .bytes([0x01])
        let later = try KeptSchema(wireBytes: WireValue.map(strange).wireBytes())
        #expect(later.schema(of: .state) == nil && later.schema(of: .mutation) == .float)
    }
}
