#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Returns the CPU time that this thread spends on `work`. Other busy processes don't affect it.
func processorTime(_ work: () -> Void) -> Duration {
  let start = threadTime()
  work()
  return threadTime() - start
}

private func threadTime() -> Duration {
  // Use plain numbers because the module with the fields of `timespec` can't be imported in every build.
  var time = (seconds: 0, nanoseconds: 0)
  withUnsafeMutablePointer(to: &time) { pointer in
    pointer.withMemoryRebound(to: timespec.self, capacity: 1) { _ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, $0) }
  }
  return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
}
