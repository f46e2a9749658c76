import ErrandFoundation

/// The memory and descriptors of the process at one moment.
struct ProcessFootprint: Sendable {
  let residentMegabytes: Double
  let descriptors: Int

  /// The current footprint.
  static var now: ProcessFootprint {
    let limit = min(getdtablesize(), 65_536)
    let open = (0..<limit).filter { fcntl($0, F_GETFD) >= 0 }.count
    return ProcessFootprint(residentMegabytes: residentMegabytes, descriptors: open)
  }

  /// The footprint after the allocator has released unused memory. The remaining memory is in use or has leaked.
  static var trimmed: ProcessFootprint {
    trimAllocator()
    return now
  }

  /// Waits until loops and servers have closed their descriptors, and returns the footprint.
  static func settled(atMost descriptors: Int) async -> ProcessFootprint {
    var footprint = ProcessFootprint.trimmed
    for _ in 0..<40 {
      try? await Task.sleep(for: .milliseconds(50))  // this task is never cancelled
      let next = ProcessFootprint.trimmed
      let isSteady = next.descriptors == footprint.descriptors
      footprint = next
      if next.descriptors <= descriptors || (descriptors == 0 && isSteady) { break }
    }
    return footprint
  }
}

extension ProcessFootprint {
  /// Raises the descriptor limit to the maximum. Throws if that is not enough.
  static func raiseDescriptorLimit(toAtLeast count: UInt64) throws {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(resource, &limit) == 0, UInt64(limit.rlim_max) >= count else {
      throw BenchError("\(count) descriptors are needed, but the limit is \(limit.rlim_max)")
    }
  }

  /// Calls glibc's `malloc_trim`, which is missing from Swift's overlay. Does nothing on other platforms.
  private static func trimAllocator() {
    typealias Trim = @convention(c) (Int) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: Trim.self)(0)
  }
}

#if canImport(Darwin)
  extension ProcessFootprint {
    static var residentMegabytes: Double {
      var information = mach_task_basic_info()
      var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
      withUnsafeMutablePointer(to: &information) { pointer in
        pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
          _ = task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
        }
      }
      return Double(information.resident_size) / 1e6
    }
  }
#else
  extension ProcessFootprint {
    static var residentMegabytes: Double {
      // The content is "size resident shared …", in pages.
      guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
      let fields = text.split(separator: " ")
      guard fields.count > 1, let pages = Double(fields[1]) else { return 0 }
      return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
    }
  }
#endif
