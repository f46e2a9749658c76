#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
  #else
    import Foundation
  #endif

  extension URLSessionExchange {
    /// Starts to wait for the next timer, replacing any earlier wait. If a timer is postponed, as `idle` is with every
    /// byte, the wait is extended only when it ends, so receiving bytes is cheap.
    func watchTimers() {
      guard request.options.timeouts.hasTransferLimit else { return }
      let watch = Task { [weak self, clock] in
        while !Task.isCancelled, let wait = self?.untilNextAlarm() {
          do { try await clock.sleep(untilLimit: wait) } catch { return }
        }
      }
      let old = state.withLock { state -> Task<Void, Never>? in
        if state.inbox.isOver { return watch }
        defer { state.watch = watch }
        return state.watch
      }
      old?.cancel()
    }

    /// Returns the time until the next timer fires, or `nil` if none is running. Fails the exchange if a timer has
    /// fired.
    private func untilNextAlarm() -> Duration? {
      let now = clock.now
      let (alarm, phase, isOver) = state.withLock { ($0.timers.next, $0.timers.phase, $0.inbox.isOver) }
      guard let alarm, !isOver else { return nil }
      guard alarm.instant <= now else { return alarm.instant - now }
      fail(TaskError.timeout(alarm.timer, after: alarm.limit, phase: phase))
      return nil
    }
  }

  extension Timeouts {
    fileprivate var hasTransferLimit: Bool { connect != nil || firstByte != nil || idle != nil || attempt != nil }
  }
#endif
