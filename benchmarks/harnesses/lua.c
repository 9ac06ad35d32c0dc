// Lua: compiles a text; it is not run.
#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  lua_State *state = luaL_newstate();
  if (!state) return 0;
  luaL_loadbufferx(state, (const char *)data, size, "input", "t");
  lua_close(state);
  return 0;
}
