#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The CPU time of this thread, so that other busy processes don't count.
func processorTime(_ work: () -> Void) -> Duration {
  let start = threadTime()
  work()
  return threadTime() - start
}

private func threadTime() -> Duration {
  // Plain numbers, because the module of `timespec`'s fields can't be imported in every build.
  var time = (seconds: 0, nanoseconds: 0)
  withUnsafeMutablePointer(to: &time) { pointer in
    pointer.withMemoryRebound(to: timespec.self, capacity: 1) { _ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, $0) }
  }
  return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
}
