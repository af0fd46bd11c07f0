/// Where in a configuration file something stands.
public struct ConfigPlace: Hashable, Sendable {
    /// The file's name as the operator gave it.
    public var file: String
    /// Line, from 1; 0 means the file as a whole.
    public var line: Int
    /// Column in characters, from 1; 0 where the line as a whole is meant.
    public var column: Int

    /// A place in a file, or the file as a whole.
    public init(file: String, line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }
}

extension ConfigPlace: CustomStringConvertible {
    /// The form that editors and terminals make a link of: `reactord.yaml:12:5`.
    public var description: String {
        if line == 0 { return file }
        return column == 0 ? "\(file):\(line)" : "\(file):\(line):\(column)"
    }
}
