import Glibc

/// The id of a boot of the machine. Writes that were not synchronized may be lost between two
/// boots.
struct BootID: Equatable, Sendable {
    /// The 128 bits; 0 if the system does not report them.
    let high: UInt64, low: UInt64

    /// Whether both are known and equal.
    func isSame(as other: BootID) -> Bool { self == other && (high != 0 || low != 0) }

    /// The id of the current boot. *C*: `open`, `read` of `/proc/sys/kernel/random/boot_id`. If the
    /// process may not read that, the value of the environment variable `REACTORD_BOOT_ID`, which
    /// the unit of systemd sets.
    static func current() -> BootID {
        let variable = unsafe getenv("REACTORD_BOOT_ID").map { unsafe String(cString: $0) }
        return BootID(file: "/proc/sys/kernel/random/boot_id", otherwise: variable)
    }

    /// Parses the text of a file; if it cannot be opened, another text.
    init(file path: String, otherwise text: String?) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            self.init(text: text ?? "")
            return
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        self.init(text: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses 32 hexadecimal digits; ignores other characters.
    init(text: String) {
        let digits = text.compactMap(\.hexDigitValue).map(UInt64.init)
        guard digits.count == 32 else {
            self.init(high: 0, low: 0)
            return
        }
        self.init(
            high: digits[..<16].reduce(0) { $0 << 4 | $1 },
            low: digits[16...].reduce(0) { $0 << 4 | $1 })
    }
}
