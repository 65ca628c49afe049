/*
 * Preloaded into a service, it stands between that and the disk: each fsync and fdatasync
 *  - takes FSYNC_MS longer, as on a volume in a cloud;
 *  - is counted in the file FSYNC_COUNT: two numbers of eight bytes, of all threads and of the main one alone;
 *  - of the files whose paths begin with FSYNC_STORE leaves in the folder FSYNC_DISK what the disk has for certain
 *    when it has ended: the file as it was before it began;
 *  - of these goes wrong as the file `fault` in that folder says: `store.db 3 eio` waits for one of store.db, lets three
 *    pass from that on, and fails for ever then; with `store.db 3 cut` the process stands still in the fourth for CUT_MS,
 *    in which other threads go on and may say too much, and is killed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CUT_MS = 250 };

static uint64_t *counts;
static struct timespec delay;
static const char *store, *disk;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static struct timespec milliseconds(long ms) {
  return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("FSYNC_MS");
  delay = milliseconds(text ? atol(text) : 0);
  store = getenv("FSYNC_STORE");
  disk = getenv("FSYNC_DISK");
  const char *file = getenv("FSYNC_COUNT");
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

/* Whether the file is the store's; `name` becomes that of it on the disk. */
static int is_of_store(int fd, char name[PATH_MAX]) {
  char link[64], file[PATH_MAX];
  if (!store || !disk) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, file, sizeof file - 1);
  if (length < 0) return 0;
  file[length] = 0;
  if (strncmp(file, store, strlen(store)) != 0) return 0;
  return snprintf(name, PATH_MAX, "%s/%s", disk, strrchr(file, '/') + 1) < PATH_MAX;
}

/* By the descriptor that is there: to close another one of the same file would drop the locks that SQLite has on it. */
static void copy(int fd, const char *to) {
  struct stat found;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0 || fstat(fd, &found) != 0) abort();
  for (off_t at = 0; at < found.st_size;)
    if (sendfile(out, fd, &at, found.st_size - at) <= 0) abort();
  close(out);
}

/* What is to become of this fsync. Called by one thread at a time. */
enum fault { NONE, EIO_FAULT, CUT };

static enum fault next_fault(const char *name) {
  static int left = -1;
  static char first[NAME_MAX + 1], kind;
  char file[PATH_MAX];
  snprintf(file, sizeof file, "%s/fault", disk);
  FILE *fault = left < 0 ? fopen(file, "re") : NULL;
  if (fault && fscanf(fault, "%255s %d %c", first, &left, &kind) != 3) abort();
  if (fault) fclose(fault);
  if (left < 0 || (first[0] && strcmp(strrchr(name, '/') + 1, first) != 0)) return NONE;
  first[0] = 0;
  if (left > 0 && left--) return NONE;
  return kind == 'c' ? CUT : EIO_FAULT;
}

static int sync_file(const char *how, int fd) {
  char name[PATH_MAX], draft[PATH_MAX + 8];
  if (!is_of_store(fd, name)) return slowly(how, fd);
  pthread_mutex_lock(&one_at_a_time);
  enum fault fault = next_fault(name);
  if (fault == CUT) {
    struct timespec still = milliseconds(CUT_MS);
    nanosleep(&still, NULL);
    kill(getpid(), SIGKILL);
  }
  snprintf(draft, sizeof draft, "%s.new", name);
  copy(fd, draft);
  int result = fault ? -1 : slowly(how, fd);
  if (fault) errno = EIO;
  if (result == 0 && rename(draft, name) != 0) abort();
  pthread_mutex_unlock(&one_at_a_time);
  return result;
}

int fsync(int fd) { return sync_file("fsync", fd); }
int fdatasync(int fd) { return sync_file("fdatasync", fd); }
