/* An address book in a binary file, with eleven bugs. Each bug is in a function of its own.
 *
 *   records FILE        FILE is "RB01", then records: tag, length, payload
 *
 *   bug   function       what happens                                      tag, and when
 *   1     tidy_name      writes behind an array on the stack               N  name over 32 bytes
 *   2     add_note       dereferences null                                 T  before any N
 *   3     set_pixel      writes 256 MiB or more behind a heap block        P  bit 28 to 31 of place
 *   4     lookup         reads before a table                              Q  negative index
 *   5     follow         calls itself without end                          L, F  a circle of links
 *   6     average        divides by zero                                   V  no values
 *   7     check_format   aborts (assertion)                                A  format over 9
 *   8     show           uses a contact after it was freed                 D, S
 *   9     forget         frees a contact twice                             D, D
 *   10    read_comment   copies a negative length (in copy_bytes)          C  length under 4
 *   11    read_street    copies a negative length (in copy_bytes)          R  length under 2
 *
 * Build it with -fstack-protector-strong, so that bug 1 is noticed where it happens. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { CONTACTS = 6, LINKS = 16, COLUMNS = 4096, ROWS = 16, END = 255, MOST = 1 << 16 };

struct contact {
  const char *label;
  char name[24];
  unsigned notes;
};

static struct contact *contacts[CONTACTS], *current;
static unsigned used;
static uint8_t links[LINKS], *pixels;
static const long long prices[8] = {3, 5, 8, 13, 21, 34, 55, 89};
static volatile long long sink;

static KEEP void tidy_name(char *out, const uint8_t *payload) {
  char name[32] = {0};
  memcpy(name, payload + 1, payload[0]);
  for (int i = 0; i < 32; i++)
    if (name[i] >= 'a' && name[i] <= 'z') name[i] = (char)(name[i] - 32);
  memcpy(out, name, 23);
}

static KEEP void add_contact(const uint8_t *payload) {
  if (used == CONTACTS) return;
  struct contact *added = malloc(sizeof *added);
  if (!added) exit(1);
  *added = (struct contact){.label = "contact"};
  tidy_name(added->name, payload);
  contacts[used++] = current = added;
}

static KEEP void add_note(struct contact *owner, unsigned length) { owner->notes += length; }

static uint32_t four_bytes(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static KEEP void set_pixel(const uint8_t *payload) {
  uint32_t place = four_bytes(payload), x = place % COLUMNS, y = place / COLUMNS;
  if ((uint16_t)y >= ROWS) return;
  pixels[(size_t)y * COLUMNS + x] = payload[4];
}

static KEEP void lookup(const uint8_t *payload) {
  int32_t index = (int32_t)four_bytes(payload);
  if (index < 8) sink += prices[index];
}

static KEEP unsigned follow(unsigned from) {
  volatile char visited[64];
  visited[from % 64] = 1;
  if (links[from % LINKS] == END) return from;
  return follow(links[from % LINKS]) + (unsigned)visited[from % 64];
}

static KEEP void average(const uint8_t *payload, unsigned length) {
  unsigned sum = 0, count = payload[0];
  for (unsigned i = 1; i < length; i++) sum += payload[i];
  sink += sum / count;
}

static KEEP void check_format(unsigned format) {
  assert(format <= 9);
  sink += format;
}

static KEEP void show(const struct contact *shown) { sink += shown->label[0]; }

static KEEP void forget(unsigned number) {
  if (contacts[number] == current) current = NULL;
  free(contacts[number]);
}

static KEEP void copy_bytes(char *out, const uint8_t *from, uint32_t length) {
  memcpy(out, from, length);
  sink += out[0];
}

static KEEP void read_comment(const uint8_t *payload) {
  char *text = malloc(256);
  if (!text) exit(1);
  copy_bytes(text, payload + 1, (uint32_t)payload[0] - 4);
  free(text);
}

static KEEP void read_street(const uint8_t *payload) {
  char *text = malloc(256);
  if (!text) exit(1);
  copy_bytes(text, payload + 1, (uint32_t)payload[0] - 2);
  sink += text[1];
  free(text);
}

static KEEP void read_record(uint8_t tag, const uint8_t *payload, unsigned length) {
  unsigned first = payload[0];
  switch (tag) {
    case 'N': add_contact(payload); break;
    case 'T': add_note(current, length); break;
    case 'P': set_pixel(payload); break;
    case 'Q': lookup(payload); break;
    case 'L': links[first % LINKS] = payload[1] < LINKS ? payload[1] : END; break;
    case 'F': sink += follow(first); break;
    case 'V': average(payload, length); break;
    case 'A': check_format(first); break;
    case 'S': if (first < used) show(contacts[first]); break;
    case 'D': if (first < used) forget(first); break;
    case 'C': read_comment(payload); break;
    case 'R': read_street(payload); break;
    default: break;
  }
  sink += tag;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  uint8_t *data = calloc(1, MOST + 512);
  pixels = calloc(ROWS, COLUMNS);
  if (!file || !data || !pixels) return 1;
  size_t size = fread(data, 1, MOST, file), at = 4;
  if (size < 4 || memcmp(data, "RB01", 4) != 0) return 1;
  memset(links, END, sizeof links);
  while (at + 2 <= size) {
    unsigned length = data[at + 1];
    read_record(data[at], data + at + 2, length);
    at += 2 + length;
  }
  printf("%u contacts\n", used);
  return 0;
}
