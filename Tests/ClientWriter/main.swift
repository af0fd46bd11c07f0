import Glibc
import ReactorClient
import StockReactors

// client-writer SOCKET JOURNAL [END]
//
// Continues with the journal. With END, it sends increments by 1 to /visits without waiting for
// each, and kills itself with SIGKILL once its mirror has counted END more, whatever its threads are
// doing. Without END, it waits for the outcomes of all actions of earlier runs, and closes.

let arguments = CommandLine.arguments
var options = ClientOptions(program: "client-writer")
options.journal = arguments[2]
options.keepsTrying = true
options.pauseMin = 1_000_000
options.pauseMax = 50_000_000
let client = try await Client.connect(to: arguments[1], options: options)
let visits = try await client.mirror(Counter.self, at: "/visits")
if arguments.count > 3, let end = Int64(arguments[3]) {
    let start = visits.count
    while visits.count < start + end {
        if !visits.send(.increment(by: 1)) { await Task.yield() }
    }
    kill(getpid(), SIGKILL)
}
try await client.drain()
client.close()
