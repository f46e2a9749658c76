// The program built by `.ci/fuzz steps`. Every branch of the library calls `__sanitizer_cov_trace_pc_guard`, which
// counts a step. The number of steps is the same on every machine, unlike the time. This file and the targets are not
// instrumented.

import ErrandFoundation

nonisolated(unsafe) private let steps = UnsafeMutablePointer<Int>.allocate(capacity: 1)

/// Counts a branch.
@_cdecl("__sanitizer_cov_trace_pc_guard")
public func step(_ guardian: UnsafeMutableRawPointer?) { steps.pointee &+= 1 }

/// Does nothing before the first branch, because the guards don't need numbers.
@_cdecl("__sanitizer_cov_trace_pc_guard_init")
public func begin(_ start: UnsafeMutableRawPointer?, _ stop: UnsafeMutableRawPointer?) {}

@main enum Steps {
  /// The size of the smaller input in bytes.
  private static let size = 8 << 10
  /// The maximum ratio of steps for an input of twice the size, in percent.
  private static let most = 215

  static func main() {
    var quadratic = 0
    for target in FuzzTarget.all {
      for (index, input) in target.hostile.enumerated() {
        // Warm up one-time initialization.
        target.parse(input(64))
        let (once, twice) = (count(target, input(size)), count(target, input(size * 2)))
        let isLinear = twice * 100 <= once * most
        if !isLinear { quadratic += 1 }
        let times = "\(Double(twice * 100 / max(once, 1)) / 100)"
        print("\(isLinear ? "  " : "✘ ")\(target.name) \(index): \(once) → \(twice) steps, \(times) times")
      }
    }
    exit(quadratic == 0 ? 0 : 1)
  }

  private static func count(_ target: FuzzTarget, _ bytes: [UInt8]) -> Int {
    steps.pointee = 0
    target.parse(bytes)
    return steps.pointee
  }
}
