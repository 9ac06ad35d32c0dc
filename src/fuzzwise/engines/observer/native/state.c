/* The memory-mapped files of a campaign, and what makes them survive a kill at any instant. */
#include "observer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 16)

struct fw_head *fw_head;
struct fw_region fw_features = {.name = "features", .limit = (size_t)1 << 32};
struct fw_region fw_holder_of = {.name = "holder-of", .limit = (size_t)1 << 34};
struct fw_region fw_seeds = {.name = "seeds", .limit = (size_t)1 << 34};
struct fw_region fw_data = {.name = "data", .limit = (size_t)1 << 38};
struct fw_region fw_holders = {.name = "holders", .limit = (size_t)1 << 34};
struct fw_region fw_journal = {.name = "journal", .limit = (size_t)1 << 34};
struct fw_region fw_discoveries = {.name = "discoveries", .limit = (size_t)1 << 34};
struct fw_region fw_ages = {.name = "ages", .limit = (size_t)1 << 33};
struct fw_region fw_times = {.name = "times", .limit = (size_t)1 << 33};
struct fw_region fw_directory = {.name = "local-tables", .limit = (size_t)1 << 34};
struct fw_region fw_pages = {.name = "local-counts", .limit = (size_t)1 << 34};
struct fw_region fw_windows = {.name = "windows", .limit = (size_t)1 << 35};
struct fw_region fw_paths = {.name = "paths", .limit = (size_t)1 << 36};
static struct fw_region head = {.name = "head", .limit = (size_t)1 << 16};

unsigned fw_job, fw_jobs;
int fw_fresh_state;

void fw_open_region(struct fw_region *region, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, region->name);
  region->path = strdup(path);
  region->fd = fw_open_file(path);
  struct stat info;
  if (region->fd < 0 || fstat(region->fd, &info) != 0) fw_fail("cannot open the state", path);
  region->size = (size_t)info.st_size;
  /* All of the address space at once: growing the file then never moves what others point to. */
  void *base = mmap(NULL, region->limit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    region->fd, 0);
  if (base == MAP_FAILED) fw_fail("cannot map the state", path);
  region->base = base;
}

void fw_need(struct fw_region *region, size_t bytes) {
  if (bytes <= region->size) return;
  if (bytes > region->limit) {
    errno = EFBIG;
    fw_fail("the state has grown beyond its limit", region->name);
  }
  struct stat info; /* another job may have made it larger meanwhile */
  if (fstat(region->fd, &info) == 0 && (size_t)info.st_size >= bytes) {
    region->size = (size_t)info.st_size;
    return;
  }
  size_t wanted = (bytes + bytes / 8 + CHUNK - 1) / CHUNK * CHUNK;
  if (wanted > region->limit) wanted = region->limit;
  /* Allocated, not only extended: a full disk is an error here and not a SIGBUS later. */
  int error = posix_fallocate(region->fd, 0, (off_t)wanted);
  if (error == EBADF) { /* the target has closed it all the same */
    region->fd = fw_open_file(region->path);
    error = region->fd < 0 ? errno : posix_fallocate(region->fd, 0, (off_t)wanted);
  }
  if (error) {
    errno = error;
    fw_fail("no room for the state", region->name);
  }
  region->size = wanted;
}

static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&fw_head->lock, &attributes);
}

void fw_lock(void) {
  if (pthread_mutex_lock(&fw_head->lock) == EOWNERDEAD) {
    pthread_mutex_consistent(&fw_head->lock);
    if (fw_head->journal_valid) fw_apply_journal();
    fw_recount();
  }
  __atomic_fetch_add(&fw_head->sequence, 1, __ATOMIC_ACQ_REL);
}

void fw_unlock(void) {
  __atomic_fetch_add(&fw_head->sequence, 1, __ATOMIC_ACQ_REL);
  pthread_mutex_unlock(&fw_head->lock);
}

/* The first process of a run finds no other alive: an old lock would mean nothing. */
static int is_first(void) { return fw_setting("FUZZWISE_FIRST", 1) != 0; }

void fw_open(const char *folder) {
  fw_job = (unsigned)fw_setting("FUZZWISE_JOB", 0) % FW_MAX_JOBS;
  fw_jobs = (unsigned)fw_setting("FUZZWISE_JOBS", 1);
  fw_start_clock();
  fw_open_region(&head, folder);
  fw_need(&head, sizeof(struct fw_head));
  fw_head = (struct fw_head *)head.base;
  fw_fresh_state = fw_head->magic == 0;
  if (!fw_fresh_state && (fw_head->magic != FW_MAGIC || fw_head->version != FW_VERSION)) {
    errno = EINVAL;
    fw_fail("not a state of this version of fuzzwise", folder);
  }
  struct fw_region *regions[] = {&fw_features, &fw_holder_of, &fw_seeds,     &fw_data,
                                 &fw_holders,  &fw_journal,   &fw_discoveries, &fw_directory,
                                 &fw_pages,    &fw_windows,   &fw_paths,       &fw_ages,
                                 &fw_times};
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) fw_open_region(regions[i], folder);
  if (is_first()) make_lock();
  if (fw_fresh_state) {
    fw_head->version = FW_VERSION;
    fw_head->species_kind = (uint32_t)fw_setting("FUZZWISE_SPECIES", FW_FEATURE);
    fw_head->measure = fw_setting("FUZZWISE_MEASURE", 0);
    fw_head->per_seed = fw_setting("FUZZWISE_PER_SEED", 0);
    fw_head->next_point = 100;
  }
  fw_head->schedule = fw_setting("FUZZWISE_SCHEDULE", FW_FRESH);
  fw_head->max_inputs = fw_setting("FUZZWISE_INPUTS", 0);
  fw_log_open(folder);
}

/* Room for the counts of so many features; what was counted must be of as many. */
void fw_make_room(uint64_t features) {
  if (!fw_fresh_state && fw_head->features != features) {
    fprintf(stderr, "fuzzwise: the state belongs to another build of the target.\n");
    _exit(FW_EXIT_STATE);
  }
  fw_need(&fw_features, features);
  fw_need(&fw_holder_of, features * sizeof(uint32_t));
  if (fw_head->per_seed) fw_need(&fw_windows, features * 3 * sizeof(uint32_t));
  fw_head->features = features;
}

/* Complete what processes that died left half done. Only while no other job runs. */
void fw_recover(void) {
  if (fw_head->journal_valid) fw_apply_journal();
  for (unsigned i = 0; i < FW_MAX_JOBS; i++) fw_recover_slot(i);
  uint64_t inputs = 0;
  for (uint64_t t = 0; t < fw_head->seeds; t++) inputs += fw_seed(t)->inputs;
  fw_head->inputs = inputs;
  fw_recount();
}

/* All is set up: a fresh state is one from now on, and another goes on from where it was left. */
void fw_ready(void) {
  if (fw_fresh_state) {
    for (int w = 0; w < FW_WINDOWS; w++) fw_head->window_generation[w] = 1;
    __atomic_store_n(&fw_head->magic, FW_MAGIC, __ATOMIC_RELEASE);
  } else if (is_first()) {
    fw_recover();
  } else {
    fw_recover_slot(fw_job);
  }
}
