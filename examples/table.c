/* Adds up the columns of a table, CSV with quoted cells as in RFC 4180; no known bug. A black box.
 *
 *   table FILE        prints the sum of each column, and how many of its cells are numbers */
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 16, CELL = 64 };

struct column {
  double sum;
  long numbers, cells;
};

struct cell {
  char text[CELL];
  size_t length;
};

static void add_letter(struct cell *cell, int letter) {
  if (cell->length + 1 < CELL) cell->text[cell->length++] = (char)letter;
  cell->text[cell->length] = 0;
}

static void add_cell(struct column *columns, size_t *column, struct cell *cell) {
  if (*column < COLUMNS) {
    char *end = cell->text;
    double value = strtod(cell->text, &end);
    struct column *here = &columns[*column];
    here->cells++;
    if (end != cell->text && *end == 0 && value > -1e12 && value < 1e12) {
      here->sum += value;
      here->numbers++;
    }
    ++*column;
  }
  cell->length = 0;
  cell->text[0] = 0;
}

static int read_table(FILE *file, struct column *columns) {
  struct cell cell = {"", 0};
  size_t column = 0;
  int quoted = 0, letter;
  while ((letter = getc(file)) != EOF) {
    if (quoted) {
      if (letter != '"') {
        add_letter(&cell, letter);
        continue;
      }
      letter = getc(file);
      if (letter == '"') {
        add_letter(&cell, letter);
        continue;
      }
      quoted = 0;
      if (letter == EOF) break;
    }
    if (letter == '"' && cell.length == 0) {
      quoted = 1;
    } else if (letter == ',') {
      add_cell(columns, &column, &cell);
    } else if (letter == '\n') {
      add_cell(columns, &column, &cell);
      column = 0;
    } else if (letter != '\r') {
      add_letter(&cell, letter);
    }
  }
  if (cell.length > 0) add_cell(columns, &column, &cell);
  return !quoted;
}

int main(int argc, char **argv) {
  struct column columns[COLUMNS] = {{0, 0, 0}};
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!file) return 1;
  int whole = read_table(file, columns);
  fclose(file);
  for (size_t i = 0; i < COLUMNS && columns[i].cells > 0; i++)
    printf("%zu: %g (%ld of %ld)\n", i + 1, columns[i].sum, columns[i].numbers, columns[i].cells);
  return whole ? 0 : 1;
}
