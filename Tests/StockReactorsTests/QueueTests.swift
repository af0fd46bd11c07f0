import ReactorCore
import StockReactors
import Testing

@Suite("Queue")
struct QueueTests {
    /// A queue with the jobs "a", "b" and so on.
    private func queue(of count: Int, capacity: Int = 100) throws -> ReactorRig<Queue> {
        let rig = ReactorRig(Queue(capacity: capacity))
        for number in 0..<count {
            let name = String("abcdefgh".dropFirst(number).prefix(1))
            #expect(try rig.send(#"{"push":{"job":"\#(name)"}}"#) == "applied")
        }
        return rig
    }

    private let claim = #"{"claim":{}}"#

    @Test("jobs are claimed in the order in which they were pushed, and finished")
    func order() throws {
        let rig = try queue(of: 2)
        #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(claim, from: 2) == #"replied {"id":2,"job":"b"}"#)
        #expect(try rig.send(claim) == "rejected empty")
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "applied")
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "rejected unknown_job")
        #expect(try rig.send(#"{"finish":{"id":2}}"#, from: 2) == "applied")
        #expect(try rig.state == #"{"failed":[],"lastID":2,"claimed":{},"waiting":[]}"#)
        #expect(try rig.send(#"{"push":{"job":"c"}}"#) == "applied")
        #expect(try rig.slice("waiting/0/id") == "3")
    }

    @Test("only the claimant can finish or fail a job")
    func claimant() throws {
        let rig = try queue(of: 1)
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "rejected unknown_job")
        #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(#"{"finish":{"id":1}}"#, from: 2) == "rejected not_yours")
        #expect(try rig.send(#"{"fail":{"id":1}}"#, from: 2) == "rejected not_yours")
        #expect(try rig.send(#"{"fail":{"id":9}}"#) == "rejected unknown_job")
        #expect(try rig.slice("claimed/1/client/pid") == "5001")
    }

    @Test("jobs return to the front, in their order, when their claimant's connection ends")
    func returns() throws {
        let rig = try queue(of: 4)
        #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(claim, from: 2) == #"replied {"id":2,"job":"b"}"#)
        #expect(try rig.send(claim) == #"replied {"id":3,"job":"c"}"#)
        #expect(try rig.end(1).isEmpty)
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "rejected unknown_job")
        #expect(try rig.send(claim, from: 3) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(claim, from: 3) == #"replied {"id":3,"job":"c"}"#)
        #expect(try rig.send(claim, from: 3) == #"replied {"id":4,"job":"d"}"#)
        #expect(try rig.send(#"{"finish":{"id":2}}"#, from: 2) == "applied")
    }

    @Test("a finished job does not return when its claimant's connection ends")
    func finishedStays() throws {
        let rig = try queue(of: 1)
        #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "applied")
        let before = rig.tree.revision
        #expect(try rig.end(1).isEmpty)
        #expect(rig.tree.revision == before)
        #expect(try rig.send(claim) == "rejected empty")
    }

    @Test("a failed job returns to the back, and after its last attempt is set aside")
    func fails() throws {
        let rig = try queue(of: 2)
        for attempt in 1...Queue.failuresMax {
            #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
            #expect(try rig.send(#"{"fail":{"id":1}}"#) == "applied")
            guard attempt < Queue.failuresMax else { break }
            #expect(try rig.send(claim) == #"replied {"id":2,"job":"b"}"#)
            #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
            #expect(try rig.end(1).isEmpty)
            // The connection's end is no failure, so both jobs are at the front again.
            #expect(try rig.slice("waiting/0/failures") == "\(attempt)")
        }
        #expect(try rig.slice("failed") == #"[{"id":1,"job":"a","failures":3}]"#)
        #expect(try rig.send(claim) == #"replied {"id":2,"job":"b"}"#)
    }

    @Test("a full queue takes no job until one ends; a job beyond the size limit fits no queue")
    func limits() throws {
        let rig = try queue(of: 2, capacity: 2)
        #expect(try rig.send(#"{"push":{"job":1}}"#) == "rejected full")
        #expect(try rig.send(claim) == #"replied {"id":1,"job":"a"}"#)
        #expect(try rig.send(#"{"push":{"job":1}}"#) == "rejected full")
        #expect(try rig.send(#"{"finish":{"id":1}}"#) == "applied")
        let text = String(repeating: "x", count: Queue.jobBytesMax)
        #expect(try rig.send(#"{"push":{"job":"\#(text)"}}"#) == "rejected too_large")
        #expect(try rig.send(#"{"push":{"job":1}}"#) == "applied")
    }
}
