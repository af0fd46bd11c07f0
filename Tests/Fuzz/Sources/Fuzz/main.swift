import CFuzzer
import Glibc

// Usage: fuzz TARGET LIBFUZZER-ARGUMENT...   (or fuzz --list)
let names = FuzzTarget.allCases.map(\.rawValue)
if CommandLine.arguments.dropFirst().first == "--list" {
    print(names.joined(separator: "\n"))
    exit(0)
}
guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
    print("usage: fuzz TARGET [libFuzzer's arguments]; targets: \(names.joined(separator: ", "))")
    exit(64)
}
nonisolated(unsafe) var chosen = target
// libFuzzer must not see the target's name, so the program's name replaces it.
CommandLine.unsafeArgv[1] = CommandLine.unsafeArgv[0]
var argc = CommandLine.argc - 1
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&argc, &argv) { data, size in
        chosen.check(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })
