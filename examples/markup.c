/* Reads <a key="value">text</a> with &amp;, &#65; and entities of its own, with four bugs, each in a
 * function of its own.
 *
 *   bug   function     what happens                 when                            how deep
 *   1     close_all    reads before a heap block    </p> in four tags, not in <p>   four tags, then a letter
 *   2     attribute    reads behind a heap block    a value at the end, with \      a tag with a key, then a letter
 *   3     character    writes behind a heap block   &#2097152; to &#2162687;        a reference with seven digits
 *   4     expand       calls itself without end     two entities, each in the       a word twice, and two letters that agree
 *                                                  text of the other
 *
 * Build it with -fsanitize=address; seeds/markup.dict has the words. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { NESTED = 32, ENTITIES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct entity {
  char name;
  const char *text;
};

struct reader {
  const char *at;
  int open;
  char names[NESTED];
  struct entity entities[ENTITIES];
  int known;
};

static volatile unsigned sink;

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int take(struct reader *in, const char *word) {
  size_t length = strlen(word);
  if (strncmp(in->at, word, length) != 0) return 0;
  in->at += length;
  return 1;
}

/* Ends a paragraph, with all that is open in it. */
static KEEP void close_all(struct reader *in) {
  char *names = malloc(sizeof in->names);
  if (!names) return;
  memcpy(names, in->names, sizeof in->names);
  while (names[in->open - 1] != 'p') in->open--;
  free(names);
}

static void close_tag(struct reader *in, char name) {
  if (in->open == 0) return;
  if (name == 'p' && in->open > 3) close_all(in);
  if (in->names[in->open - 1] == name) in->open--;
}

/* Space for four bytes, which is enough for the numbers that are characters. */
static KEEP void character(unsigned number) {
  uint8_t *bytes = malloc(4);
  if (!bytes) return;
  int length = number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
  if (number >= 0x210000) length = 1;
  else if (number >= 0x200000) length = 5;
  for (int i = length - 1; i >= 0; i--, number >>= 6) bytes[i] = (uint8_t)(number & 0x3f);
  sink += bytes[0];
  free(bytes);
}

static KEEP size_t attribute(const char *value) {
  size_t size = strlen(value), length = 0;
  char *copy = malloc(size + 1);
  if (!copy) return 0;
  memcpy(copy, value, size + 1);
  while (copy[length] && copy[length] != '"') length += copy[length] == '\\' ? 2 : 1;
  free(copy);
  return length;
}

static KEEP unsigned expand(const struct reader *in, char name) {
  unsigned letters = 0;
  for (int i = 0; i < in->known; i++) {
    if (in->entities[i].name != name) continue;
    for (const char *at = in->entities[i].text; *at && *at != '"'; at++) {
      letters++;
      if (at[0] == '&' && is_letter(at[1]) && at[1] != name && at[2] == ';') letters += expand(in, at[1]);
    }
  }
  return letters;
}

static void reference(struct reader *in) {
  if (take(in, "amp;") || take(in, "lt;") || take(in, "gt;")) return;
  if (take(in, "#")) {
    unsigned number = 0;
    for (; *in->at >= '0' && *in->at <= '9'; in->at++)
      if (number < 100000000) number = number * 10 + (unsigned)(*in->at - '0');
    if (*in->at == ';') character(number);
  } else if (is_letter(in->at[0]) && in->at[1] == ';') {
    sink += expand(in, in->at[0]);
  }
}

static void define(struct reader *in) {
  char name = *in->at;
  if (!is_letter(name)) return;
  in->at++;
  if (!take(in, " \"") || in->known == ENTITIES) return;
  in->entities[in->known++] = (struct entity){name, in->at};
  while (*in->at && *in->at != '>') in->at++;
}

static void open_tag(struct reader *in) {
  char name = *in->at;
  if (!is_letter(name)) return;
  for (in->at++; is_letter(*in->at); in->at++) sink++;
  while (take(in, " ")) {
    while (is_letter(*in->at)) in->at++;
    if (!take(in, "=\"")) return;
    in->at += attribute(in->at);
    if (!take(in, "\"")) return;
  }
  if (take(in, "/>") || in->open == NESTED) return;
  if (take(in, ">")) in->names[in->open++] = name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[257];
  struct reader in = {.at = text};
  if (size >= sizeof text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  while (*in.at) {
    if (take(&in, "<!ENTITY ")) define(&in);
    else if (take(&in, "</")) close_tag(&in, *in.at);
    else if (take(&in, "<")) open_tag(&in);
    else if (take(&in, "&")) reference(&in);
    else in.at++;
  }
  return 0;
}
