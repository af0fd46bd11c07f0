import ReactorWire

extension ReactorSpec {
    /// Keys under a reactor's name that are never options.
    private static let reserved = ["kind", "children"]

    /// Reads the reactors of a `reactors:` or `children:` section.
    static func read(
        _ section: ConfigSection, problems: inout [ConfigProblem]
    ) -> [ReactorSpec] {
        var specs: [ReactorSpec] = []
        for entry in section.entries {
            do throws(ConfigProblem) {
                specs.append(
                    try ReactorSpec(entry, in: section.document, problems: &problems))
            } catch {
                problems.append(error)
            }
        }
        return specs
    }

    private init(
        _ entry: ConfigSection.Entry, in document: ConfigDocument,
        problems: inout [ConfigProblem]
    ) throws(ConfigProblem) {
        if let refusal = Self.refusal(ofName: entry.name) {
            throw ConfigProblem(refusal, key: entry.key, at: entry.location)
        }
        let section = try ConfigSection(
            entry, in: document, expected: "`kind:` with options, or `children:`")
        self.init(name: entry.name, kind: nil)
        mark = entry.location
        kindMark = entry.location
        key = entry.key
        for entry in section.entries {
            do throws(ConfigProblem) {
                try read(entry, in: document, problems: &problems)
            } catch {
                problems.append(error)
            }
        }
        try checkKind(in: section)
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, in document: ConfigDocument,
        problems: inout [ConfigProblem]
    ) throws(ConfigProblem) {
        switch entry.name {
        case "kind":
            kind = try ConfigScalar(entry, in: document).text(
                expected: "the name of a kind such as counter")
            kindMark = document.location(of: entry.value)
        case "children":
            let section = try ConfigSection(
                entry, in: document, expected: "a mapping of names to reactors")
            children = Self.read(section, problems: &problems)
        default:
            options[entry.name] = try ConfigValue.value(
                of: entry.value, key: entry.key, in: document)
            optionMarks[entry.name] = entry.location
        }
    }

    private func checkKind(in section: ConfigSection) throws(ConfigProblem) {
        let names = section.entries.map(\.name)
        let children = section.entries.first { $0.name == "children" }
        if names.contains("kind"), let children {
            throw ConfigProblem(
                "expected `kind:` or `children:`, got both; a kind brings its own children",
                key: key, at: children.location)
        }
        guard kind == nil, !names.contains("kind") else { return }
        guard names.contains("children") else {
            let slip = names.lazy.compactMap { name in
                NearestName.of(name, among: Self.reserved).map { nearest in
                    "; did you mean \(nearest) by \(name)?"
                }
            }.first
            throw ConfigProblem(
                "expected `kind:` or `children:`, got neither\(slip ?? "")", key: key, at: mark)
        }
        if let option = section.entries.first(where: { options[$0.name] != nil }) {
            throw .unknown(
                "key", option.name, known: Self.reserved, key: key, at: option.location)
        }
    }
}
