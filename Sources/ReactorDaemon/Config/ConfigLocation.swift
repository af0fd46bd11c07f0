/// A location in a configuration file.
public struct ConfigLocation: Hashable, Sendable {
    /// The file's name as the operator gave it.
    public var file: String
    /// Line, from 1; 0 for the whole file.
    public var line: Int
    /// Column in characters, from 1; 0 for the whole line.
    public var column: Int

    /// Creates a location in a file, by default the whole file.
    package init(file: String, line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }
}

extension ConfigLocation: CustomStringConvertible {
    /// The form that editors and terminals turn into a link: `reactord.yaml:12:5`.
    public var description: String {
        if line == 0 { return file }
        return column == 0 ? "\(file):\(line)" : "\(file):\(line):\(column)"
    }
}
