/// The members that make an enum codable.
struct EnumExpansion {
    var type: WireType
    var cases: [WireCase]

    var members: [Lines] {
        if cases.isEmpty { return emptyMembers }
        let gates = cases.flatMap(\.values).compactMap(\.gate)
        var members = gates.flatMap { $0.members(access: type.access) }
        members += [encode, decode, reach, indexMember, namesMember]
        for index in cases.indices {
            switch cases[index].payload {
            case .none, .single: break
            case .tuple(let values): members.append(tupleDecode(index, values))
            case .record(let values):
                let record = record(index, values)
                members += [recordDecode(index, record), record.indexMember]
                members += record.defaultMembers
            }
        }
        let secrets = cases.filter(\.isSecret).map(\.name)
        return members + internalMembers + secretMembers(type, secrets)
            + [schemaMember(type, "choice", schemaCases)]
    }

    /// The members that tell the cases that only the daemon sends.
    private var internalMembers: [Lines] {
        let hidden = cases.filter(\.isInternal)
        guard !hidden.isEmpty else { return [] }
        let patterns = hidden.map { ".\($0.identifier)" }.joined(separator: ", ")
        return [
            block(
                "\(type.access.hot)var isWireInternal: Swift.Bool",
                hidden.count == cases.count
                    ? ["true"]
                    : ["switch self {", "case \(patterns): true", "default: false", "}"]),
            block(
                "\(type.access.modifier)static var wireInternalCases: [Swift.String]",
                [stringArrayLiteral(hidden.map(\.name.text))]),
        ]
    }

    /// The members of an enum without a case: the actions of a reactor that takes none.
    private var emptyMembers: [Lines] {
        let reason = stringLiteral("\(type.name) has no cases, so no value is possible")
        return [
            block(
                "\(type.access.hot)func encode(into writer: inout WireWriter)",
                ["switch self {", "}"]),
            decodeMember(
                type, ["throw WireError(.refused(\(reason)), at: cursor.offset)"]),
            schemaMember(type, "choice", []),
        ]
    }

    private func record(_ index: Int, _ values: [WireField]) -> RecordExpansion {
        RecordExpansion(fields: values, suffix: "_\(index)", access: type.access)
    }

    private var indexMember: Lines {
        nameIndexMember(
            "_wireIndex", cases.map { [$0.name] + $0.aliases }, access: type.access)
    }

    private var namesMember: Lines {
        block(
            "\(type.access.supportOpaque)static var _wireCases: [Swift.String]",
            [stringArrayLiteral(cases.map(\.name.text))])
    }

    /// `.move(let value0, let value1)`.
    private func pattern(_ item: WireCase) -> String {
        let names = item.values.indices.map { "let value\($0)" }
        return ".\(item.identifier)" + (names.isEmpty ? "" : "(\(names.joined(separator: ", ")))")
    }
}

// MARK: - Encoding
extension EnumExpansion {
    private var encode: Lines {
        var body: Lines = ["switch self {"]
        for (index, item) in cases.enumerated() {
            var writer = ConstantWriter()
            writer.constant(cborHead(major: 5, 1), "{")
            writer.key(item.name)
            encodePayload(index, to: &writer)
            writer.flush()
            body += ["case \(pattern(item)):"] + writer.lines.indented
        }
        return block(
            "\(type.access.hot)func encode(into writer: inout WireWriter)\(type.whereClause)",
            body + ["}"])
    }

    private func encodePayload(_ index: Int, to writer: inout ConstantWriter) {
        switch cases[index].payload {
        case .none: writer.constant(cborHead(major: 5, 0), "{}")
        case .single(let value): writer.value(value.formed("value0"))
        case .tuple(let values):
            writer.constant(cborHead(major: 4, values.count), "[")
            for place in values.indices { writer.value(values[place].formed("value\(place)")) }
        case .record(let values):
            record(index, values).encode(to: &writer) { "value\($0)" }
        }
    }

    private var reach: Lines {
        var body: Lines = block(
            "guard let name = path.first else", ["encode(into: &writer)", "return .found"])
        body.append("switch name {")
        for (index, item) in cases.enumerated() {
            body.append("case \(stringLiteral(item.name.text)):")
            if cases.count > 1 {
                body.append("    guard case \(pattern(item)) = self else { return .absent }")
            } else if !item.values.isEmpty {
                // A `guard case` would not do: a single case always matches, and the compiler would
                // warn.
                body.append("    switch self { case \(pattern(item)):")
            }
            body += reachPayload(index).indented
            if cases.count == 1, !item.values.isEmpty { body.append("    }") }
        }
        return reachMember(type, body + ["default:", "    return .impossible", "}"])
    }

    private func reachPayload(_ index: Int) -> Lines {
        var writer = ConstantWriter()
        encodePayload(index, to: &writer)
        writer.flush()
        let whole = writer.lines + ["return .found"]
        let step = ["let path = path.dropFirst()"]
        switch cases[index].payload {
        case .none: return ["guard path.count == 1 else { return .impossible }"] + whole
        case .single(let value):
            let value = value.formed("value0")
            return ["return \(value).encode(at: path.dropFirst(), into: &writer)"]
        case .tuple(let values):
            let record = record(index, values)
            return step + block("guard let key = path.first else", whole)
                + record.reach { "value\($0)" }
        case .record(let values):
            let record = record(index, values)
            return step + block("guard let key = path.first else", whole)
                + record.reach { "value\($0)" }
        }
    }
}

// MARK: - Decoding
extension EnumExpansion {
    private var decode: Lines {
        var cases: Lines = ["switch Self._wireIndex(of: choice.name, in: bytes) {"]
        for index in self.cases.indices {
            cases.append("case \(index):  // \(self.cases[index].name.text)")
            cases += decodePayload(index).indented
        }
        cases += [
            "default:",
            "    throw cursor.unknownCase(choice, known: Self._wireCases, in: bytes)", "}",
        ]
        let body =
            expected + ["let choice = try cursor.openChoice(in: bytes)", "let value: Self"]
            + block("do throws(WireError)", cases).dropLast()
            + ["} catch {", "    throw bytes.error(error, inside: choice)", "}"]
            + ["try cursor.close(choice, in: bytes)", "return value"]
        return decodeMember(type, body)
    }

    /// Statements that return a case if the next bytes have the form that the encoder writes for
    /// it.
    private var expected: Lines {
        var byHead: [UInt8: Lines] = [:]
        for index in cases.indices {
            guard let (prefix, values) = expected(index), let takes = takesCall(prefix) else {
                continue
            }
            let result = ".\(cases[index].identifier)"
            byHead[prefix[1], default: []] +=
                condition([takes], note: cases[index].name.text)
                + (values.isEmpty
                ? ["return \(result)"]
                : ["return \(result)("] + values.indented + [")"]).indented + ["}"]
        }
        guard !byHead.isEmpty else { return [] }
        var lines: Lines = [
            "// the bytes that we write ourselves", "switch cursor.choiceHead(in: bytes) {",
        ]
        for head in byHead.keys.sorted() {
            lines.append("case 0x\(String(head, radix: 16)):")
            lines += byHead[head, default: []].indented
        }
        return lines + ["default: break", "}", "// any other well-formed bytes"]
    }

    /// The constant bytes before the first value of a case, and the values after them; `nil` if
    /// another key would follow a value.
    private func expected(_ index: Int) -> (prefix: [UInt8], values: Lines)? {
        let item = cases[index]
        let head = cborHead(major: 5, 1) + item.name.item
        let name = stringLiteral(item.name.text)
        func read(_ value: WireField, _ inner: String = "") -> String {
            "try cursor.expected(\(value.form).self, inside: \(name)\(inner), in: bytes)"
        }
        switch item.payload {
        case .none: return (head + cborHead(major: 5, 0), [])
        case .single(let value): return (head, [read(value)])
        case .tuple(let values):
            let list = values.enumerated().map { place, value in
                read(value, ", \"\(place)\"") + (place == values.count - 1 ? "" : ",")
            }
            return (head + cborHead(major: 4, values.count), list)
        case .record(let values):
            guard values.count == 1 else { return nil }
            let label = stringLiteral(values[0].name.text)
            return (
                head + cborHead(major: 5, 1) + values[0].name.item,
                ["\(values[0].identifier): \(read(values[0], ", " + label))"]
            )
        }
    }

    private func decodePayload(_ index: Int) -> Lines {
        let item = cases[index]
        let expected = ["try cursor.expectPayload(of: choice)"]
        switch item.payload {
        case .none:
            return [
                "try cursor.emptyPayload(of: choice, in: bytes)", "value = .\(item.identifier)",
            ]
        case .single(let value):
            return expected
                + ["value = .\(item.identifier)(try \(value.form).decode(bytes, &cursor))"]
        case .tuple, .record:
            return expected + ["value = try Self._wireDecode_\(index)(bytes, &cursor)"]
        }
    }

    private func tupleDecode(_ index: Int, _ values: [WireField]) -> Lines {
        let elements = values.enumerated().map { place, value in
            "let value\(place) = try cursor.element(\(value.form).self, \(place), "
                + "of: \(values.count), in: bytes, &items)"
        }
        let names = values.indices.map { "value\($0)" }.joined(separator: ", ")
        return payloadMember(
            index,
            ["var items = try cursor.openArray(in: bytes)"] + elements + [
                "try cursor.closeElements(of: \(values.count), in: bytes, &items)",
                "return .\(cases[index].identifier)(\(names))",
            ])
    }

    private func recordDecode(_ index: Int, _ record: RecordExpansion) -> Lines {
        let (statements, values) = record.settled
        let arguments = zip(record.fields, values).map { "\($0.identifier): \($1)" }
        let call = "return .\(cases[index].identifier)("
        let list = arguments.dropLast().map { $0 + "," } + [arguments[arguments.count - 1]]
        return payloadMember(
            index,
            record.decode + statements
                + (list.count == 1 ? [call + list[0] + ")"] : [call] + list.indented + [")"]))
    }

    private func payloadMember(_ index: Int, _ body: Lines) -> Lines {
        [
            "// the payload of \(cases[index].name.text)",
            "\(type.access.support)static func _wireDecode_\(index)(",
            "    _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor",
        ]
            + block(") throws(WireError) -> Self\(type.whereClause)", body)
    }
}

// MARK: - Schema
extension EnumExpansion {
    private var schemaCases: Lines {
        cases.enumerated().flatMap { index, item -> Lines in
            var notes = ""
            if !item.doc.isEmpty { notes += ", doc: \(stringLiteral(item.doc))" }
            if !item.aliases.isEmpty {
                notes += ", aliases: \(stringArrayLiteral(item.aliases.map(\.text)))"
            }
            let start = "WireSchema.Case(name: \(stringLiteral(item.name.text)), payload: "
            switch item.payload {
            case .none: return ["\(start).none\(notes)),"]
            case .single(let value):
                return ["\(start).single(\(value.form).wireSchema)\(notes)),"]
            case .tuple(let values):
                let list = values.map { "\($0.form).wireSchema," }
                return ["\(start).tuple(["] + list.indented + ["])\(notes)),"]
            case .record(let values):
                let list = record(index, values).schemaFields
                return ["\(start).record(["] + list.indented + ["])\(notes)),"]
            }
        }
    }
}
