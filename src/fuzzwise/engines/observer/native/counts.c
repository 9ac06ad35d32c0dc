/* Incidence counts: how many inputs showed a feature, globally and per seed. */
#include "observer.h"

#include <string.h>

#define PAGE_FEATURES 256 /* two bits each: a page is a cache line */
#define PAGE_BYTES 64
#define TABLE_PAGES 1024
#define LOCAL_BUDGET ((size_t)120 << 20) /* with tables and the rest, 256 MiB at 20,000 seeds */

static uint32_t *holder_of(void) { return (uint32_t *)fw_holder_of.base; }

static uint64_t mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0xff51afd7ed558ccdull;
  return h ^ h >> 32;
}

/* Four lanes at once: one after the other, the multiplications would wait for each other. */
uint64_t fw_hash(const uint8_t *data, size_t size) {
  uint64_t h = 0x9e3779b97f4a7c15ull ^ size, lanes[4] = {h, h + 1, h + 2, h + 3}, words[4];
  for (; size >= sizeof words; size -= sizeof words, data += sizeof words) {
    memcpy(words, data, sizeof words);
    for (int i = 0; i < 4; i++) lanes[i] = mix(lanes[i], words[i]);
  }
  for (int i = 0; i < 4; i++) h = mix(h, lanes[i]);
  for (; size; size--) h = (h ^ *data++) * 0x100000001b3ull;
  h ^= h >> 29;
  return h ? h : 1;
}

/* One feature's count goes from `before` to `after`; `holder` is its input if it is a singleton. */
static void adjust(uint64_t feature, uint32_t before, uint32_t after, uint32_t holder) {
  uint32_t old = before & FW_COUNT, new = after & FW_COUNT;
  if (!(before & FW_SEEN) && (after & FW_SEEN)) fw_head->species++;
  if (old == new) return;
  if (old >= 1 && old <= 4) fw_head->f[old - 1]--;
  if (new >= 1 && new <= 4) fw_head->f[new - 1]++;
  if (new == 1) {
    struct fw_holder *h = fw_holder(holder);
    holder_of()[feature] = holder;
    if (h->live++ == 0) {
      fw_head->k++;
      fw_seed(h->seed)->k++;
    }
    fw_seed(h->seed)->g++;
  } else if (old == 1) {
    struct fw_holder *h = fw_holder(holder_of()[feature]);
    fw_seed(h->seed)->g--;
    if (--h->live == 0) {
      fw_head->k--;
      fw_seed(h->seed)->k--;
    }
  }
}

/* All features of an edge at once: 0 where nothing has shown it. */
static uint64_t edge_of(uint64_t feature) {
  uint64_t all;
  memcpy(&all, fw_feature() + feature / FW_BUCKETS * FW_BUCKETS, sizeof all);
  return all;
}

static void set(uint64_t feature, uint32_t value, uint32_t holder) {
  uint32_t before = fw_feature()[feature];
  if (!edge_of(feature)) fw_head->edges++;
  fw_feature()[feature] = (uint8_t)value;
  adjust(feature, before, value, holder);
}

static struct fw_change *change(uint64_t i) { return (struct fw_change *)fw_journal.base + i; }

/* Write what an input changes to the journal, as values and not as differences. The new seed and
 * the discovery are in place by then, but not counted yet. */
static void write_journal(uint64_t seed, const uint64_t *shown, size_t n_shown) {
  fw_need(&fw_journal, n_shown * sizeof(struct fw_change));
  uint64_t count = 0;
  for (size_t i = 0; i < n_shown; i++) {
    uint32_t before = fw_feature()[shown[i]];
    uint32_t seen = before & FW_COUNT;
    if (before & FW_UNSTABLE) continue; /* since the run, by another job */
    uint32_t after = FW_SEEN | (seen < FW_MANY ? seen + 1 : seen);
    if (after == before) continue;
    *change(count++) =
        (struct fw_change){.feature = shown[i], .value = after, .holder = (uint32_t)fw_head->holders};
  }
  fw_head->journal_count = count;
  fw_head->journal_seed = seed;
}

static void count_discovery(void) {
  fw_head->added += fw_head->journal_discoveries - fw_head->discoveries;
  fw_head->discoveries = fw_head->journal_discoveries;
  fw_head->data_used = fw_head->journal_data_used;
  __atomic_store_n(&fw_head->seeds, fw_head->journal_seeds, __ATOMIC_RELEASE);
}

/* After a death in the middle: bring the features to their journalled values, without aggregates,
 * which are counted anew afterwards. */
void fw_apply_journal(void) {
  for (uint64_t i = 0; i < fw_head->journal_count; i++) {
    struct fw_change *c = change(i);
    fw_feature()[c->feature] = (uint8_t)c->value;
    if ((c->value & FW_COUNT) != 1) continue;
    holder_of()[c->feature] = c->holder;
    fw_holder(c->holder)->seed = (uint32_t)fw_head->journal_seed;
    if (fw_head->holders <= c->holder) fw_head->holders = c->holder + 1ull;
  }
  count_discovery();
  fw_head->journal_valid = 0;
}

/* An edge is no species any more. The first of its features says so for all of them, should we die
 * in between. What was seen of it stays among the species, whose number never falls; its counts go. */
static void mark_unstable(uint64_t edge) {
  for (uint64_t i = edge * FW_BUCKETS; i < (edge + 1) * FW_BUCKETS; i++) {
    uint32_t before = fw_feature()[i];
    if (!(before & FW_UNSTABLE)) set(i, (before & FW_SEEN) | FW_UNSTABLE, 0);
  }
}

/* An input was run again; these edges, which nobody knew to be unstable, it showed otherwise. Lock
 * held. */
void fw_count_rerun(const uint64_t *unstable, size_t n_unstable, int differed) {
  fw_head->reruns++;
  fw_head->differed += (uint64_t)differed;
  for (size_t i = 0; i < n_unstable; i++) {
    if (fw_feature()[unstable[i] * FW_BUCKETS] & FW_UNSTABLE) continue; /* by another job */
    mark_unstable(unstable[i]);
    fw_head->unstable++;
  }
}

static void recount_edges(void) {
  fw_head->edges = fw_head->unstable = 0;
  if (fw_head->species_kind == FW_PATH) return;
  for (uint64_t i = 0; i + FW_BUCKETS <= fw_head->features; i += FW_BUCKETS) {
    if (!edge_of(i)) continue;
    fw_head->edges++;
    if (!(fw_feature()[i] & FW_UNSTABLE)) continue;
    fw_head->unstable++;
    for (uint64_t j = i; j < i + FW_BUCKETS; j++)
      fw_feature()[j] = (uint8_t)((fw_feature()[j] & FW_SEEN) | FW_UNSTABLE);
  }
}

/* All aggregates from the features alone. */
void fw_recount(void) {
  recount_edges();
  fw_head->species = fw_head->k = 0;
  memset(fw_head->f, 0, sizeof fw_head->f);
  for (uint64_t t = 0; t < fw_head->seeds; t++) fw_seed(t)->k = fw_seed(t)->g = 0;
  for (uint64_t i = 0; i < fw_head->holders; i++) fw_holder(i)->live = 0;
  for (uint64_t i = 0; i < fw_head->features; i++) {
    uint32_t value = fw_feature()[i];
    if (!value) continue;
    adjust(i, 0, value, holder_of()[i]);
  }
}

/* Put a seed in place behind the others; it exists once fw_head->seeds says so. */
static void place_seed(const uint8_t *data, size_t size, uint64_t parent, uint64_t found_at,
                       const uint64_t *owned, size_t n_owned) {
  uint64_t t = fw_head->seeds, where = fw_head->data_used;
  size_t bytes = (size + 7) / 8 * 8, list = n_owned * sizeof(uint64_t);
  fw_need(&fw_seeds, (t + 1) * sizeof(struct fw_seed));
  fw_need(&fw_data, where + bytes + list);
  memcpy(fw_data.base + where, data, size);
  if (list) memcpy(fw_data.base + where + bytes, owned, list);
  *fw_seed(t) = (struct fw_seed){.where = where,
                                 .size = size,
                                 .hash = fw_hash(data, size),
                                 .owned = where + bytes,
                                 .owned_count = n_owned,
                                 .found_at = found_at,
                                 .parent = parent};
  fw_head->journal_data_used = where + bytes + list;
  fw_head->journal_seeds = t + 1;
}

void fw_add_seed(const uint8_t *data, size_t size, const uint64_t *owned, size_t n_owned) {
  place_seed(data, size, ~0ull, fw_head->inputs, owned, n_owned);
  fw_head->journal_discoveries = fw_head->discoveries;
  count_discovery();
}

static void restart_windows(void) {
  static const uint64_t every[FW_WINDOWS] = {1, 10};
  for (int w = 0; w < FW_WINDOWS; w++) {
    if (fw_head->added % every[w]) continue;
    fw_head->window_generation[w]++;
    fw_head->window_singletons[w] = 0;
  }
}

/* The features of a list that nothing has shown yet. */
static size_t unseen(const uint64_t *shown, size_t n_shown, const uint64_t **list) {
  static uint64_t *fresh;
  static size_t room;
  size_t n = 0;
  if (n_shown > room) {
    room = n_shown * 2;
    fresh = fw_grow(fresh, room * sizeof *fresh, "counts");
  }
  for (size_t i = 0; i < n_shown; i++)
    if (!(fw_feature()[shown[i]] & (FW_SEEN | FW_UNSTABLE))) fresh[n++] = shown[i];
  *list = fresh;
  return n;
}

/* Count an input that changes some feature: `shown` are all features it showed. Lock held. */
void fw_count(uint64_t number, uint64_t seed, const uint64_t *shown, size_t n_shown,
              const uint8_t *data, size_t size) {
  const uint64_t *fresh;
  size_t n_fresh = unseen(shown, n_shown, &fresh);
  uint32_t holder = (uint32_t)fw_head->holders;
  fw_need(&fw_holders, (holder + 1ull) * sizeof(struct fw_holder));
  *fw_holder(holder) = (struct fw_holder){.seed = (uint32_t)seed};
  fw_head->journal_seeds = fw_head->seeds;
  fw_head->journal_data_used = fw_head->data_used;
  fw_head->journal_discoveries = fw_head->discoveries;
  if (n_fresh) {
    uint64_t d = fw_head->discoveries, now = fw_milliseconds();
    fw_need(&fw_discoveries, (d + 1) * sizeof(struct fw_discovery));
    ((struct fw_discovery *)(void *)fw_discoveries.base)[d] =
        (struct fw_discovery){.input = number, .milliseconds = now};
    fw_need(&fw_ages, (d + 1) * sizeof(uint64_t));
    ((uint64_t *)(void *)fw_ages.base)[d] = fw_seed(seed)->inputs; /* this one included */
    place_seed(data, size, seed, number, fresh, n_fresh);
    fw_head->last_discovery_ms = now;
    fw_head->journal_discoveries = d + 1;
  }
  write_journal(seed, shown, n_shown);
  __atomic_store_n(&fw_head->journal_valid, 1, __ATOMIC_RELEASE);
  for (uint64_t i = 0; i < fw_head->journal_count; i++) {
    struct fw_change *c = change(i);
    if ((c->value & FW_COUNT) == 1) fw_head->holders = holder + 1ull;
    set(c->feature, c->value, holder);
  }
  count_discovery();
  __atomic_store_n(&fw_head->journal_valid, 0, __ATOMIC_RELEASE);
  if (n_fresh && fw_head->per_seed) restart_windows();
}

/* Seen, though no input of the campaign showed it. */
static void mark_seen(const uint64_t *shown, size_t n_shown) {
  for (size_t i = 0; i < n_shown; i++) {
    uint32_t before = fw_feature()[shown[i]];
    if (!(before & (FW_SEEN | FW_UNSTABLE))) set(shown[i], before | FW_SEEN, 0);
  }
}

/* An input of the initial corpus; kept where it shows something new, or `anyway`. The seed comes
 * first: killed in between, it is known when it is loaded again, and its features are marked then.
 * Lock held. */
void fw_keep_initial(const uint64_t *shown, size_t n_shown, const uint8_t *data, size_t size,
                     int anyway) {
  const uint64_t *fresh;
  size_t n_fresh = unseen(shown, n_shown, &fresh);
  if (!n_fresh && !anyway) return;
  uint64_t hash = fw_hash(data, size), t = 0;
  while (t < fw_head->seeds && fw_seed(t)->hash != hash) t++;
  if (t == fw_head->seeds) {
    fw_add_seed(data, size, fresh, n_fresh);
    fw_head->initial++;
  }
  mark_seen(shown, n_shown);
}

/* The two-bit count of a feature for a seed; pages and their tables come into being when used. */
static uint8_t *local_page(uint64_t seed, uint64_t page) {
  struct fw_seed *s = fw_seed(seed);
  if (page >= TABLE_PAGES) {
    fw_head->local_off = 1;
    return NULL;
  }
  if (!s->pages) {
    uint64_t index = fw_head->local_pages >> 32;
    fw_need(&fw_directory, (index + 1) * TABLE_PAGES * sizeof(uint32_t));
    fw_head->local_pages += 1ull << 32;
    s->pages = index + 1;
  }
  uint32_t *table = (uint32_t *)fw_directory.base + (s->pages - 1) * TABLE_PAGES;
  if (!table[page]) {
    uint64_t index = fw_head->local_pages & 0xffffffffu;
    if ((index + 1) * PAGE_BYTES > LOCAL_BUDGET) {
      fw_head->local_off = 1;
      return NULL;
    }
    fw_need(&fw_pages, (index + 1) * PAGE_BYTES);
    fw_head->local_pages++;
    table[page] = (uint32_t)index + 1;
  }
  return fw_pages.base + (table[page] - 1ull) * PAGE_BYTES;
}

struct fw_window {
  uint32_t name[FW_WINDOWS]; /* generation << 2 | count up to 2 */
  uint32_t id;               /* 1 + number of the feature in order of first sight */
};

void fw_count_local(uint64_t seed, const uint64_t *shown, size_t n_shown) {
  static uint64_t ids; /* recovered from the largest id in use, see below */
  struct fw_window *windows = (struct fw_window *)fw_windows.base;
  struct fw_seed *s = fw_seed(seed);
  if (!ids) {
    for (uint64_t i = 0; i < fw_head->features; i++)
      if (windows[i].id > ids) ids = windows[i].id;
  }
  for (size_t i = 0; i < n_shown; i++) {
    struct fw_window *w = &windows[shown[i]];
    for (int a = 0; a < FW_WINDOWS; a++) {
      uint32_t generation = (uint32_t)fw_head->window_generation[a];
      if (w->name[a] >> 2 != generation) {
        w->name[a] = generation << 2 | 1;
        fw_head->window_singletons[a]++;
      } else if ((w->name[a] & 3) == 1) {
        w->name[a]++;
        fw_head->window_singletons[a]--;
      }
    }
    if (fw_head->local_off) continue;
    if (!w->id) w->id = (uint32_t)++ids;
    uint64_t id = w->id - 1;
    uint8_t *page = local_page(seed, id / PAGE_FEATURES);
    if (!page) continue;
    uint8_t *byte = page + id % PAGE_FEATURES / 4;
    unsigned shift = id % 4 * 2, count = *byte >> shift & 3;
    if (count == 3) continue;
    *byte = (uint8_t)(*byte + (1u << shift));
    if (count == 0) s->f1++;
    if (count == 1) s->f1--, s->f2++;
    if (count == 2) s->f2--;
  }
}
