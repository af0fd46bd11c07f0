import Foundation

/// Runs programs under callgrind, and reads the number of instructions that they executed in user
/// space.
///
/// The count includes all threads, and does not vary with the machine's load.
struct Callgrind {
    /// The directory for the profiles of the runs.
    let directory: String

    /// Returns the command line that runs `command` under callgrind; its profile is named
    /// `profile`.
    func command(_ command: [String], profile: String) -> [String] {
        ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=\(path(profile))"]
            + command
    }

    /// Returns the number of instructions of the program with this profile.
    func instructions(profile: String) throws -> Double {
        let text = try String(contentsOfFile: path(profile), encoding: .utf8)
        let line = text.split(separator: "\n").last { $0.hasPrefix("totals:") }
        guard let words = line?.split(separator: " "), words.count == 2,
            let count = Double(words[1])
        else { throw LoadError("\(path(profile)): expected a line 'totals: N'") }
        return count
    }

    private func path(_ profile: String) -> String { "\(directory)/\(profile).callgrind" }
}

/// Two run lengths whose difference is counted: starts, ends and first uses are in both.
///
/// Work that is done once per a number of actions is done equally often in each difference, which
/// is a multiple of 1,024.
struct RunLengths {
    let short: Int
    let long: Int

    static let actions = RunLengths(short: 4_096, long: 12_288)
    static let fanOut = RunLengths(short: 1_024, long: 2_048)

    /// Returns the instructions per unit of the difference, with `each` units per action.
    func perUnit(each units: Int = 1, _ run: (_ length: Int, _ profile: String) throws -> Double)
        throws -> Double
    {
        let difference = try run(long, "long") - run(short, "short")
        return difference / Double((long - short) * units)
    }
}
