// The fuzzing program built by `.ci/fuzz`. libFuzzer provides `main` and calls `fuzz`. ERRAND_FUZZ_TARGET selects the
// parser.

import ErrandFoundation

private let target = FuzzTarget.all.first { $0.name == ProcessInfo.processInfo.environment["ERRAND_FUZZ_TARGET"] }

/// Checks one input and crashes if a property does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let target else { fatalError("ERRAND_FUZZ_TARGET names one of \(FuzzTarget.all.map(\.name))") }
  do {
    try target.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("\(target.name): \(error)")
  }
  return 0
}
