/// What a batch has survived when the journal says that it is appended.
public enum JournalDurability: String, Sendable {
    /// The end of the process and a power cut: it is on the disk.
    case strict
    /// The end of the process: the operating system has it. A power cut may take a tail.
    case relaxed
}
