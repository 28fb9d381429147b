import SocketCore

/// Bodies that parsers on devices fall over.
enum TargetBodies {
    private static let session = "00112233445566778899aabbccddeeff"

    static let oddHellos: [(name: String, body: [UInt8])] = [
        ("empty body", ""), ("not JSON", "hello"), ("an array", "[]"), ("without keys", "{\"hello\":{}}"), ("null", "{\"hello\":null}"),
        ("with an id", hello("\"versions\":[1],\"received\":0")),
        ("versions empty", hello("\"versions\":[],\"received\":0")),
        ("versions ill-typed", hello("\"versions\":\"1\",\"received\":0")),
        ("received negative", hello("\"versions\":[1],\"received\":-1")),
        ("received beyond 64 bits", hello("\"versions\":[1],\"received\":99999999999999999999999999")),
        ("session too short", "{\"hello\":{\"session\":\"00\",\"versions\":[1],\"received\":0,\"resume\":false}}"),
        ("session ill-typed", "{\"hello\":{\"session\":7,\"versions\":[1],\"received\":0,\"resume\":false}}"),
        ("key twice", hello("\"versions\":[1],\"versions\":[9],\"received\":0")),
        ("NUL in a string", hello("\"versions\":[1],\"received\":0,\"client\":\"a\\u0000b\"")),
        ("half a surrogate", hello("\"versions\":[1],\"received\":0,\"client\":\"\\ud800\"")),
        ("nested deep", String(repeating: "[", count: 4_000)),
        ("longer than 4,096 bytes", hello("\"versions\":[1],\"received\":0,\"client\":\"\(String(repeating: "x", count: 5_000))\"")),
        ("many versions", hello("\"versions\":[\((1...900).map(String.init).joined(separator: ","))],\"received\":0")),
        ("format characters", hello("\"versions\":[1],\"received\":0,\"client\":\"%s%n%x%p\"")),
    ].map { ($0.0, Array($0.1.utf8)) }

    /// Requests of the sample vocabulary that only read, wrong in one way each.
    static let oddRequests: [[UInt8]] =
        [
            "{", "[]", "null", "{\"op\":7}", "{\"op\":\"nosuchop\"}", "{\"op\":\"get\"}", "{\"op\":\"get\",\"names\":[]}",
            "{\"op\":\"get\",\"names\":[\"nosuch\"]}", "{\"op\":\"read\",\"stream\":\"nosuch\",\"offset\":0,\"count\":1}",
            "{\"op\":\"read\",\"stream\":\"log\",\"offset\":4294967295,\"count\":4294967295}",
            "{\"op\":\"read\",\"stream\":\"log\",\"offset\":-1,\"count\":-1}", "{\"op\":\"get\",\"names\":[\"%s%n\"]}",
            "{\"op\":\"get\",\"names\":[\"\(String(repeating: "n", count: 5_000))\"]}",
            "{\"op\":\"\(String(repeating: "o", count: 5_000))\"}", "{\"op\":\"get\",\"names\":[\"../../etc/passwd\"]}",
            String(repeating: "{\"op\":", count: 800), "\u{FEFF}{\"op\":\"capabilities\"}", "{\"op\":\"capabilities\"}",
        ].map { Array($0.utf8) } + [[0xFF, 0xFE, 0x00], [0xC3], Array(repeating: 0, count: 64)]

    private static func hello(_ rest: String) -> String {
        "{\"hello\":{\"session\":\"\(session)\",\"client\":\"fuzz\",\"resume\":false,\(rest)}}"
    }
}
