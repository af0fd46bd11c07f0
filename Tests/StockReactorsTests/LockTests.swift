import ReactorCore
import StockReactors
import Testing

@Suite("Lock")
struct LockTests {
    @Test("a lock is granted once, and each grant has a higher token")
    func grants() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"acquire":{}}"#, from: 2) == "rejected held")
        #expect(try rig.send(#"{"acquire":{}}"#) == "rejected held")
        #expect(try rig.slice("holder/client/pid") == "5001")
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "applied")
        #expect(try rig.slice("holder") == "null")
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#, from: 2) == #"replied {"token":2}"#)
    }

    @Test("a wrong token releases nothing")
    func wrongToken() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"release":{"token":0}}"#) == "rejected not_held")
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"release":{"token":2}}"#) == "rejected wrong_token")
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "applied")
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "rejected not_held")
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":2}"#)
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "rejected wrong_token")
    }

    @Test("X120: another connection releases the lock only if the access rules allow it")
    func anotherUser() throws {
        let rig = ReactorRig(Lock())
        var asked: [UInt64] = []
        rig.tree.releaseRefusal = { caller, uid, _ in
            asked.append(caller.connection)
            return caller.connection == 2 ? Rejection("FORBIDDEN", "\(uid)") : nil
        }
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"release":{"token":1}}"#, from: 2) == "rejected FORBIDDEN")
        #expect(try rig.slice("holder/client/pid") == "5001")
        #expect(try rig.send(#"{"release":{"token":1}}"#, from: 3) == "applied")
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":2}"#)
        #expect(try rig.send(#"{"release":{"token":2}}"#) == "applied")
        #expect(asked == [2, 3])
    }

    @Test("waiters get the lock in the order of their requests")
    func fairness() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        for connection: UInt64 in [4, 2, 3] {
            #expect(
                try rig.send(#"{"acquire":{"wait":true}}"#, from: connection) == "deferred")
        }
        #expect(try rig.answers().isEmpty)
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "applied")
        #expect(try rig.answers() == [#"client 104: {"token":2}"#])
        #expect(try rig.send(#"{"release":{"token":2}}"#, from: 4) == "applied")
        #expect(try rig.answers() == [#"client 102: {"token":3}"#])
        #expect(try rig.send(#"{"acquire":{}}"#, from: 4) == "rejected held")
        #expect(try rig.send(#"{"release":{"token":3}}"#, from: 2) == "applied")
        #expect(try rig.answers() == [#"client 103: {"token":4}"#])
        #expect(try rig.send(#"{"release":{"token":4}}"#, from: 3) == "applied")
        #expect(try rig.answers().isEmpty)
        #expect(try rig.state == #"{"holder":null,"waiters":[],"lastToken":4}"#)
    }

    @Test(
        "when the holder's connection ends, the lock passes on, and the holder's waits are refused"
    )
    func holderEnds() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#) == "deferred")
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#, from: 2) == "deferred")
        let answers = ["client 101: rejected connection_ended", #"client 102: {"token":2}"#]
        #expect(try rig.end(1) == answers)
        #expect(try rig.end(2).isEmpty)
        #expect(try rig.state == #"{"holder":null,"waiters":[],"lastToken":2}"#)
    }

    @Test("a waiter whose connection ended gets no lock")
    func waiterEnds() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#, from: 2) == "deferred")
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#, from: 3) == "deferred")
        #expect(try rig.end(2) == ["client 102: rejected connection_ended"])
        #expect(try rig.slice("holder/token") == "1")
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "applied")
        #expect(try rig.answers() == [#"client 103: {"token":2}"#])
    }

    @Test("a waiter that was granted the lock loses it when its connection ends")
    func granteeEnds() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#, from: 2) == "deferred")
        #expect(try rig.end(1) == [#"client 102: {"token":2}"#])
        #expect(try rig.end(2).isEmpty)
        #expect(try rig.slice("holder") == "null")
    }

    @Test("a holder that waits again keeps its place in the queue when it releases")
    func waitsAgain() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        #expect(try rig.send(#"{"acquire":{"wait":true}}"#) == "deferred")
        #expect(try rig.send(#"{"release":{"token":1}}"#) == "applied")
        #expect(try rig.answers() == [#"client 101: {"token":2}"#])
        #expect(try rig.end(1).isEmpty)
        #expect(try rig.slice("holder") == "null")
    }

    @Test("waiters beyond the limit are rejected")
    func waitersMax() throws {
        let rig = ReactorRig(Lock())
        #expect(try rig.send(#"{"acquire":{}}"#) == #"replied {"token":1}"#)
        let tree = rig.tree
        let bytes = try WireValue(json: #"{"acquire":{"wait":true}}"#).wireBytes()
        let caller = ReactorRig<Lock>.caller(2)
        for ordinal in 1...UInt64(Lock.waitersMax) {
            let result = tree.dispatch(to: tree.root, bytes.span, by: caller, ordinal: ordinal)
            guard case .deferred = result else {
                Issue.record("waiter \(ordinal): \(result)")
                return
            }
        }
        let result = tree.dispatch(to: tree.root, bytes.span, by: caller, ordinal: 0)
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("one too many: \(result)")
            return
        }
        #expect(rejection.code == "too_many_waiters")
    }
}
