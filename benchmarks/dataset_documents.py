"""Seed files of the recorded data set that are text: documents, tunes, fonts and lists."""

from __future__ import annotations


def abc_with_graces() -> bytes:
    """Repeats, tuplets, slurs, clefs, macros and drums: what the other tune does not have."""
    return rb"""X:7
T:Another tune
T:with two titles
O:Nowhere
R:reel
Z:someone
N:a note
A:place
m: ~n2 = (3o/n/m/ n
U: T = !turn!
M:2+3/8
L:1/16
Q:"Allegro" 1/4=120
I:linebreak $
K:Bb clef=alto octave=-1 transpose=2
%%MIDI drum dzd 35 38 80 60
%%MIDI drumon
%%MIDI transpose -3
%%scale 0.7
%%begintext
free text
%%endtext
|::(5:4:5abcde T~g2 z/2|[1 {/c}d4 (e(fg)) .a|[2 B,,2-B,,2 u[CEG]3/2 v=c^^d__e::|
w: *~one_ two\-three | four
W: words below
[M:C] !crescendo(!c'd'e'f'!crescendo)! y Z2|$ [I:MIDI=program 5] [L:1/4] A<B c>>d & x4|
s: !p! * !f!
[K:F#m exp ^f _b] "Am7/G"A "<("B ">)"c "@5,5 x"d !D.C.! |]
"""


def mdoc() -> bytes:
    """BSD's macros for manual pages."""
    return rb""".Dd January 2, 2020
.Dt THING 8
.Os
.Sh NAME
.Nm thing ,
.Nm other
.Nd does a thing
.Sh LIBRARY
.Lb libc
.Sh SYNOPSIS
.Nm
.Op Fl ab Ns Ar n
.Oo Fl c Oc Ar
.In stdio.h
.Ft int
.Fo run
.Fa "int a"
.Fc
.Sh DESCRIPTION
See
.Xr mandoc 1 , Pq Sy bold
and
.Do quoted Dc .
.Bl -tag -width Ds -compact
.It Fl a
All
.Bl -column a bb
.It one Ta two
.El
.It Ev HOME
.Pa /dev/null
.El
.Bd -literal -offset indent
kept \&. \e
.Ed
.Bf -emphasis
text
.Ef
.Rs
.%A Nobody
.%T Title
.Re
.Er EINVAL
.An -nosplit
.An A , B
.St -p1003.1
.Bx 4.3
.D1 one line
.Ex -std
.Sm off
.Em a b
.Sm on
"""


def bibtex() -> bytes:
    return b"""@comment{none}
@string{j = "Journal of " # {Things}}
@article{key1, author = "A. Author and von der B, Jr, Carl and others", title = {The {\\"U}ber {$x^2$} \\'etude},
  journal = j, year = 2020, volume = {3}, number = "4", pages = {1--9}, doi = {10.1/x}, month = jan}
@inbook(key2, editor = {D, E}, title = {A: B}, crossref = "key1", url = {\\url{http://example.org/~a}},
  keywords = {one; two}, note = {\\emph{text} \\& more}, edition = {2nd})
@phdthesis{key3, title = "unbalanced \\} brace", school = {S}, type = {Diploma}, eprint = {1234.5678},
  archiveprefix = {arXiv}, address = {Town}}
"""


def ris() -> bytes:
    return b"""TY  - JOUR
ID  - key1
AU  - Author, Ann B., Jr.
A2  - Editor, E
TI  - A title: with a subtitle
JO  - Journal
VL  - 3
IS  - 4
SP  - 1
EP  - 9
PY  - 2020/01/02/spring
DO  - 10.1/x
UR  - http://example.org/a.pdf
KW  - one
KW  - two
AB  - An abstract
  that goes on
SN  - 1234-5678
ER  -

TY  - THES
A1  - Other, O
T1  - Second
M3  - Diploma
CY  - Town
PB  - Publisher
L1  - file://x
ER  -
"""


def tables() -> bytes:
    """A table with spans, numbers, blocks and rules."""
    return rb""".TS H
center box tab(;) decimalpoint(,) linesize(6);
cb s s | lw(2c)
l ^ n || r e
a | c , lI f(B)p+2 v(12) z.
Title;x
one;;12,5;right
\^;two;3;T{
a block
of text
T}
_
=
.TH
sub;\_;\=
.T&
n n n.
1.5;2,25;\&3
.TE
text
.TS
expand;
l l.
a	b
.TE
"""


def rtf() -> bytes:
    return rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fnil\fcharset2 Symbol;}}
{\colortbl;\red255\green0\blue0;\red0\green0\blue255;}{\stylesheet{\s1 Heading;}}
{\info{\title A page}{\author Nobody}{\creatim\yr2020\mo1\dy2}}\paperw11906
\pard\qc\b\fs32 Heading\b0\par\pard\fi-360\li720 Some \i text\i0  with \cf1 colour\cf0 , \'e9 \u8364?
\ul under\ulnone\super 2\nosupersub\tab\emdash\lquote x\rquote\line
{\field{\*\fldinst HYPERLINK "http://example.org"}{\fldrslt link}}{\footnote note}
\trowd\cellx2000\cellx4000\intbl one\cell two\cell\row\pard
{\pict\pngblip\picw8\pich8 89504e470d0a1a0a}{\*\unknown hidden}\expnd4\strike gone\strike0\page
{\header top}{\f1 abc}\caps small\scaps0\outl\shad\bullet\~\_\{\}\par}
"""


def markdown() -> bytes:
    return b"""% title
% author
# Heading # {#id}

Some *text* with __bold__, `code`, ~~gone~~, <http://a.org>, [link](x "t"){.c} and ![p](q.png =3x4).
Second [ref][1] [^n] line
end -- "quoted" (c) 1/2 A^B^

Under
=====
* one
    * two

      para
1. three
+ [x] task

> quote
>> inner

    code

~~~ c
int x;
~~~

| a | b |
|:--|--:|
| 1 | `|` |

=term=
    meaning
term
: other
<div class="x"><!-- c --><p>raw</p></div>
***
[1]: http://b.org 'title'
[^n]: note
*[HTML]: Language
.toc.
\\*kept\\* &amp; &copy; $$x$$ \\\\(y\\\\)
"""


def page_of_html() -> bytes:
    """Nesting that is wrong, styles, frames, maps and characters of many kinds."""
    return b"""<html lang=en><head><title>x<base href="http://a.org/"><link rel=stylesheet href=s.css>
<script type="text/javascript"><!-- if (a<b) document.write("<p>") //--></script></head>
<frameset cols="20%,*"><frame src=a.html><noframes><body text=#000 onload="f()">
<font size=+2 color=red face="a,b"><center><b><i>wrong</b></i></font><p><div>in</p></div>
<map name=m><area shape=rect coords="0,0,9,9" href=x></map><img src=p.gif usemap=#m width=50% ismap>
<h2>a<h3>b</h2><sup>2</sup><tt>t</tt><abbr title="u">v</abbr><q cite=w>z</q>&nbsp;&lt;&copy &bogus; &#0;&#150;
<table><tbody><tr><td>a<table><tr><td>b</table><td bgcolor=blue>c</table><ol type=i><li><ul><p>d</ol>
<object data=o><param name=n value=v>alt</object><svg><path d="M0 0"/></svg>
<?php echo 1 ?><% asp %><![if IE]>f<![endif]><pre>
 g	h</pre><nobr>i<wbr>j</nobr><marquee>k</marquee><isindex prompt=l></noframes></html>
"""


def messages() -> bytes:
    """Translations with plurals, contexts, flags and what is obsolete."""
    return rb"""msgid ""
msgstr ""
"Project-Id-Version: x 1\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=n==1 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2;\n"

#. note
#: a.c:12 b.c:3
#, c-format, fuzzy
#| msgid "old %d"
msgid "new %d of %s\n"
msgstr "neu %2$s von %1$d\n"

#, c-format
msgctxt "menu"
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d a"
msgstr[1] "%d b"
msgstr[2] "%d c"

#, python-brace-format, range: 1..5
msgid "{0} &amp; {name!r}"
msgstr "{name} \303\251"

#~ msgid "gone"
#~ msgstr "weg"
"""


def terminal() -> bytes:
    """Terminals that use each other, with numbers, strings, conditions and names of their own."""
    return rb"""# terminals
base|a base terminal,
	am, xenl@, cols#80, lines#0x18, bel=^G, cr=\r, cuu1=\E[A,
	cup=\E[%i%p1%d;%p2%dH, sgr0=\E[m\017, kf1=\EOP, XM=\E[?1000%?%p1%{1}%=%th%el%;,
	sgr=\E[0%?%p6%t;1%;%?%p1%p3%|%t;7%;m%?%p9%t\016%e\017%;, acsc=``aaff,
	setaf=\E[3%p1%{8}%m%'0'%+%c, rep=%p1%c\E[%p2%{1}%-%db$<5/>, Tc, U8#1,
second|other|a second terminal,
	colors#256, pairs#0x10000, is2=\E7\s\072\,\\, use=base, kbs@,
"""


def font() -> bytes:
    """A bitmap font with three characters."""
    glyphs = b"".join(
        b"STARTCHAR c%d\nENCODING %d\nSWIDTH 500 0\nDWIDTH 8 0\nBBX 8 4 0 -1\nBITMAP\n"
        b"3C\n42\n%02X\n3C\nENDCHAR\n" % (code, code, code)
        for code in (65, 66, 200)
    )
    return (
        b"STARTFONT 2.1\nCOMMENT none\nFONT -none-Small-Medium-R-Normal--8-80-75-75-C-80-ISO8859-1\n"
        b"SIZE 8 75 75\nFONTBOUNDINGBOX 8 8 0 -1\nSTARTPROPERTIES 4\nFONT_ASCENT 7\nFONT_DESCENT 1\n"
        b'DEFAULT_CHAR 65\nCOPYRIGHT "free ""text"""\nENDPROPERTIES\nCHARS 3\n'
        + glyphs
        + b"ENDFONT\n"
    )


def type_1() -> bytes:
    """The source of a PostScript font, as t1disasm writes it."""
    return b"""%!PS-AdobeFont-1.0: Small 001.000
11 dict begin
/FontInfo 2 dict dup begin /version (001.000) readonly def end readonly def
/FontName /Small def
/PaintType 0 def /FontType 1 def
/FontMatrix [0.001 0 0 0.001 0 0] readonly def
/Encoding 256 array 0 1 255 {1 index exch /.notdef put} for
dup 65 /A put readonly def
/FontBBox {0 0 500 700} readonly def
currentdict end
currentfile eexec
dup /Private 8 dict dup begin
/RD {string currentfile exch readstring pop} executeonly def
/ND {noaccess def} executeonly def
/NP {noaccess put} executeonly def
/BlueValues [-15 0 600 615] def
/lenIV 4 def
/Subrs 2 array
dup 0 {
	3 0 callothersubr pop pop setcurrentpoint return
	} NP
dup 1 {
	return
	} NP
ND
2 index /CharStrings 2 dict dup begin
/.notdef {
	0 500 hsbw endchar
	} ND
/A {
	20 500 hsbw 0 20 hstem 30 40 vstem
	100 200 rmoveto 300 hlineto -50 1200 4 div rlineto
	10 20 30 40 50 60 rrcurveto 1 callsubr closepath endchar
	} ND
end end
readonly put noaccess put
dup/FontName get exch definefont pop
mark currentfile closefile
cleartomark
"""
