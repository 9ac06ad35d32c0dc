// FreeType: opens a font, loads its first glyphs with hinting, and renders the small ones.
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H
#include FT_OUTLINE_H
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT (1u << 16)
#define MAX_FACES 2
#define MAX_GLYPHS 6
#define MAX_SIDE (128 * 64)

static void load(FT_Face face, FT_UInt glyph) {
  FT_BBox box;
  if (FT_Load_Glyph(face, glyph, FT_LOAD_DEFAULT)) return;
  if (face->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return;
  FT_Outline_Get_CBox(&face->glyph->outline, &box);
  // The bitmap is as large as the outline says: up to gigabytes.
  if (box.xMin < -MAX_SIDE || box.yMin < -MAX_SIDE || box.xMax > MAX_SIDE || box.yMax > MAX_SIDE)
    return;
  FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL);
}

static void read_face(FT_Face face) {
  if (FT_IS_SCALABLE(face))
    FT_Set_Char_Size(face, 0, 16 * 64, 72, 72);
  else if (face->num_fixed_sizes > 0)
    FT_Select_Size(face, 0);
  for (FT_Long glyph = 0; glyph < face->num_glyphs && glyph < MAX_GLYPHS; glyph++)
    load(face, (FT_UInt)glyph);
  FT_UInt glyph = 0;
  FT_ULong code = FT_Get_First_Char(face, &glyph);
  for (int count = 0; glyph && count < MAX_GLYPHS; count++) {
    char name[64];
    FT_Get_Glyph_Name(face, glyph, name, sizeof name);
    code = FT_Get_Next_Char(face, code, &glyph);
  }
  if (FT_HAS_KERNING(face)) {
    FT_Vector kerning;
    FT_Get_Kerning(face, 0, 1, FT_KERNING_DEFAULT, &kerning);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  // A library of its own for every input: drivers keep state from face to face.
  FT_Library library;
  if (FT_Init_FreeType(&library)) return 0;
  // Otherwise the random numbers that glyph programs may ask for start from an address.
  FT_Int32 seed = 2021;
  FT_Property_Set(library, "cff", "random-seed", &seed);
  FT_Property_Set(library, "type1", "random-seed", &seed);
  FT_Property_Set(library, "t1cid", "random-seed", &seed);
  FT_Long faces = 1;
  for (FT_Long index = 0; index < faces && index < MAX_FACES; index++) {
    FT_Face face;
    if (FT_New_Memory_Face(library, data, (FT_Long)size, index, &face)) break;
    faces = face->num_faces;
    read_face(face);
    FT_Done_Face(face);
  }
  FT_Done_FreeType(library);
  return 0;
}
