/// Attempts within attempts: steps and bodies may make calls of their own.
extension Attempt {
  /// The attempt whose steps the surrounding Swift task runs, or whose body it makes.
  @TaskLocal private static var current: Attempt?

  /// Runs what may wait for a call of its own. That one waits for no slot that this attempt has.
  func enclosing<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
    let outer = Self.current
    if outer !== self { state.withLock { $0.outer = outer } }
    return try await Self.$current.withValue(self, operation: body)
  }

  /// Begins work that goes on without the surrounding Swift task: no attempt around that gives its slot back for it.
  @discardableResult
  static func besideSurrounding(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    $current.withValue(nil) { Task { await work() } }
  }

  /// True where this one was begun within another. What that has begun may be awaited by others, also once it has ended.
  var isWithinAnother: Bool { around != nil }

  /// The innermost attempt around this one.
  private var around: Attempt? {
    let current = Self.current
    return current === self ? state.withLock { $0.outer } : current
  }

  /// Has the attempts around this one give their slots back: they wait for it, and it for a slot.
  func releaseOuter() { Self.release(around) }

  /// Has the attempts that the surrounding Swift task is part of give their slots back, before a wait for another call, which
  /// may need one.
  static func releaseSurrounding() { release(current) }

  private static func release(_ innermost: Attempt?) {
    var next = innermost
    while let attempt = next {
      let (slot, outer) = attempt.state.withLock { ($0.slot, $0.outer) }
      slot?.giveBack()
      next = outer
    }
  }
}

extension AsyncStream where Element: Sendable {
  /// The same elements, of work that may need the slots of the attempts around the reader: they give them back before it waits, as
  /// long as `isUnderWay`.
  func releasingSlots(while isUnderWay: @escaping @Sendable () -> Bool) -> AsyncStream {
    AsyncStream {
      if isUnderWay() { Attempt.releaseSurrounding() }
      var iterator = makeAsyncIterator()
      return await iterator.next()
    }
  }
}
