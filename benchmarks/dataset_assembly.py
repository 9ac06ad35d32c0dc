"""Seed files of the recorded data set that are programs for assemblers, one for each."""

from __future__ import annotations


def gas() -> bytes:
    """GNU's syntax for assemblers, 64 bits wide, with sections of its own."""
    return b"""# a small program
        .file "a.s"
        .set SIZE, 4*2
        .text
        .globl main
        .type main, @function
main:   pushq %rbp
        movq %rsp, %rbp
        leaq table(%rip), %rdi
        movl $SIZE+1, %eax
        movzbl (%rdi,%rax,2), %ecx
1:      decl %ecx
        jnz 1b
        nop
        .if SIZE > 4
        call *8(%rdi)
        .else
        ret
        .endif
        .size main, .-main
        .section .rodata
        .p2align 3, 0x90
table:  .byte 1, 97, 0x1f, 077
        .asciz "text"
        .long main-table, .+4
        .quad 0x123456789
        .zero 8
        .comm space, 16, 8
        .double 1.5e3
        .ident "none"
"""


def nasm_64() -> bytes:
    """Directives of NASM that the other program does not have."""
    return b"""%assign i 0
%rep 4
%assign i i+1
%if i == 3
%exitrep
%endif
word%+i: dw i
%endrep
%xdefine name(a,b) a*b
%macro many 1-*.nolist
%rotate 1
%ifidn %1, one
db %0
%elifnum %2
dq %1
%endif
%%here: jmp %%here
%push ctx
%$x: dd %$x
%pop
%endmacro
default rel
bits 64
section .text align=16 exec
many 1, 2, 'three'
mov rax, [rel word1 + rbx*8 - name(2,3)]
lock cmpxchg [gs:r9], edx
vaddps ymm1, ymm2, [rsi]
vpaddd zmm1{k1}{z}, zmm2, [rax]{1to16}
%strlen n 'text'
%substr s 'text' 2,2
%ifdef n
dd n, $-$$, ~5, !0, 7 // 2, 1.5e-3, __infinity__
%endif
%defstr t xyz
db t, `\\x41\\n\\u20ac`, "q"
dt 3.14
common buf 64:8
extern puts
global start:function
"""


def mos_tass() -> bytes:
    """64tass: blocks, structures, functions and lists."""
    return b"""        .cpu "65816"
*       = $0801
size    = 4
lst     = [1, 2, 3]
dct     := {"a": 1, .x: 2}
        .word (+), 2005
        .null $9e, format("%d", begin)
+       .word 0
begin   .block
        lda #<txt
        ldx #size*2 ? 3 : 4
-       sta $d020,x
        dex
        bne -
        .bend
point   .struct a, b
x       .byte \\a
y       .word \\b
        .ends
p       .dstruct point, 5, 6
move    .macro from, to=3
        lda \\from
        sta \\to
        .endm
        #move 1, 2
        .for i = 0, i < 3, i += 1
        .byte i ^ 5, i ** 2
        .next
        .rept 2
        .byte lst[0], len(lst), x"0a"
        .endrept
        .if size > 3
        .enc "screen"
txt     .text "text", 13, "a" .. "b"
        .elsif 1
        .fi
        .al
        lda #1234
        .switch size
        .case 4
        .dint -5
        .default
        .endswitch
        .align 16, $ea
f       .function a, b=2
        .endf a+b
        .byte f(1), len(bits(5))
"""


def dasm() -> bytes:
    """dasm: segments, locals, repeats and macros."""
    return b"""        processor 6502
        seg.u vars
        org $80
count   ds 2
        seg code
        org $f000,255
        mac store
        lda #{1}
        sta {2}
        endm
base    set 5
start   subroutine
        store 3,count
.loop   dex
        bne .loop
        repeat 3
        dc.b base,<start,>start,"text"
base    set base+1
        repend
        if base > 3 && base != 9
        jmp (start+2*[3-1])
        else
        err
        endif
        ifconst count
        echo "at",.,[base]d
        eif
        hex 0a1b2c
        align 16,0
        rorg $1000
here    lda here,y
        rend
        dv.w 1,2
        dc.l %1010^$ff|1
        dc "a"+1,'b
        org $fffc
        .word start
"""


def xa() -> bytes:
    """xa: preprocessor, blocks and segments."""
    return b"""#define PUT(a,b) lda #a : sta b
#ifdef PUT
#echo here
#endif
* = $1000
size = 3
.text
start PUT(5,$20)
.(
loop lda table,x
 eor #%101
 bne loop
&out rts
.)
 jmp (start+2*(size-1))
 ldx #<table : ldy #>table
table .byt 1,2,"text",'a'
 .word start,*,out
 .dsb 4,$ff
 .dsb 2
.data
d .asc "text"
.bss
b .dsb 2
.zero
z .dsb 1
.text
 .al
 lda !z
 lda `b
#if size>2
 -label brk
#endif
"""


def pasmo() -> bytes:
    """pasmo: procedures, repeats and macros."""
    return b"""        org 8000h
twice   macro reg, by
        local again
again:  add hl, reg
        djnz again
        endm
size    equ 3 shl 2 or 1
        proc
        local inner
inner:  ld hl, (table + size * 2)
        jp z, inner
        endp
        rept 3
        nop
        endm
        irp x, 1, 2, 3
        db x
        endm
        if size > 4
        twice hl, 2
        else
        defb 'x'
        endif
.area   ld ix, $ + 5
        ld (iy-3), high table
        set 7, (hl)
        exx
table:  defb "text", 'a' , low 1234h
        defw table, nul size, size eq 13 ? 1 : 2
        defs 4, 255
lab     defl 5
lab     defl lab + 1
        public table
        end table
"""


def as31() -> bytes:
    """The 8051's assembler."""
    return b"""; a small program
        .org 0x100
        .equ size, 5*2+1
        .flag ready, P1.3
start:  mov a, #size
        mov r0, #'x'
        mov dptr, #table
loop:   movc a, @a+dptr
        add a, 0x20
        cjne @r0, #3, loop
        jb ready, start
        setb P3.1
        djnz r7, loop
        lcall sub
        sjmp *
sub:    push acc
        anl P0, #0fh
        orl c, /acc.2
        ret
table:  .byte 1, 2, 101b, "text", 0
        .word start, table & 255
        .skip 4
        .end
"""


def avr() -> bytes:
    """The language of avra."""
    return b""".device ATmega8
.equ size = 3 << 2
.set now = size + 1
.def tmp = r16
.macro put
.if @0 > 4
ldi tmp, @0
.else
clr tmp
.endif
out @1, tmp
.endm
.cseg
.org 0x0010
start: put 5, 0x12
put 3, 0x13
loop: dec tmp
brne loop
ld r0, Z+
std Y+5, r1
sbrs r16, 3
rjmp start
lds r2, var
.ifdef size
.message "here"
.endif
table: .db 1, 0b101, "text", 0
.dw start * 2, high(0x1234), exp2(3)
.dseg
var: .byte 2
.eseg
.db 'x', -1
.exit
"""


def gpasm() -> bytes:
    """Microchip's assembler."""
    return b"""        list p=16f84, r=dec
        radix hex
        __config 0x3ff1
        errorlevel -302
#define BIT  STATUS, 2
STATUS  equ 3
        cblock 0x0c
        one, two:2
        endc
put     macro value, where
        local l
l:      movlw value
        movwf where
        endm
        org 0
start:  put 5, one
        while one < 2
        endw
        if (one > 3) && two
        btfss BIT
        else
        nop
        endif
i       set 0
        while i < 3
        addlw i*2 + low start
i       += 1
        endw
        goto $-1
        variable v = 3
        dt "text", 0
        de 1, 2
        fill 0x1234, 2
        data "ab", D'10', B'101', H'ff', A'x'
        end
"""


def c6502_macros() -> bytes:
    """Another processor, macros and conditions."""
    return b"""        cpu 6801
        code
        org $c000
        if 1 = 1
max     = %1010+$f*2
        else
max     = 0
        endc
put     macro
        ldaa #\\1
        staa \\2
        endm
begin   put 5,$20
        ldx #table&255
        jsr sub
        bra begin
sub     psha
        addd ,x
        brclr $10,1,*
        rts
        dummy
        org 0
var     ds 2
        code
table   db "ab",'c,^C
        dw begin,max^3
        align 4
"""
