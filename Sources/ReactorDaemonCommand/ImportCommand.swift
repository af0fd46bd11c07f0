import ArgumentParser
import Foundation
import ReactorDaemon

/// `reactord import`: puts states in the place of those of a history's end.
struct ImportCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "import",
            abstract: "Replace states by those that `reactorctl export` wrote.",
            discussion: """
                Each line is {"path":"/visits","state":{"count":5}}. All of them are taken over, \
                or none: a state that its reactor cannot read is refused with its line. Reactors \
                that no line names keep their states; children of collections come as named. The \
                daemon must not run; the import is in its log, as a revision of a new epoch. \
                Nobody owns what is imported: a lock that a line shows as held stays so until it \
                is released by its token, and `reactorctl export` shows none.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Flag(name: .long, help: "Begin a history where there is none yet.")
    var new = false

    @Argument(help: "The file of states; - is standard input.")
    var file: String

    mutating func run() throws {
        try DaemonVoice<Program>.run {
            let (settings, root) = try options.read(parent)
            let logger = DaemonVoice<Program>.logger(settings.logLevel)
            let text = try read()
            let history = try options.history(of: settings)
            let (count, revision) = try history.importStates(
                text.split(separator: "\n", omittingEmptySubsequences: false), into: root,
                beginsNew: new, logger)
            try DaemonVoice<Program>.say([
                "took over \(count) states into \(history.directory), at revision \(revision)"
            ])
        }
    }

    private func read() throws -> String {
        let data: Data
        do {
            data =
                file == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(filePath: file))
        } catch {
            throw DaemonError.unusableImport("\(file) cannot be read: \(error)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw DaemonError.unusableImport("\(file) is not UTF-8 text")
        }
        return text
    }
}
