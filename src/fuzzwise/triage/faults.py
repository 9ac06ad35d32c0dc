"""What a faulting instruction did: the words that AddressSanitizer has for it, from gdb's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fuzzwise.triage.kinds import STACK_EXHAUSTED, WILD_JUMP, ZERO_PAGE

_UNTOLD = 128  # the si_code of a fault whose address the processor does not tell
_PAGE = 4096
_BLOCK = 64  # the most bytes that one step of a copying instruction touches

# AT&T syntax names the destination last. These only read, whatever they name last, ...
_READING = re.compile(
    r"(?:cmp(?!xchg)|test|bt[bwlq]?$|v?u?comis|vtest|vptest|ptest|call|jmp|push|lods|scas|i?div|i?mul"
    r"|prefetch|fld|fild|fcom|fucom|fadd|fsub|fmul|fdiv|ldmxcsr|fxrstor|xrstor)"
)
# ... and this writes whatever it names last.
_WRITING = re.compile(r"xchg")
_PREFIXES = re.compile(r"^(?:(?:rep[nz]*e?|lock|bnd|notrack|data16|[cdefgs]s)\s+)*")
_OPERAND = re.compile(r"(?:[^,()]|\([^()]*\))+")


@dataclass(frozen=True)
class Fault:
    """A fatal signal: its code, its address, the registers and the instruction, as gdb has them."""

    code: int
    address: int
    stack_pointer: int
    program_counter: int
    instruction: str = ""
    destination: int | None = None


def explain(fault: Fault) -> str:
    """What is known about a fault, as lines of a report; empty if that is nothing."""
    if fault.code <= 0:  # sent by a program
        return ""
    told = fault.code != _UNTOLD
    lines = []
    if told and fault.address < _PAGE:
        lines.append(ZERO_PAGE)
    # The rule by which AddressSanitizer tells an exhausted stack from other faults.
    elif told and fault.stack_pointer - 512 < fault.address < fault.stack_pointer + 0xFFFF:
        lines.append(STACK_EXHAUSTED)
    elif (told and fault.address == fault.program_counter) or _returns(fault.instruction):
        lines.append(WILD_JUMP)
    if word := _access(fault, told):
        lines.append(f"The signal is caused by a {word} memory access.")
    return "\n".join(lines)


def _access(fault: Fault, told: bool) -> str:
    """WRITE or READ, or empty where the instruction does not tell."""
    name, operands = _split(fault.instruction)
    if name.startswith("movs") and operands and operands[-1].startswith("%es:("):
        if fault.destination is None or not told:
            return ""
        return "WRITE" if 0 <= fault.address - fault.destination < _BLOCK else "READ"
    memory = [("(" in word or ":" in word or word.startswith("0x")) for word in operands]
    if not any(memory):
        return "WRITE" if name.startswith(("push", "call")) else ""
    if _WRITING.match(name):
        return "WRITE"
    return "WRITE" if memory[-1] and not _READING.match(name) else "READ"


def _returns(instruction: str) -> bool:
    return _split(instruction)[0] in ("ret", "retq")


def _split(instruction: str) -> tuple[str, list[str]]:
    """The name of an instruction and its operands, without prefixes, symbols and comments."""
    text = re.sub(r"\s*(?:#.*|<[^>]*>|\{[^}]*\})", "", instruction)
    name, _, rest = _PREFIXES.sub("", text.strip()).partition(" ")
    return name, [word.strip() for word in _OPERAND.findall(rest)]
