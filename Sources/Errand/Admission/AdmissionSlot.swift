/// A slot: it is free again when the last reference to it goes, and so exactly once.
///
/// The slot of a body that is handed to the caller is free with its head; from then on this stands for an open stream. One
/// whose owner waits for another call is free at once.
final class AdmissionSlot: Sendable {
  private struct State {
    var isHeld = true
    var isStream = false
    /// What the host allows a stream with, held as long as this is.
    var permit: AdmissionSlot?
  }

  private let desk: AdmissionDesk
  private let host: Origin
  private let state = Lock(State())

  init(_ desk: AdmissionDesk, _ host: Origin) {
    self.desk = desk
    self.host = host
  }

  deinit {
    let (isHeld, isStream) = state.withLock { ($0.isHeld, $0.isStream) }
    if isStream { desk.endStream(host) }
    if isHeld { desk.leave(host) }
  }

  /// Holds the permit of a stream as well.
  func keep(_ permit: AdmissionSlot) { state.withLock { $0.permit = permit } }

  /// Gives the slot back: the body is the caller's now, and read at the caller's pace.
  func becomeStream() {
    let isFirst = state.withLock { state in
      defer { state.isStream = true }
      return !state.isStream
    }
    if isFirst { desk.beginStream(host) }
    giveBack(withPermit: false)
  }

  /// Gives the slot back before its time, and the permit of a stream: whoever has it waits for another call, which may
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
