#if os(Linux)
  import CCurl

  extension CurlLoop {
    enum Command: Sendable {
      case add(CurlTransfer)
      case cancel(CurlTransfer)
      /// The reader has room again, or there is more to send.
      case unpause(CurlTransfer)
      case count(CurlGroup.ID, @Sendable ([String: ConnectionCounts]) -> Void)
      /// The group will receive no more transfers.
      case close(CurlGroup.ID)
    }

    func carryOutCommands() {
      for command in commands {
        switch command {
        case .add(let transfer): add(transfer)
        case .cancel(let transfer): stop(transfer, with: CancellationError())
        case .unpause(let transfer): unpause(transfer)
        case .count(let id, let answer): answer(groups[id]?.connections(in: sockets) ?? [:])
        case .close(let id):
          groups[id]?.isClosed = true
          untidy.append(id)
        }
      }
      // Adding, removing and unpausing may have finished transfers.
      if !commands.isEmpty { for multi in multis.values { multi.drain() } }
    }

    private func add(_ transfer: CurlTransfer) {
      guard !transfer.isOver else { return }
      let known = groups[transfer.group]
      let group = known ?? CurlGroup(id: transfer.group, transfer.rules)
      if known == nil { groups[transfer.group] = group }
      transfer.begin(at: now)
      if transfer.mayMultiplex { CurlWatchdog.shared.join(pulse) }
      timers.insert(transfer)
      if group.connectionsPerOrigin > 0 { return wait(transfer, in: group) }
      multi(for: transfer, in: group)?.add(transfer)
    }

    /// Returns the multi for a transfer. If it can't be created, ends the transfer and returns `nil`.
    func multi(for transfer: CurlTransfer, in group: CurlGroup) -> CurlMulti? {
      if let present = group.multi(for: transfer) { return present }
      lastMulti &+= 1
      guard let made = CurlMulti(id: lastMulti, for: CurlMulti.Use(transfer), group: group, loop: self) else {
        left(transfer)
        transfer.finish(.failure(Self.unavailable("could not create a multi handle")))
        retire(transfer)
        return nil
      }
      multis[lastMulti] = made
      group.adopt(made)
      return made
    }

    func unpause(_ transfer: CurlTransfer) {
      guard let multi = transfer.multi else { return }
      let code = transfer.unpause(at: now)
      guard code != CCE_OK, !transfer.isOver else { return }
      multi.remove(transfer)
      completed(transfer, code)
    }
  }
#endif
