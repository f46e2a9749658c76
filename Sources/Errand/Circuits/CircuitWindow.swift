/// What was sent in the time that counts: calls and failures in ten slices, of which the oldest is dropped as time goes
/// on.
struct CircuitWindow {
  private static let slices = 10

  private struct Slice {
    var calls = 0
    var failures = 0
  }

  private var slices: [Slice] = []
  /// The number of the newest slice, counted from the clock's zero.
  private var newest = 0
  private var sliceLength: Duration = .zero

  var calls: Int { slices.reduce(0) { $0 + $1.calls } }

  /// Failures in proportion to calls.
  var failureRatio: Double {
    let calls = calls
    return calls == 0 ? 0 : Double(slices.reduce(0) { $0 + $1.failures }) / Double(calls)
  }

  mutating func count(isFailure: Bool, at now: Duration, _ window: Duration) {
    let length = window / Self.slices
    if length != sliceLength { slices = [] }
    sliceLength = length
    let number = Int(now / length)
    if slices.isEmpty || number - newest >= Self.slices {
      slices = [Slice()]
    } else if number > newest {
      slices += Array(repeating: Slice(), count: number - newest)
      slices.removeFirst(max(0, slices.count - Self.slices))
    }
    newest = max(newest, number)
    slices[slices.count - 1].calls += 1
    if isFailure { slices[slices.count - 1].failures += 1 }
  }

  /// Whether nothing in it counts any more.
  func isOver(at now: Duration) -> Bool {
    slices.isEmpty || Int(now / sliceLength) - newest >= Self.slices
  }
}
