import Errand
import ErrandTesting

/// An operation of the storm. Its settings depend only on the seed and the operation's number.
struct StormOperation: Sendable {
  /// The transport's behavior. The raw value is the first segment of the path.
  enum Feature: String {
    /// Succeeds or fails at random.
    case plain
    /// Can be cached and coalesced.
    case cached
    /// Requires the current token.
    case token
    /// Redirects, to the same origin or another one.
    case moved
    /// Requires Digest authentication.
    case digest
    /// Often takes longer than the delay of a hedge.
    case slow
    /// Is sent to a host that sometimes fails, so its circuit opens.
    case weak
    /// Is sent to a host whose retries are counted.
    case paid
  }

  /// How the response is delivered.
  enum Way { case run, data, file, stream, handle, fileHandle }

  enum Body {
    case none, bytes
    /// The chunks come from another Swift task, which makes a call.
    case produced
  }

  /// The app code that makes another call.
  enum Nested: CaseIterable { case willStart, didStart, postProcess, postflight, didComplete }

  enum Disturbance {
    case none
    case cancelCaller, cancelTag, cancelAll
    /// Pauses, resumes, cancels, retries or releases the handle.
    case handle(seed: UInt64)
  }

  let number: Int
  let feature: Feature
  let way: Way
  let method: HTTPMethod
  let body: Body
  let key: Int
  let queue: Int?
  let nested: Nested?
  let disturbance: Disturbance
  let delay: Duration
  let deadline: Duration?
  let timeout: Duration?
  let queueLimit: Duration?
  let hedges: Int
  let attempts: Int
  let idempotency: Idempotency
  let priority: CallPriority
  let cachePolicy: CachePolicy
  /// The number of chunks of a stream to read, or `nil` for all.
  let chunks: Int?

  init(_ number: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
    func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    func ticks(_ range: ClosedRange<Int>) -> Duration { .ticks(Int.random(in: range, using: &random)) }

    self.number = number
    let feature = pick([Feature.plain, .cached, .cached, .token, .token, .moved, .digest, .slow, .weak, .paid])
    let toFile = one(in: 2) ? Way.file : .fileHandle
    let way = pick([.run, .run, .data, .data, .data, .data, .stream, .stream, .handle, toFile])
    self.feature = feature
    self.way = way
    let isRead = feature == .cached || one(in: 2)
    method = isRead ? .get : pick([.post, .post, .put])
    body = isRead ? .none : pick([.none, .bytes, .bytes, .produced])
    // Calls share a request only if their settings are equal.
    let isShared = feature == .cached && way == .data && one(in: 2)
    key = Int.random(in: 0..<(isShared ? 4 : 20), using: &random)
    queue = one(in: 12) ? Int.random(in: 0..<3, using: &random) : nil
    nested = one(in: queue == nil ? 8 : 2) ? Nested.allCases.randomElement(using: &random) : nil
    delay = ticks(0...15)
    switch Int.random(in: 0..<400, using: &random) {
    case 0: disturbance = .cancelAll
    case 1...4: disturbance = .cancelTag
    case 5...40: disturbance = .cancelCaller
    default:
      let isHandle = way == .handle || way == .fileHandle
      disturbance = isHandle ? .handle(seed: random.next()) : .none
    }
    deadline = !isShared && one(in: 12) ? ticks(1...60) : nil
    timeout = !isShared && one(in: 12) ? ticks(1...30) : nil
    queueLimit = !isShared && one(in: 12) ? ticks(1...20) : nil
    let mayHedge = feature == .slow || feature == .paid || one(in: 12)
    hedges = !isShared && mayHedge ? Int.random(in: 0...2, using: &random) : 0
    attempts = isShared ? 3 : pick([1, 3, 3, 4])
    idempotency = !isShared && one(in: 5) ? pick([.key, .safeToRepeat, .neverRepeat]) : .automatic
    priority = isShared ? .normal : pick(CallPriority.allCases)
    cachePolicy =
      isShared
      ? pick([.inherited, .reload])
      : pick([
        .inherited, .inherited, .inherited, .validated, .reload, .cacheFirst, .cacheOnly,
        // A background validation is a separate call, so its first request costs no retry.
        feature == .paid ? .reload : .networkFirst(limit: .ticks(4)), .none,
      ])
    chunks = pick([nil, nil, 0, 1])
  }

  /// Whether the request must not reach the server twice.
  var isOnceOnly: Bool {
    idempotency == .neverRepeat || method == .post && idempotency == .automatic
  }

  /// Whether the request holds a stream permit instead of a slot.
  var isStreamed: Bool { way == .stream || body == .produced }

  var tag: String { "tag \(key)" }

  var path: String {
    let host =
      switch feature {
      case .weak: "https://weak.test/"
      case .paid: "https://paid.test/"
      default: ""
      }
    return "\(host)\(feature)/\(feature == .cached ? key : number)"
  }
}
