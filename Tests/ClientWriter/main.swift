import Glibc
import ReactorClient
import StockReactors

// client-writer SOCKET JOURNAL COUNT
//
// Continues with the journal, sends COUNT increments by 1 to /visits without waiting for each,
// and after every 50 writes the number of sent actions to standard output, one per line. Then it
// waits for the outcomes of all actions, including those of earlier runs, closes, and writes
// "done".

func say(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { _ = unsafe write(1, $0.baseAddress, $0.count) }
}

let arguments = CommandLine.arguments
var options = ClientOptions(program: "client-writer")
options.journal = arguments[2]
options.keepsTrying = true
options.pauseMin = 1_000_000
options.pauseMax = 50_000_000
let client = try await Client.connect(to: arguments[1], options: options)
let visits = try await client.mirror(Counter.self, at: "/visits")
let count = Int(arguments[3]) ?? 0
for index in 0..<count {
    while !visits.send(.increment(by: 1)) { await Task.yield() }
    if index % 50 == 0 { say("\(index)") }
}
try await client.drain()
client.close()
say("done")
