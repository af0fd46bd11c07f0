import Yams

/// Says what the YAML parser refuses, in one line with its place and a remedy where one is known.
enum ConfigSyntax {
    /// The problem behind an error that the parser threw while it read `text`.
    static func problem(for error: any Error, in text: String, file: String) -> ConfigProblem {
        guard let error = error as? YamlError else {
            return ConfigProblem("not YAML: \(error)", at: ConfigPlace(file: file))
        }
        switch error {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return ConfigProblem(
                reason(problem, context: context, at: mark, in: text),
                at: ConfigPlace(file: file, line: mark.line, column: mark.column))
        case .duplicatedKeysInMapping(let names, let context):
            let keys = names.map(ConfigProblem.quoted).joined(separator: ", ")
            return ConfigProblem(
                "key \(keys) stands twice in one mapping, the first time here; keep one",
                at: ConfigPlace(
                    file: file, line: context.mark.line, column: context.mark.column))
        case .reader(let problem, let offset, let value, _):
            return ConfigProblem(
                "\(problem), got U+\(String(value, radix: 16, uppercase: true))",
                at: place(ofCharacter: offset, in: text, file: file))
        default:
            return ConfigProblem("not YAML: \(error)", at: ConfigPlace(file: file))
        }
    }

    private static func reason(
        _ problem: String, context: YamlError.Context?, at mark: Mark, in text: String
    ) -> String {
        if character(at: mark, in: text) == "\t" {
            return "a tab cannot indent YAML, use spaces"
        }
        var reason = "not YAML: \(problem)"
        if let context { reason += ", \(context.text) that began in line \(context.mark.line)" }
        return reason
    }

    private static func character(at mark: Mark, in text: String) -> Unicode.Scalar? {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }

    private static func place(
        ofCharacter offset: Int?, in text: String, file: String
    ) -> ConfigPlace {
        guard let offset else { return ConfigPlace(file: file) }
        let lines = text.prefix(offset).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return ConfigPlace(file: file, line: lines.count, column: (lines.last?.count ?? 0) + 1)
    }
}
