// What the library has of Foundation and of C, under one name. On Linux that is FoundationEssentials: Foundation itself
// would bring ICU along, and with it half of the memory that a process has at its start.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials

  #if canImport(Musl)
    @_exported public import Musl
  #elseif canImport(Glibc)
    @_exported public import Glibc
  #endif
#else
  @_exported public import Foundation
#endif
