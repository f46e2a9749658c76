// SHA-256 with the SHA instructions of x86-64 processors, which are five times as fast as a loop.
//
// Except on Linux on x86-64 this header is empty.
#ifndef CSHA256_H
#define CSHA256_H
#if defined(__linux__) && defined(__x86_64__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Whether the processor has the instructions that `csha256_absorb` uses.
bool csha256_is_available(void);

/// Hashes blocks of 64 bytes into a state of eight words. `constants` are the 64 words of FIPS 180-4 §4.2.2.
void csha256_absorb(void *state, const uint32_t *constants, const void *bytes, size_t blocks);

#pragma clang assume_nonnull end

#endif
#endif
