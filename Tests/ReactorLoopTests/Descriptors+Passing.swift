import Glibc

extension Descriptors {
    /// Writes `bytes` and passes `descriptors` along with them (`SCM_RIGHTS`).
    static func write(_ bytes: [UInt8], passing descriptors: [Int32], to socket: Int32) throws {
        // A control message: its length, level and type, then the descriptors.
        let headerBytes = MemoryLayout<cmsghdr>.size
        let length = headerBytes + descriptors.count * 4
        var control = [UInt8](repeating: 0, count: (length + 7) / 8 * 8)
        unsafe control.withUnsafeMutableBytes { raw in
            unsafe raw.storeBytes(of: length, as: Int.self)
            unsafe raw.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            unsafe raw.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
            for (index, descriptor) in descriptors.enumerated() {
                unsafe raw.storeBytes(
                    of: descriptor, toByteOffset: headerBytes + index * 4, as: Int32.self)
            }
        }
        var bytes = bytes
        let sent = unsafe bytes.withUnsafeMutableBytes { data in
            unsafe control.withUnsafeMutableBytes { ancillary in
                var vector = unsafe iovec(iov_base: data.baseAddress, iov_len: data.count)
                return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = vector
                    unsafe message.msg_iovlen = 1
                    unsafe message.msg_control = ancillary.baseAddress
                    unsafe message.msg_controllen = ancillary.count
                    return unsafe sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
        guard sent == bytes.count else { throw SendFailure(code: errno) }
    }

    struct SendFailure: Error {
        let code: Int32
    }
}
