/* The campaign's log: one line of a snapshot file (docs/snapshot-format.md) at each data point. */
#include "observer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int log_fd = -1;
static char log_path[4096];
static char *line;
static size_t used, room;
static double waiting = -1; /* share of the preferred seeds; outside of 0 … 1: not said */
static int64_t tried = -1;  /* seeds; below 0: not said */

void fw_log_open(const char *folder) {
  snprintf(log_path, sizeof log_path, "%s/observations.jsonl", folder);
  log_fd = fw_open_file(log_path);
  if (log_fd < 0) fw_fail("cannot open the log", log_path);
}

/* For a fuzzer that goes through its seeds by turns: what the next lines say of those. */
void fw_set_waiting(double share, int64_t seeds_tried) {
  waiting = share;
  tried = seeds_tried;
}

static void put(const char *format, ...) {
  va_list arguments;
  for (;;) {
    va_start(arguments, format);
    int length = vsnprintf(line + used, room - used, format, arguments);
    va_end(arguments);
    if (length < 0) fw_fail("cannot format", "the log");
    if (used + (size_t)length < room) {
      used += (size_t)length;
      return;
    }
    room = (used + (size_t)length + 1) * 2;
    line = fw_grow(line, room, "the log");
  }
}

static void put_column(const char *name, size_t field) {
  put(",\"%s\":[", name);
  for (uint64_t t = 0; t < fw_head->seeds; t++) {
    uint64_t value;
    memcpy(&value, (const uint8_t *)fw_seed(t) + field, sizeof value);
    put("%s%" PRIu64, t ? "," : "", value);
  }
  put("]");
}

/* How old the seeds of the discoveries were, unless an earlier version counted some of them. */
static void put_ages(void) {
  const uint64_t *ages = (const uint64_t *)(const void *)fw_ages.base;
  fw_need(&fw_ages, fw_head->discoveries * sizeof *ages);
  for (uint64_t i = 0; i < fw_head->discoveries; i++)
    if (!ages[i]) return;
  put(",\"ages\":[");
  for (uint64_t i = fw_head->logged; i < fw_head->discoveries; i++)
    put("%s%" PRIu64, i > fw_head->logged ? "," : "", ages[i] - 1);
  put("]");
}

/* Lock held: nothing moves while the line is made. */
void fw_log_point(int with_truth, uint64_t found, uint64_t size) {
  used = 0;
  if (fw_head->log_bytes == 0) {
    static const char *const kinds[] = {"feature", "edge", "path"};
    const char *name = getenv("FUZZWISE_CAMPAIGN"), *subject = getenv("FUZZWISE_SUBJECT");
    put("{\"format\":\"fuzzwise-observations\",\"version\":1,\"campaign\":%s,\"subject\":%s,"
        "\"species_kind\":\"%s\"}\n",
        name ? name : "\"\"", subject ? subject : "\"\"", kinds[fw_head->species_kind % 3]);
  }
  put("{\"n\":%" PRIu64 ",\"seconds\":%.3f", fw_head->inputs, (double)fw_milliseconds() / 1000);
  if (fw_head->discoveries)
    put(",\"last_discovery_seconds\":%.3f", (double)fw_head->last_discovery_ms / 1000);
  put(",\"species\":%" PRIu64 ",\"f\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
      "],\"k\":%" PRIu64 ",\"discoveries\":[",
      fw_head->species, fw_head->f[0], fw_head->f[1], fw_head->f[2], fw_head->f[3], fw_head->k);
  const struct fw_discovery *all = (const struct fw_discovery *)fw_discoveries.base;
  for (uint64_t i = fw_head->logged; i < fw_head->discoveries; i++)
    put("%s%" PRIu64, i > fw_head->logged ? "," : "", all[i].input);
  put("]");
  put_ages();
  put(",\"seeds\":{\"q\":[");
  double sum = fw_weight_sum();
  for (uint64_t t = 0; t < fw_head->seeds; t++) put("%s%.17g", t ? "," : "", fw_weight(t) / sum);
  put("]");
  put_column("n", offsetof(struct fw_seed, inputs));
  if (fw_head->per_seed && !fw_head->local_off) {
    put_column("f1", offsetof(struct fw_seed, f1));
    put_column("f2", offsetof(struct fw_seed, f2));
  }
  put_column("k", offsetof(struct fw_seed, k));
  put_column("g", offsetof(struct fw_seed, g));
  put("}");
  if (fw_head->per_seed)
    put(",\"resets\":{\"1\":%" PRIu64 ",\"10\":%" PRIu64 "}", fw_head->window_singletons[0],
        fw_head->window_singletons[1]);
  if (with_truth)
    put(",\"truth\":{\"discoveries\":%" PRIu64 ",\"inputs\":%" PRIu64 "}", found, size);
  if (waiting >= 0 && waiting <= 1) put(",\"waiting\":%.17g", waiting);
  if (tried >= 0) put(",\"tried\":%" PRId64, tried);
  put("}\n");
  size_t written = 0;
  while (written < used) {
    ssize_t n = pwrite(log_fd, line + written, used - written,
                       (off_t)(fw_head->log_bytes + written));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EBADF && (log_fd = fw_open_file(log_path)) >= 0) continue;
    if (n <= 0) fw_fail("no room for the log", "observations.jsonl");
    written += (size_t)n;
  }
  if (ftruncate(log_fd, (off_t)(fw_head->log_bytes + used)) != 0)
    fw_fail("cannot cut the log", "observations.jsonl");
  fw_head->logged = fw_head->discoveries;
  fw_head->log_bytes += used;
  while (fw_head->next_point <= fw_head->inputs) fw_head->next_point *= 2;
}
