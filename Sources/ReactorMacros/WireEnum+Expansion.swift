/// The members that make an enum codable.
struct EnumExpansion {
    var type: WireType
    var cases: [WireCase]

    var members: [Lines] {
        var members = [encode, decode, reach, indexMember, namesMember]
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
        return members + [schemaMember(type, "choice", "cases", schemaCases)]
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
        case .single: writer.value("value0")
        case .tuple(let values):
            writer.constant(cborHead(major: 4, values.count), "[")
            for place in values.indices { writer.value("value\(place)") }
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
                // because the only case always matches, which the compiler would warn of
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
        case .single: return ["return value0.encode(at: path.dropFirst(), into: &writer)"]
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
        cases += ["default:", "    throw cursor.unknownCase(choice, known: Self._wireCases, in: bytes)"]
        cases.append("}")
        let body = ["let choice = try cursor.openChoice(in: bytes)", "let value: Self"]
            + block("do throws(WireError)", cases).dropLast()
            + ["} catch {", "    throw bytes.error(error, inside: choice)", "}"]
            + ["try cursor.close(choice, in: bytes)", "return value"]
        return decodeMember(type, body)
    }

    private func decodePayload(_ index: Int) -> Lines {
        let item = cases[index]
        let expected = ["try cursor.expectPayload(of: choice)"]
        switch item.payload {
        case .none:
            return ["try cursor.emptyPayload(of: choice, in: bytes)", "value = .\(item.identifier)"]
        case .single(let value):
            return expected
                + ["value = .\(item.identifier)(try \(value.typeBase).decode(bytes, &cursor))"]
        case .tuple, .record:
            return expected + ["value = try Self._wireDecode_\(index)(bytes, &cursor)"]
        }
    }

    private func tupleDecode(_ index: Int, _ values: [WireField]) -> Lines {
        let elements = values.enumerated().map { place, value in
            "let value\(place) = try cursor.element(\(value.typeBase).self, \(place), "
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
        let arguments = record.fields.enumerated().map { place, field in
            "\(field.identifier): \(record.decoded(place))"
        }
        let call = "return .\(cases[index].identifier)("
        let list = arguments.dropLast().map { $0 + "," } + [arguments[arguments.count - 1]]
        return payloadMember(
            index,
            record.decode
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
            var arguments = "name: \(stringLiteral(item.name.text)), payload: "
            switch item.payload {
            case .none: arguments += ".none"
            case .single(let value): arguments += ".single(\(value.typeBase).wireSchema)"
            case .tuple(let values):
                let list = values.map { "\($0.typeBase).wireSchema" }.joined(separator: ", ")
                arguments += ".tuple([\(list)])"
            case .record(let values):
                let list = record(index, values).schemaFields.joined(separator: " ").dropLast()
                arguments += ".record([\(list)])"
            }
            if !item.doc.isEmpty { arguments += ", doc: \(stringLiteral(item.doc))" }
            if !item.aliases.isEmpty {
                arguments += ", aliases: \(stringArrayLiteral(item.aliases.map(\.text)))"
            }
            return ["WireSchema.Case(\(arguments)),"]
        }
    }
}
