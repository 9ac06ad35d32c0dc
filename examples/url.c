/* The parts of a URL, SCHEME://USER@HOST:PORT/PATH?QUERY#FRAGMENT, with the path decoded; no known
 * bug. The parts must lie in order inside of the text. */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct part {
  size_t start, end;
};

struct url {
  struct part scheme, user, host, path, query, fragment;
  long port;
};

static size_t until(const uint8_t *text, size_t from, size_t end, const char *stops) {
  for (size_t i = from; i < end; i++)
    for (const char *stop = stops; *stop; stop++)
      if (text[i] == (uint8_t)*stop) return i;
  return end;
}

static long port_of(const uint8_t *text, struct part part) {
  long port = 0;
  if (part.start == part.end || part.end - part.start > 5) return -1;
  for (size_t i = part.start; i < part.end; i++) {
    if (!isdigit(text[i])) return -1;
    port = port * 10 + (text[i] - '0');
  }
  return port <= 65535 ? port : -1;
}

static int hex(uint8_t digit) {
  if (isdigit(digit)) return digit - '0';
  digit = (uint8_t)tolower(digit);
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes %41 and the like; the length, or -1 where a percent sign has no two digits behind it. */
static long decode(const uint8_t *text, struct part part, uint8_t *out) {
  long length = 0;
  for (size_t i = part.start; i < part.end; i++) {
    if (text[i] != '%') {
      out[length++] = text[i];
      continue;
    }
    if (part.end - i < 3) return -1;
    int high = hex(text[i + 1]), low = hex(text[i + 2]);
    if (high < 0 || low < 0) return -1;
    out[length++] = (uint8_t)(high << 4 | low);
    i += 2;
  }
  return length;
}

static int authority(const uint8_t *text, size_t start, size_t end, struct url *url) {
  size_t at = until(text, start, end, "@");
  url->user = (struct part){start, at < end ? at : start};
  size_t host = at < end ? at + 1 : start;
  size_t colon = until(text, host, end, ":");
  url->host = (struct part){host, colon};
  url->port = 0;
  if (colon == end) return host < end;
  url->port = port_of(text, (struct part){colon + 1, end});
  return url->port >= 0 && host < colon;
}

static int parse(const uint8_t *text, size_t size, struct url *url) {
  size_t colon = until(text, 0, size, ":/?#");
  if (colon == 0 || size - colon < 3 || !isalpha(text[0])) return 0;
  if (text[colon] != ':' || text[colon + 1] != '/' || text[colon + 2] != '/') return 0;
  url->scheme = (struct part){0, colon};
  size_t path = until(text, colon + 3, size, "/?#");
  if (!authority(text, colon + 3, path, url)) return 0;
  size_t query = until(text, path, size, "?#");
  size_t fragment = until(text, query, size, "#");
  url->path = (struct part){path, query};
  url->query = (struct part){query < fragment ? query + 1 : query, fragment};
  url->fragment = (struct part){fragment < size ? fragment + 1 : fragment, size};
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct url url;
  if (!parse(data, size, &url)) return 0;
  const struct part *parts[] = {&url.scheme, &url.user, &url.host,
                                &url.path,   &url.query, &url.fragment};
  size_t before = 0;
  for (size_t i = 0; i < 6; i++) {
    if (parts[i]->start < before || parts[i]->end < parts[i]->start || parts[i]->end > size) abort();
    before = parts[i]->end;
  }
  uint8_t *path = malloc(url.path.end - url.path.start + 1);
  if (!path) return 0;
  if (decode(data, url.path, path) > (long)(url.path.end - url.path.start)) abort();
  free(path);
  return 0;
}
