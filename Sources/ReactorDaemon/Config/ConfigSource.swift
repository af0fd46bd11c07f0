package import Logging
import ReactorWire

/// Where a running daemon reads its configuration again, and where its log settings go.
///
/// *Place*: the program makes one for ``Daemon/acceptReloads(of:from:)``. *Owner*: ``load()`` may run on
/// any thread.
package struct ConfigSource: Sendable {
    private let file: String
    private let reactors: DaemonConfig.ReactorsSource
    private let complete: @Sendable (inout DaemonConfig) throws(ConfigError) -> Void
    /// Receives the level and the form of the log's lines.
    let setLog: @Sendable (Logger.Level, LogFormat) -> Void

    /// Reads the configuration at `file`. `complete` sets what the command line decides, and throws
    /// if the reactors cannot be made.
    package init(
        file: String, reactors: DaemonConfig.ReactorsSource,
        complete: @escaping @Sendable (inout DaemonConfig) throws(ConfigError) -> Void,
        setLog: @escaping @Sendable (Logger.Level, LogFormat) -> Void
    ) {
        self.file = file
        self.reactors = reactors
        self.complete = complete
        self.setLog = setLog
    }

    /// Reads and checks the whole file; `digest` is the checksum of its text.
    ///
    /// *Throws*: every problem of the file.
    func load() throws(ConfigError) -> (config: DaemonConfig, digest: WireChecksum) {
        let text = try ConfigFile.text(at: file)
        var config = try DaemonConfig(yaml: text, file: file, reactors: reactors)
        try complete(&config)
        return (config, WireChecksum(of: Array(text.utf8).span))
    }
}
