import Errand

/// Another observer, told in place, so that it knows of the end of a call when the call returns.
struct InlineObserver<Base: TaskObserver>: TaskObserver {
  let base: Base

  init(_ base: Base) { self.base = base }

  var delivery: ObserverDelivery { .inline }
  var interest: ObserverInterest { base.interest }

  func observe(_ event: TaskEvent) { base.observe(event) }
}
