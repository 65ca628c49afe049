/*
 * Preloaded into a service, it makes each fsync and fdatasync take SLOW_FSYNC_MS longer, as a volume in
 * a cloud does, and counts them in the file SLOW_FSYNC_COUNT: two numbers of eight bytes, of all
 * threads and of the main one alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t *counts;
static struct timespec delay;

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("SLOW_FSYNC_MS");
  long ms = text ? atol(text) : 0;
  delay.tv_sec = ms / 1000;
  delay.tv_nsec = ms % 1000 * 1000000;
  const char *file = getenv("SLOW_FSYNC_COUNT");
  int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *shared = mmap(NULL, 2 * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared != MAP_FAILED) counts = shared;
  close(fd);
}

static int slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (counts) __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
  if (counts && gettid() == getpid()) __atomic_add_fetch(&counts[1], 1, __ATOMIC_RELAXED);
  nanosleep(&delay, NULL);
  return real(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
