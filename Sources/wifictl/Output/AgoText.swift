import SocketCore

extension WallTime {
    /// How long ago it was, for a person: `just now`, `5 min ago`, `3 h ago`, `2 days ago`; the day where that says more, and where it's to
    /// come, since one of the two clocks is wrong then.
    func agoText(at now: WallTime) -> String {
        let (past, overflow) = now.seconds.subtractingReportingOverflow(seconds)
        switch past {
        case _ where overflow: return day
        case 0..<60: return "just now"
        case 60..<3_600: return "\(past / 60) min ago"
        case 3_600..<86_400: return "\(past / 3_600) h ago"
        case 86_400..<1_209_600: return "\(counted(Int(past / 86_400), "day")) ago"
        default: return day
        }
    }
}
