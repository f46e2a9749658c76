#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The time for which this thread had a processor: another program that keeps them busy does not count.
func processorTime(_ work: () -> Void) -> Duration {
  let start = threadTime()
  work()
  return threadTime() - start
}

private func threadTime() -> Duration {
  // As two numbers: the fields of `timespec` may be of a module that has no name to import, depending on which files the
  // compiler is given together.
  var time = (seconds: 0, nanoseconds: 0)
  withUnsafeMutablePointer(to: &time) { pointer in
    pointer.withMemoryRebound(to: timespec.self, capacity: 1) { _ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, $0) }
  }
  return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
}
