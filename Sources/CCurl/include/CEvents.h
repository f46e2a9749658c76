// The kernel's event interface, which Swift's Glibc module leaves out.
#ifndef CCURL_EVENTS_H
#define CCURL_EVENTS_H
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

/// Nanoseconds of the monotonic clock.
static inline uint64_t ccurl_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// Nanoseconds of processor time that a thread has taken; 0 where that cannot be told.
static inline uint64_t ccurl_thread_time(unsigned long thread) {
  clockid_t clock;
  struct timespec time;
  if (pthread_getcpuclockid((pthread_t)thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
#endif
#endif
