/* Settings in the manner of INI files: [section], key = value, ; comment. No known bug: what is
 * stored must be found again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES = 8, LENGTH = 24 };

struct entry {
  char section[LENGTH], key[LENGTH], value[LENGTH];
};

struct settings {
  struct entry entries[ENTRIES];
  size_t count;
  char section[LENGTH];
};

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* A copy of the text between two places, without space around it; 0 where it does not fit. */
static int copy(char *to, const char *from, const char *end) {
  while (from < end && is_space(*from)) from++;
  while (end > from && is_space(end[-1])) end--;
  size_t length = (size_t)(end - from);
  if (length == 0 || length >= LENGTH) return 0;
  memcpy(to, from, length);
  to[length] = 0;
  return 1;
}

static struct entry *find(struct settings *settings, const char *section, const char *key) {
  for (size_t i = 0; i < settings->count; i++) {
    struct entry *entry = &settings->entries[i];
    if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0) return entry;
  }
  return NULL;
}

static int store(struct settings *settings, const char *key, const char *value) {
  struct entry *entry = find(settings, settings->section, key);
  if (!entry) {
    if (settings->count == ENTRIES) return 0;
    entry = &settings->entries[settings->count++];
    strcpy(entry->section, settings->section);
    strcpy(entry->key, key);
  }
  strcpy(entry->value, value);
  entry = find(settings, settings->section, key);
  if (!entry || strcmp(entry->value, value) != 0) abort();
  return 1;
}

static int read_line(struct settings *settings, const char *line, const char *end) {
  while (line < end && is_space(*line)) line++;
  if (line == end || *line == ';' || *line == '#') return 1;
  if (*line == '[') {
    const char *close = memchr(line, ']', (size_t)(end - line));
    return close && copy(settings->section, line + 1, close);
  }
  char key[LENGTH], value[LENGTH];
  const char *equal = memchr(line, '=', (size_t)(end - line));
  if (!equal || !copy(key, line, equal) || memchr(key, 0, strlen(key))) return 0;
  return copy(value, equal + 1, end) && store(settings, key, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct settings settings = {0};
  const char *line = (const char *)data, *end = line + size;
  if (size == 0 || memchr(data, 0, size)) return 0;
  while (line < end) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    const char *stop = next ? next : end;
    if (!read_line(&settings, line, stop)) break;
    line = next ? next + 1 : end;
  }
  return 0;
}
