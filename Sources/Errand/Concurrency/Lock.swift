#if canImport(Darwin) || SANITIZES_THREADS
  #if canImport(Darwin)
    import Darwin
    private typealias Primitive = os_unfair_lock
  #elseif canImport(Musl)
    import Musl
    private typealias Primitive = pthread_mutex_t
  #else
    import Glibc
    private typealias Primitive = pthread_mutex_t
  #endif
#else
  import Synchronization
#endif

/// A value protected by a mutex.
///
/// This is the library's only lock type. Never call other code while holding a lock: read, unlock, then act.
///
/// It wraps a `Synchronization.Mutex`, which is stored inline and locks without a system call if uncontended. In two
/// cases, it wraps a heap-allocated `os_unfair_lock` or pthread mutex instead: on Apple platforms, because the library
/// also supports versions without `Mutex`, and with the thread sanitizer on Linux, which doesn't recognize `Mutex` and
/// reports false races.
///
/// Safety of `@unchecked Sendable`: the value is only accessed in ``withLock(_:)``, which holds the lock.
package struct Lock<Value>: ~Copyable, @unchecked Sendable {
  #if canImport(Darwin) || SANITIZES_THREADS
    private final class Storage: ManagedBuffer<Value, Primitive> {
      deinit {
        // ManagedBuffer deinitializes the value, which is its header.
        withUnsafeMutablePointerToElements { primitive in
          #if !canImport(Darwin)
            pthread_mutex_destroy(primitive)
          #endif
          primitive.deinitialize(count: 1)
        }
      }
    }

    private let storage: ManagedBuffer<Value, Primitive>

    package init(_ value: sending Value) {
      storage = Storage.create(minimumCapacity: 1) { buffer in
        buffer.withUnsafeMutablePointerToElements { primitive in
          primitive.initialize(to: Primitive())
          #if !canImport(Darwin)
            pthread_mutex_init(primitive, nil)
          #endif
        }
        return value
      }
    }

    /// Runs `body` with exclusive access to the value. `body` must be short and must not acquire another lock.
    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      let (value, primitive) = storage.withUnsafeMutablePointers { ($0, $1) }
      #if canImport(Darwin)
        os_unfair_lock_lock(primitive)
        defer { os_unfair_lock_unlock(primitive) }
      #else
        pthread_mutex_lock(primitive)
        defer { pthread_mutex_unlock(primitive) }
      #endif
      return try body(&value.pointee)
    }
  #else
    private let mutex: Mutex<Value>

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value. `body` must be short and must not acquire another lock.
    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  #endif
}
