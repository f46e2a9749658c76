/// A slot, given back once: by ``giveBack()``, or by letting the last reference go.
final class AdmissionSlot: Sendable {
  private let desk: AdmissionDesk
  private let host: Origin
  /// Whether it had to be waited for.
  let hasWaited: Bool
  private let isHeld = Lock(true)

  init(_ desk: AdmissionDesk, _ host: Origin, hasWaited: Bool) {
    self.hasWaited = hasWaited
    self.desk = desk
    self.host = host
  }

  deinit { giveBack() }

  func giveBack() {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    if wasHeld { desk.leave(host) }
  }
}
