"""Seed files of the recorded data set that are text: programs, grammars, problems and solids."""

from __future__ import annotations


def fortran_77() -> bytes:
    """Statements that the other program does not have."""
    return b"""      block data init
      complex z
      double precision d
      logical flag
      common /other/ z, d, flag
      data z /(1.0, -2.5)/, d /1d3/, flag /.true./
      end
      program more
      implicit integer (a-m), real*8 (n-z)
      dimension a(-1:3, 2), p(4)
      character line*20, c
      save
      intrinsic sin
      inquire (unit=5, exist=flag)
      open (7, file='x', status='old', err=90)
      read (7, '(i5, 2x, e12.4)', end=90) (a(i, 1), i = 1, 3), q
      assign 40 to label
      goto label, (40, 50)
   40 goto (40, 50, 60), i
   50 if (i - 3) 40, 50, 60
   60 line = 'it''s' // c(1:1) // char(65)
      namelist /group/ i, q
      do 70, x = 1.0, 0.1, -0.2
   70 p(1) = sqrt(x) + stmt(x) ** (-2)
      do while (i .lt. 4)
        i = i + ishft(3, 2)
      end do
      print *, line, .5e-3, 3habc, z'ff'
      write (line, 80) i
   80 format (1h , i3.2, /, 3(f6.2, 1x), t10, 'x', 2pe9.2)
   90 close (7)
      backspace 8
      pause 'wait'
      end
      double complex function fact(n)
      integer*2 n
      entry second(n)
      fact = (1d0, 2d0) * n
      end
"""


def yacc_of_bsd() -> bytes:
    """Arguments, locations, destructors and rules in the middle of rules."""
    return b"""%code requires { struct node; }
%parse-param { void *ctx } { int depth }
%lex-param { int base }
%locations
%expect 7
%token-table
%union { int n; struct { double x, y; } p; }
%destructor { free($$); } <p> NAME
%token <n> NUM 258 "number" NAME
%nonassoc '<' '>'
%right NOT
%%
start: block | start ';' block { $<n>$ = $<n>1; @$ = @1; } ;
block: '{' { $<n>$ = depth; } list '}' { printf("%d", $<n>2); }
  | NUM '<' NUM %prec NOT | | "number" NAME ;
list: | list block ;
list: block ',' { /* } */ "}" ; '}' ; } ;
%%
"""


def lua() -> bytes:
    """Lua with closures, loops, tables and numbers of each kind."""
    return b"""local t <const> = {1, 2.5, "x", nil, true, a = 0x1F, ["b c"] = 1 // 2}
local function f(a, ...) local b = a; return function(...) b = b + 1; return b, ... end end
for i = 1, #t, 2 do if i > 2 then break elseif t[i] == "x" then goto go end ::go:: end
for k, v in pairs(t) do t[k] = v .. 1 end
while t.a ~= 3 and not t.b do t.a = t.a & 3 | 1 ~ 2 << 1; repeat local q = -t.a until q <= 0 end
function t:m(x) self.x = x; return self.m(self, x ^ 2 % 3) end
return f(1)(2, 3)
"""


def ragel() -> bytes:
    return b"""%%{
  machine m;
  action go { n = n * 10 + (fc - '0'); }
  action end { fcall other; }
  digit3 = digit{1,3} $go;
  word = (alpha | '_') @1 alnum* >{ s = p; } %end;
  other := |* 'a'..'f'+ => { emit(); }; "x" | /y/i; any; *|;
  list = (word :> ',' space*)+ -- 'zz' & any*;
  main := ( list | digit3 | ^0x41 | !'q' | [^a-z\\n] <: "s" )** $!{ fgoto other; } ;
}%%
%% write data;
int f(void) { %% write init;
%% write exec;
}
"""


def indent_c() -> bytes:
    return b"""/* A comment
 * of two lines */
#ifdef X
struct a { int x, y; char *z; } v = { 1, 2, "t" };   // end
#else
static  int
f (a, b) int a; char **b; {
  if (a) { b++; } else if (!a) return (a?b:*c); else { ; }
  for (;;) switch (a) { case 1: goto l; default: do x--; while (x); break; }
l: a += sizeof (int) * (char) 3 - -b; /* boxed */ return a->b.c[1] << 2;
}
#endif
/* *INDENT-OFF* */
  kept = 1;
/* *INDENT-ON* */
typedef enum { A, B = 2 } e; int (*p) (void), q[3] = {1,2,3}; extern "C" { int z; }
"""
