/// A slot: it is free again when the last reference to it goes, and so exactly once.
///
/// The slot of a body that is handed to the caller is free with its head; the permit of a stream is held until the body
/// has ended. A slot whose owner waits for another call is free at once, and so is its permit.
final class AdmissionSlot: Sendable {
  private struct State {
    var isHeld = true
    /// The host's permit for a stream, held as long as this is.
    var permit: AdmissionSlot?
  }

  private let desk: AdmissionDesk
  let host: Origin
  private let state = Lock(State())

  init(_ desk: AdmissionDesk, _ host: Origin) {
    self.desk = desk
    self.host = host
  }

  deinit {
    if state.withLock({ $0.isHeld }) { desk.leave(host) }
  }

  /// True until it was given back.
  var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Holds the permit of a stream as well.
  func keep(_ permit: AdmissionSlot) { state.withLock { $0.permit = permit } }

  /// Gives the slot back and keeps the permit: the body is the caller's now, and read at the caller's pace.
  func becomeStream() { giveBack(withPermit: false) }

  /// Gives the slot back before its time, and the permit of a stream: their holder waits for another call, which may
  /// wait for a slot.
  func giveBack(withPermit: Bool = true) {
    let (wasHeld, permit) = state.withLock { state in
      defer { state.isHeld = false }
      return (state.isHeld, state.permit)
    }
    if withPermit { permit?.giveBack() }
    if wasHeld { desk.leave(host) }
  }
}
