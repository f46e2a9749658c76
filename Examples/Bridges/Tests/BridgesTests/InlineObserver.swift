import Errand

/// Calls another observer inline, so that it sees the end of a call before the call returns.
struct InlineObserver<Base: TaskObserver>: TaskObserver {
  let base: Base

  init(_ base: Base) { self.base = base }

  var delivery: ObserverDelivery { .inline }
  var interest: ObserverInterest { base.interest }

  func observe(_ event: TaskEvent) { base.observe(event) }
}
