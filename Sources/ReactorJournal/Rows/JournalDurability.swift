/// The events that an appended batch survives.
public enum JournalDurability: String, Sendable {
    /// The end of the process and a power cut: the batch is on the disk.
    case strict
    /// The end of the process: the operating system has the batch. A power cut may lose the latest
    /// batches.
    case relaxed
}
