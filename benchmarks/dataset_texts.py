"""Seed files of the recorded data set that are text: sources of small languages."""

from __future__ import annotations


def abc() -> bytes:
    return b"""%abc-2.1
%%pagewidth 21cm
%%staves (1 2)
X:1
T:A small tune
C:Nobody
M:6/8
L:1/8
Q:3/8=100
K:Dmix
V:1 clef=treble name="One"
V:2 clef=bass
[V:1] |:"Am"A2 B c>d e|{gf}"D7"(3efg ~a2 !trill!f|1 [CEG]2 z2 .d2:|2 [c2e2]-[ce] z3|]
w: these are the-words of a_ tune
[V:2] |:A,2 B,2 C2|D,3 E,3|1 A,6:|2 A,,6|]
P:B
[V:1] "^up"g/f/e/d/ (c2 B)|"_down"A3 [K:G] _B,2 ^c|d4 e2|[M:3/4] f6|]
[V:2] z6|x6|A,,4 B,2|C6|]

X:2
T:Second
M:C|
K:none
%%MIDI program 20
%%MIDI gchord fzcz
"G"G4 A4|!p!B4 !f!c4|d8|]
"""


def nasm() -> bytes:
    return b"""; a small program
%define SIZE 16
%macro store 2
    mov [%1], %2
%endmacro
        bits 32
        section .data
text:   db "hello", 10, 0
count:  dd 1, 2, 0x1f, 077o, 1.5
table:  times SIZE db 0
        section .text
        global start
start:  mov eax, [ebp+ecx*4+8]
        store ebx, eax
.loop:  add eax, SIZE*2+1
        cmp eax, byte 10
        jne .loop
%if SIZE > 8
        fld qword [eax]
%else
        nop
%endif
%rep 3
        push dword 5
%endrep
        call far [esi]
        lea edx, [table+eax*2]
        movaps xmm0, [edx]
struc point
.x:     resd 1
.y:     resd 1
endstruc
        istruc point
        at point.x, dd 4
        iend
        section .bss
space:  resb 64
"""


def z80() -> bytes:
    return b"""; a small program
        org 8000h
size:   equ 10h
start:  ld a,(value)
        ld hl,table
        ld b,size
loop:   add a,(hl)
        inc hl
        djnz loop
        ld (ix+5),a
        jp nz,start
        call finish
finish: ret
value:  defb 12h
table:  defb 1,2,3,"text"
        defw start,loop+2*(size-1)
        defs 16
        end
"""


def tex() -> bytes:
    return rb"""\documentclass[12pt]{article}
\usepackage{graphicx}
\newcommand{\thing}[2]{#1 and \textbf{#2}}
\begin{document}
\title{A page}\author{Nobody}\maketitle
\section{First}\label{sec}
Some \emph{text} with {\bf bold}, ``quotes'', \'e, \thing{one}{two} and $x_1^2 + \frac{a}{b}$.
\begin{itemize}\item one \item[two] three\end{itemize}
\begin{tabular}{|l|c|}\hline a & b \\ \multicolumn{2}{c}{d} \\ \hline\end{tabular}
\[ \sum_{i=0}^{n} \sqrt{i} \left( \begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array} \right) \]
\begin{equation} \alpha \le \int_0^1 f(x)\,dx \end{equation}
See \ref{sec}, \cite{x}\footnote{A note.} % comment
\def\q#1{[#1]}\q{z} \ifx\a\b yes\else no\fi \begin{verbatim} %$& \end{verbatim}
\begin{thebibliography}{9}\bibitem{x} Book.\end{thebibliography}
\end{document}
"""


def man() -> bytes:
    return rb""".TH THING 1 "January 2020" "v1" "Manual"
.SH NAME
thing \- does a thing
.SH SYNOPSIS
.B thing
[\fB\-a\fR] [\fIfile\fR ...]
.SH DESCRIPTION
Some \fBbold\fP text \(em with \[u00E9] and \s+2large\s0.
.TP 8
.B \-a
All of it.
.RS 4
.IP \(bu 2
inner
.RE
.nf
  kept
.fi
.de XX
.BI \\$1 " and " \\$2
..
.XX one two
.if n .ce 1
centred
.nr x 5+3
.ie \nx>4 big
.el small
.ds st value
The \*(st is \w'text'u.
.TS
allbox tab(|);
l c r.
a|b|c
_
T{
long
T}|d|12.5
.TE
.EQ
x sup 2 + sqrt { a over b }
.EN
"""


def yacc() -> bytes:
    return b"""%{
#include <stdio.h>
%}
%union { int n; char *s; }
%token <n> NUM
%token IF ELSE '+' 300
%left '+' '-'
%right UMINUS
%type <n> expr
%start list
%%
list : /* empty */ | list expr '\\n' { printf("%d\\n", $2); } | list error ;
expr : NUM | expr '+' expr { $$ = $1 + $3; } | '-' expr %prec UMINUS { $$ = -$<n>2; }
     | IF expr { $<n>$ = 1; } ELSE expr { $$ = $5; }
     ;
%%
int main(void) { return yyparse(); }
"""


def fortran() -> bytes:
    return b"""      program small
      integer i, n(10)
      real x, y(3,3)
      character*8 name
      common /blk/ x, n
      parameter (k = 12)
      external f
      data name /'text'/, i /5/
      do 10 i = 1, 10
        n(i) = i**2 + mod(i, 3)
        if (n(i) .gt. 20) goto 20
   10 continue
   20 x = f(y(1,2), 3.5e-2) * k
      write (*, 100) x, name(2:4)
  100 format (1x, f8.3, a)
      if (x .lt. 1) then
        call s(n, *30)
      else if (.not. (x .eq. 2)) then
        stop
      end if
   30 end
      real function f(a, b)
      entry g(a)
      f = a + b
      return
      end
      subroutine s(m, *)
      integer m(*)
      equivalence (i, j)
      return 1
      end
"""


def html() -> bytes:
    return b"""<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">
<html><head><title>A page &amp; more</title><meta http-equiv="Content-Type"
content="text/html; charset=iso-8859-1"><style>p { color: red }</style></head>
<body bgcolor="#ffffff"><h1 align=center>Heading</h1><p>Text with <b>bold</b>, <i>slant</i>
&eacute;&#233;&#x20ac; and <a href="x.html">a link</a>.<br clear=all><hr width="50%">
<ul type=disc><li>one<li>two<ol start=3><li value=7>three</ol></ul>
<dl><dt>term<dd>meaning</dl>
<table border=1 cellpadding=2><caption>Table</caption><tr><th colspan=2>a<th rowspan=2 width="30">b
<tr><td align=right>c<td nowrap>d</table><pre>
  kept   spaces
</pre><form action="f"><select name=s><option selected>o</select><textarea rows=2>t</textarea>
<input type=checkbox checked><input type=text size=5 value="v"></form>
<blockquote>quoted</blockquote><img src="p.png" alt="[picture]"><!-- comment --></body></html>
"""


def acpi() -> bytes:
    return b"""DefinitionBlock ("", "SSDT", 2, "MAKER", "TABLE", 1) {
  Name (VALU, 0x12345678)
  Name (PKG1, Package (3) { 1, "two", Buffer (4) { 1, 2, 3, 4 } })
  OperationRegion (REG1, SystemMemory, 0x1000, 0x10)
  Field (REG1, ByteAcc, NoLock, Preserve) { F001, 4, Offset (2), F002, 16 }
  Scope (\\_SB) {
    Device (DEV0) {
      Name (_HID, EisaId ("PNP0A03"))
      Name (_CRS, ResourceTemplate () { IO (Decode16, 0x60, 0x60, 1, 1) IRQNoFlags () {1} })
      Method (MTH1, 2, NotSerialized) {
        If (LEqual (Arg0, 3)) { Store (Add (Arg1, 1), Local0) } Else { Return (Arg1) }
        While (LLess (Local0, 10)) { Increment (Local0) }
        Return (Concatenate ("x", Local0))
      }
    }
  }
}
"""


def device_tree() -> bytes:
    return b"""/dts-v1/;
/memreserve/ 0x1000 0x2000;
/ { compatible = "maker,board", "maker,old"; #address-cells = <1>; #size-cells = <1>;
  cpus { cpu0: cpu@0 { reg = <0 1>; clock = <100000>; }; };
  bus@1000 { ranges = <0 0x1000 0x100>; uart@0 { reg = <0 16>; link = <&cpu0>; mac = [01 02 03]; };
  }; chosen { bootargs = "console=tty"; flag; }; };
"""


def images() -> bytes:
    """What an image tree for U-Boot holds."""
    return b"""/dts-v1/;
/ { description = "images"; #address-cells = <1>;
  images { kernel-1 { description = "k"; data = /incbin/("a"); type = "kernel"; arch = "arm";
      os = "linux"; compression = "none"; load = <0x8000>; entry = <0x8000>;
      hash-1 { algo = "crc32"; }; hash-2 { algo = "sha1"; }; };
    fdt-1 { description = "f"; data = [01 02]; type = "flat_dt"; arch = "arm";
      compression = "none"; hash { algo = "md5"; }; }; };
  configurations { default = "conf-1"; conf-1 { kernel = "kernel-1"; fdt = "fdt-1"; }; }; };
"""


def small_c() -> bytes:
    return b"""struct p { int x; struct p *n; char t[4]; }; enum c { R, G = 5 };
static int level = 3; const char *names[] = {"one", "two"};
static inline int twice(int v) { return v * 2; }
int sum(struct p *a, enum c k) { int s = 0; for (; a; a = a->n) s += twice(a->x) * k;
return s + level; }
"""


def intel_hex() -> bytes:
    def line(at: int, kind: int, data: bytes) -> bytes:
        raw = bytes((len(data),)) + at.to_bytes(2, "big") + bytes((kind,)) + data
        return b":" + (raw + bytes((-sum(raw) & 255,))).hex().upper().encode() + b"\n"

    out = line(0, 4, bytes(2))
    for i in range(8):
        out += line(i * 16, 0, bytes((i * 16 + j) * 37 % 256 for j in range(16)))
    return out + line(0x400E, 0, b"\xf1\x3f") + line(0, 1, b"")


def midi_csv() -> bytes:
    return b"""0, 0, Header, 1, 2, 480
1, 0, Start_track
1, 0, Title_t, "A tune\\007"
1, 0, Tempo, 500000
1, 0, Time_signature, 4, 2, 24, 8
1, 0, End_track
2, 0, Start_track
2, 0, Program_c, 1, 19
2, 0, Note_on_c, 1, 79, 81
2, 480, Note_off_c, 1, 79, 0
2, 480, Pitch_bend_c, 1, 8192
2, 500, System_exclusive, 4, 126, 127, 9, 247
2, 960, Key_signature, -1, "major"
2, 960, End_track
0, 0, End_of_file
"""


def plain_6502() -> bytes:
    return b"""; a small program
        * = $1000
count = 16
start   lda #<table
        sta $fb
        ldx #count
loop    lda table,x
        eor ($fb),y
        sta $0400,x
        dex
        bne loop
        jmp (vector)
vector  .word start
table   .byte 1,2,3,$ff,"text"
        .word loop+2*(count-1)
"""
