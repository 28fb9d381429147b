extension ConformRule {
    static let discoveryReply = ConformRule("discovery-reply", 4, "A probe is answered by a reply with all required keys.")
    static let discoveryEcho = ConformRule("discovery-echo", 4, "A reply repeats the probe's nonce and msgId.")
    static let discoverySource = ConformRule("discovery-source", 4, "A reply comes from the address and port that the probe was sent to.")
    static let discoverySize = ConformRule("discovery-size", 4, "A reply is at most 1,200 bytes long.")
    static let discoveryAmplification = ConformRule("discovery-amplification", 4, "A reply is at most three times as long as its probe.")
    static let discoveryOnce = ConformRule("discovery-once", 4, "A probe that comes twice is answered once.")
    static let discoverySpread = ConformRule("discovery-spread", 4, "Replies are spread at random over maxWait, and not later.")
    static let discoveryBSSID = ConformRule("discovery-bssid", 4, "It replies at once when bssid is one of its own.")
    static let discoveryKnown = ConformRule("discovery-known", 4, "It is silent when known lists its MAC.")
    static let discoveryMAC = ConformRule("discovery-mac", 4, "It is silent when mac names another router, not when it names this one.")
    static let discoveryGarbage = ConformRule("discovery-garbage", 4, "Invalid datagrams get no reply and disturb nothing.")
    static let discoveryRate = ConformRule("discovery-rate", 4, "One source gets at most ten replies a second.")
    static let discoveryTotal = ConformRule("discovery-total", 4, "All sources together get at most 200 replies a second.", .byHand)
    static let discoveryLink = ConformRule("discovery-link", 4, "Only sources on its own links are answered.", .byHand)
    static let discoveryGroups = ConformRule(
        "discovery-groups", 4, "It hears its groups on every LAN interface, again after an interface went down and up.", .byHand)
    static let discoveryAnnounce = ConformRule(
        "discovery-announce", 4, "It announces itself at start, on a change and every 60 s, and says bye.", isMust: false, .byHand)
    static let discoveryRadios = ConformRule("discovery-radios", 4, "Every radio's BSSID stands in radios.", isMust: false)

    static let discovery = [
        discoveryReply, discoveryEcho, discoverySource, discoverySize, discoveryAmplification, discoveryOnce, discoverySpread,
        discoveryBSSID, discoveryKnown, discoveryMAC, discoveryGarbage, discoveryRate, discoveryTotal, discoveryLink, discoveryGroups,
        discoveryAnnounce, discoveryRadios,
    ]

    static let tlsCertificate = ConformRule("tls-certificate", 6, "Its certificate leads to the company's root and names its MAC.")
    static let tlsStranger = ConformRule("tls-stranger", 6, "A controller without an operator's certificate is refused.")
    static let tlsPlaintext = ConformRule("tls-plaintext", 6, "A port that speaks TLS answers no hello in the clear.")

    static let trust = [tlsCertificate, tlsStranger, tlsPlaintext]

    static let vocabularyCapabilities = ConformRule("vocabulary-capabilities", 7, "capabilities lists operations, properties and streams.")
    static let vocabularyGet = ConformRule("vocabulary-get", 7, "get answers with the values of the names asked for.")
    static let vocabularySubscribe = ConformRule("vocabulary-subscribe", 7, "subscribe answers with the present values.")
    static let vocabularySet = ConformRule(
        "vocabulary-set", 7, "set answers with the values set, and get shows them.", .onRequest("--changes"))
    static let vocabularyRead = ConformRule("vocabulary-read", 7, "read gives a stream in pieces that fit together.")
    static let vocabularyUnknown = ConformRule("vocabulary-unknown", 7, "An unknown operation is answered by the error unknownOp.")
    static let vocabularyOpaque = ConformRule("vocabulary-opaque", 7, "A body that is no JSON object gets its receipt, and no error.")

    static let vocabulary = [
        vocabularyCapabilities, vocabularyGet, vocabularySubscribe, vocabularySet, vocabularyRead, vocabularyUnknown, vocabularyOpaque,
    ]
}
