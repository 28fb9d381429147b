import Glibc

/// Ends the process with the status for "not all held".
func exitWithFailure() -> Never { exit(1) }
