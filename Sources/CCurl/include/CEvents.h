// The kernel's event interface, which Swift's Glibc module leaves out.
#ifndef CCURL_EVENTS_H
#define CCURL_EVENTS_H
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
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

/// How many bytes were ever read from a TCP connection; 0 where that cannot be told.
static inline uint64_t ccurl_bytes_read(int descriptor) {
  // Of the kernel's tcp_info, whose declaration the C library's may lag behind: tcpi_bytes_received, since 4.1.
  enum { tcp_info_option = 11, received_offset = 128 };
  unsigned char information[256] = {0};
  socklen_t size = sizeof(information);
  uint64_t received;
  int unread = 0;
  if (getsockopt(descriptor, IPPROTO_TCP, tcp_info_option, information, &size) != 0) return 0;
  if (size < received_offset + sizeof(received) || ioctl(descriptor, FIONREAD, &unread) != 0) return 0;
  memcpy(&received, information + received_offset, sizeof(received));
  return received - (uint64_t)unread;
}
#endif
#endif
