import Testing

@testable import ReactorWire

@WireCodable
private struct VersionedCrate<Value: WireCodable> {
    static var wireVersion: Int { 2 }
    static var wireMigrations: WireMigrations { .from(1) { _ in } }
    var value: Value
}

@WireCodable
private struct VersionedCrates {
    var first: VersionedCrate<Int>
    var second: [VersionedCrate<VersionedCrate<String>>]
}

@WireCodable
private struct Gap {
    static let wireVersion = 1 + 3
    static let wireMigrations = WireMigrations.from(1) { _ in }.from(3) { _ in }
    var value: Int
}

@WireCodable
private struct Owner {
    static var wireMigrations: WireMigrations { .formerly("Gone", "VersionedCrates") }
    static var wireVersion: Int { 1 }
    var boxes: VersionedCrates
    var gap: Gap?
}

@Suite("Versions of types")
struct VersionedTypesTests {
    private func record(_ name: String, version: Int) -> WireSchema {
        .record(WireSchema.Record(name: name, fields: [], version: version))
    }

    @Test("the version is in the schema, and its encoding has it only above 1")
    func encoding() throws {
        guard case .record(let box) = VersionedCrate<Int>.wireSchema else {
            Issue.record("a struct is a record")
            return
        }
        #expect(box.version == 2)
        let plain = WireSchema.Record(name: "VersionedCrate", fields: box.fields)
        #expect(!WireSchema.record(plain).json.contains("version"))
        let value = try WireValue(encoding: VersionedCrate<Int>.wireSchema)
        #expect(value["record"]?["version"] == 2)
        #expect(
            try WireSchema(wireBytes: VersionedCrate<Int>.wireSchema.wireBytes())
                == VersionedCrate<Int>.wireSchema)
        let choice = WireSchema.choice(.init(name: "C", cases: [], version: 3))
        #expect(try WireSchema(wireBytes: choice.wireBytes()) == choice)
        #expect(WireSchema.choice(.init(name: "C", cases: [])).fingerprint != choice.fingerprint)
        #expect(WireSchema.record(plain).fingerprint != VersionedCrate<Int>.wireSchema.fingerprint)
    }

    @Test("instances of one generic type have one chain")
    func generic() {
        let types = VersionedTypes(in: [VersionedCrates.wireSchema])
        #expect(types.problems.isEmpty)
        #expect(types.find("VersionedCrate")?.version == 2)
        #expect(types.find("VersionedCrates")?.version == 1)
        #expect(types.firstWithVersion == "VersionedCrate")
        #expect(VersionedTypes(in: [Int.wireSchema]).firstWithVersion == nil)
    }

    @Test("mistakes in chains and names are reported, each once")
    func problems() {
        let types = VersionedTypes(in: [Owner.wireSchema, Owner.wireSchema])
        #expect(
            types.problems == [
                "Gap has a step from version 3, and none from 2 before it: add `.from(2)`, or remove "
                    + "the steps before the gap",
                "VersionedCrates is the name of a type and a former name of Owner: give the new type another "
                    + "name",
            ])
        #expect(types.find("Gone")?.name == "Owner")
    }

    @Test("two types of one name are a problem if one of them has a version")
    func ambiguous() {
        let types = VersionedTypes(in: [record("A", version: 1), .array(record("A", version: 2))])
        #expect(
            types.problems.first == "A is the name of two types, of version 1 and 2: stored values "
                + "cannot tell them apart, so rename one of them")
        let plain = [record("A", version: 1), record("A", version: 1)]
        #expect(VersionedTypes(in: plain).problems.isEmpty)
    }
}

extension WireSchema {
    fileprivate var json: String { (try? WireValue(encoding: self).json()) ?? "" }
}
