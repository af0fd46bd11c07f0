import Glibc
import ReactorBytes
import ReactorJournal
import ReactorThreads

// journal-writer DIRECTORY strict|relaxed ROWS BYTES [LIMIT [END]]
//
// Continues the journal in DIRECTORY, prints the row after which it continues, and appends rows
// until there are ROWS rows, each with at most BYTES bytes of deltas. Writes the sequence of each
// appended row to standard output at once, one per line. With LIMIT, no file may grow beyond that
// many bytes; 0 means no limit. With END, the process kills itself with SIGKILL once that many rows
// are appended, whatever its threads are doing. Exits with 0, with 74 if the journal broke, and
// with 28 if the disk was full.

let arguments = CommandLine.arguments
signal(SIGXFSZ, SIG_IGN)
if arguments.count > 5, let limit = UInt(arguments[5]), limit > 0 {
    var limits = rlimit(rlim_cur: limit, rlim_max: limit)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
}
let rowCount = UInt64(arguments[3]) ?? 0
let byteCount = Int(arguments[4]) ?? 0
let killedRow = arguments.count > 6 ? UInt64(arguments[6]) ?? .max : .max

func say(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { _ = unsafe write(1, $0.baseAddress, $0.count) }
}

let bell = Bell()
let mailbox = Mailbox<@Sendable () -> Void> { bell.ring() }
let directory = try DataDirectory(at: arguments[1])
try SQLiteJournal.prepare(directory)
let end = try JournalReader(directory).verifyRest()
say("behind \(end.number)")
let journal = try SQLiteJournal(
    directory, durability: JournalDurability(rawValue: arguments[2]) ?? .strict, after: end,
    deliver: { mailbox.post($0) })

var appended = end.number
journal.onAppended = {
    appended = $0
    say("\($0)")
    if $0 >= killedRow { kill(getpid(), SIGKILL) }
}
journal.onFailed = { failure in
    say("\(failure)")
    switch failure {
    case .full: exit(28)
    case .broken: exit(74)
    }
}
// Random bytes: compressible ones would take longer to reach LIMIT.
var random: UInt64 = 1
let noise = (0..<byteCount).map { _ in
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: random >> 56)
}
var sent = end.number
while appended < rowCount {
    // A few batches wait while a commit runs.
    while sent < min(rowCount, appended + 4) {
        let length = Int(sent) % (byteCount + 1)
        let bytes = Array(noise[(byteCount - length)...].prefix(length))
        journal.append(
            Batch(
                turn: sent + 1, epoch: 7, after: sent, sequence: sent + 1,
                deltas: ByteSlice(bytes), facts: Array("\(sent + 1)".utf8)))
        sent += 1
    }
    bell.wait()
    for job in mailbox.drain() { job() }
}
journal.close()
