public import ReactorCore

extension Lock {
    /// A party that holds the lock or waits for it, as the kernel says.
    @WireCodable
    public struct Client: Equatable, Sendable {
        /// Number of its connection.
        public var connection: UInt64
        /// Its user.
        public var uid: UInt32
        /// Its process.
        public var pid: Int32

        /// Names a party.
        public init(connection: UInt64, uid: UInt32, pid: Int32) {
            self.connection = connection
            self.uid = uid
            self.pid = pid
        }

        init(_ caller: Caller) {
            self.init(connection: caller.connection, uid: caller.uid, pid: caller.pid)
        }
    }

    /// Who has the lock.
    @WireCodable
    public struct Holder: Equatable, Sendable {
        /// The token that this grant was given.
        public var token: UInt64
        /// To whom.
        public var client: Client

        /// Names a holder.
        public init(token: UInt64, client: Client) {
            self.token = token
            self.client = client
        }
    }

    /// Who waits for the lock.
    @WireCodable
    public struct Waiter: Equatable, Sendable {
        /// By which its `acquire` is answered.
        public var ticket: ReplyTicket
        /// Who waits.
        public var client: Client

        /// Names one who waits.
        public init(ticket: ReplyTicket, client: Client) {
            self.ticket = ticket
            self.client = client
        }
    }
}
