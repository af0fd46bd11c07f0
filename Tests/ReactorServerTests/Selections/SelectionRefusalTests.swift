import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Selections that a daemon refuses: ``BoundSelection`` and ``SelectionField``.
@Suite("refused selections")
struct SelectionRefusalTests {
    private func refusal(
        _ selection: Selection, of path: String = "/ships",
        change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> Refusal {
        let (harness, _) = ServerHarness.fleet(["1", "2"], change: change)
        let client = harness.client()
        client.subscribe(path, selecting: selection)
        client.ask(.select(path: path, selection: selection))
        harness.settle()
        let refused = client.frames(.refused)
        #expect(refused.count == 2 && harness.server.memory.slices == 0)
        #expect(try refused.first?.decode(Refusal.self) == refused.last?.decode(Refusal.self))
        return try #require(refused.first).decode(Refusal.self)
    }

    private func condition(
        _ field: [WireKey], _ value: WireValue, by comparison: FieldComparison = .equal
    ) -> Selection {
        Selection(filter: .compare(field: field, by: comparison, with: value))
    }

    // [WIRE-8-15]
    @Test("an unknown field is refused with the nearest name and the fields that exist")
    func unknownField() throws {
        for selection in [
            condition(["crago"], 3, by: .less),
            Selection(order: [SelectionOrder(field: ["crago"])]),
        ] {
            let refusal = try refusal(selection)
            #expect(refusal.code == .path && refusal.nearest == "cargo")
            #expect(refusal.message.contains(#""crago" is no field"#))
            #expect(refusal.message.contains("cargo, speed, name, phase"))
        }
        let nested = try refusal(condition(["hull", "colour"], "red"))
        #expect(nested.nearest == "color" && nested.message.contains("color, isNew"))
        // A node below a child is no part of its own state.
        #expect(try refusal(condition(["log", "title"], "a")).code == .path)
        #expect(try refusal(condition([], 1)).message.contains("empty path"))
    }

    @Test(
        "a value of another type is refused with the field and the type",
        arguments: [
            ("cargo", "many", "a number"), ("name", 3, "text"), ("phase", "docket", "docked"),
            ("wait", "long", "seconds"), ("tags", "x", "null alone"), ("hull", true, "null alone"),
            ("extra", [1], "a number, text"), ("speed", true, "a number"),
        ] as [(String, WireValue, String)])
    func otherType(field: String, value: WireValue, expected: String) throws {
        for selection in [
            condition([WireKey(field)], value),
            Selection(filter: .among(field: [WireKey(field)], values: [.null, value])),
        ] {
            let refusal = try refusal(selection)
            #expect(refusal.code == .decode && refusal.message.contains("\"\(field)\""))
            #expect(refusal.message.contains(expected))
        }
    }

    @Test("a misspelt case is refused with the nearest one")
    func misspeltCase() throws {
        #expect(try refusal(condition(["phase"], "docket")).nearest == "docked")
    }

    @Test("nothing is less than null, and what has no order orders nothing")
    func noOrder() throws {
        #expect(try refusal(condition(["lost"], .null, by: .less)).message.contains("null"))
        let order = Selection(order: [SelectionOrder(field: ["tags"])])
        #expect(try refusal(order).message.contains("no order"))
    }

    @Test("a bound that is no key of the type is refused")
    func bounds() throws {
        for bound in ["x", "1.5", "99999999999999999999999999"] as [WireKey] {
            let refusal = try refusal(Selection(keys: KeyBounds(from: bound)))
            #expect(refusal.code == .decode && refusal.message.contains("integers"))
        }
    }

    @Test("only a collection has children to select")
    func noCollection() throws {
        #expect(try refusal(Selection(first: 1), of: "/").message.contains("no collection"))
        #expect(try refusal(Selection(first: 1), of: "/ships/1").code == .path)
        #expect(try refusal(Selection(first: 1), of: "/ships/1/name").code == .path)
        #expect(try refusal(Selection(first: 1), of: "/ships/7").code == .notFound)
    }

    // MARK: Limits

    @Test("conditions, values, orders and counts beyond their maxima are refused by name")
    func limits() throws {
        var deep = SelectionCondition.compare(field: ["cargo"], by: .equal, with: 1)
        for _ in 0..<WireLimits.selectionDepthMax { deep = .not(deep) }
        let values = (0..<WireLimits.selectionTermsMax).map {
            WireValue.integer(.init(exactly: $0) ?? 0)
        }
        let part = SelectionOrder(field: ["cargo"])
        for (selection, name) in [
            (Selection(filter: deep), "selectionDepthMax"),
            (Selection(filter: .among(field: ["cargo"], values: values)), "selectionTermsMax"),
            (
                Selection(order: Array(repeating: part, count: WireLimits.selectionOrdersMax + 1)),
                "selectionOrdersMax"
            ),
            (Selection(first: UInt64(WireLimits.selectionFirstMax) + 1), "selectionFirstMax"),
            (Selection(first: .max), "selectionFirstMax"),
        ] {
            let refusal = try refusal(selection)
            #expect(refusal.code == .tooLarge && refusal.message.contains(name))
        }
        #expect(try refusal(Selection(first: 0)).message.contains("1 or more"))
    }

    @Test("the number of different selections is limited, of one user and in all, and their bytes")
    func quotas() throws {
        func refusals(
            _ users: [UInt32], change: (inout ServerLimits) -> Void
        ) throws -> [String] {
            let (harness, _) = ServerHarness.fleet(["1"], change: change)
            return try users.enumerated().compactMap { index, uid in
                let client = harness.client(uid: uid)
                client.subscribe("/ships", selecting: Selection(first: UInt64(index / 2 + 1)))
                harness.settle()
                return try client.frames(.refused).first?.decode(Refusal.self).message
            }
        }
        // Two clients share each selection.
        let all = try refusals([1, 2, 3, 4, 5, 6]) { $0.selectionsMax = 2 }
        #expect(all.count == 2 && all.allSatisfy { $0.contains("selectionsMax 2") })
        let own = try refusals([1, 1, 1, 1, 2, 1]) { $0.selectionsPerUIDMax = 1 }
        #expect(own.count == 2 && own.allSatisfy { $0.contains("selectionsPerUIDMax 1") })
        let bytes = try refusals([1, 1, 1, 1]) { $0.selectionBytesMax = 100 }
        #expect(bytes.count == 2 && bytes.allSatisfy { $0.contains("selectionBytesMax 100") })
    }

    @Test("a selection and its mode come together, and no checksum is of a selection")
    func modes() throws {
        let (harness, _) = ServerHarness.fleet(["1"])
        let client = harness.client()
        client.subscribe("/ships", .selection)
        let body = Subscribe(path: "/ships", selection: Selection(first: 1)).wireBytes()
        client.send(.subscribe, number: 9, body)
        client.ask(.checksum(path: "/ships", mode: .selection))
        harness.settle()
        let refused = try client.frames(.refused).map { try $0.decode(Refusal.self) }
        #expect(refused.map(\.code) == [.decode, .decode, .decode])
    }
}
