/// Commands and messages of Redis, as bytes.
enum RedisCommand {
    /// A command as clients send it: an array of strings.
    static func bytes(_ words: String...) -> [UInt8] {
        var text = "*\(words.count)\r\n"
        for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
        return Array(text.utf8)
    }

    /// Counts one up.
    static let increment = bytes("INCR", "counter")
    static let subscribe = bytes("SUBSCRIBE", "counter")
    /// Tells the subscribers what a delta tells them: by how much the counter moved.
    static let publish = bytes("PUBLISH", "counter", "1")
    static let ping = bytes("PING")
    /// Length of the answer to ``subscribe``, and of what ``publish`` brings a subscriber.
    static let subscribedByteCount = "*3\r\n$9\r\nsubscribe\r\n$7\r\ncounter\r\n:1\r\n".utf8.count
    static let messageByteCount = bytes("message", "counter", "1").count
}
