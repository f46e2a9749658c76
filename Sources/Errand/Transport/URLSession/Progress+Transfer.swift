#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
  #endif
  public import Foundation

  extension Progress {
    /// A progress that shows the bodies of one direction, for what knows Foundation's.
    ///
    ///     let shown = Progress(following: export.progress, .down)
    ///     shown.cancellationHandler = { export.cancel() }
    ///
    /// It is indeterminate where the whole is not known, and stops where the sequence does. It does not keep the call.
    ///
    /// - Parameters:
    ///   - transfers: What is told, such as the `progress` of a `TaskHandle`.
    ///   - direction: The direction that is shown.
    public convenience init<Transfers: AsyncSequence & Sendable>(
      following transfers: Transfers, _ direction: TransferProgress.Direction
    ) where Transfers.Element == TransferProgress {
      self.init(totalUnitCount: -1)
      Task { [weak self] in
        for try await transfer in transfers where transfer.direction == direction {
          guard let self else { return }
          update(with: transfer)
        }
      }
    }

    /// Takes over bytes, rate and time that is left of a body.
    public func update(with transfer: TransferProgress) {
      kind = .file
      // Foundation takes nothing of nothing for what has not begun.
      let isEmpty = transfer.isFinished && transfer.completed == 0
      totalUnitCount = isEmpty ? 1 : transfer.isFinished ? transfer.completed : transfer.total ?? -1
      completedUnitCount = isEmpty ? 1 : transfer.completed
      setUserInfoObject(transfer.rate.map { Int($0) }, forKey: .throughputKey)
      setUserInfoObject(transfer.remaining.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
    }
  }
#endif
