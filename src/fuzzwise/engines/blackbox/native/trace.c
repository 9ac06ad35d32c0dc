/* The stack of a crash as one number that does not depend on where modules were loaded.

   Equal numbers mean equal stacks (signal, kind of address, the top 64 frames); 0 is "not known".
   Nothing in the handler allocates. A fault inside it ends the process, since all fatal signals
   are blocked there; the server then takes the signal that was noted first. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { MODULES = 256, FRAMES = 64, STACK = 1 << 16, PAGE = 4096, GUARD = 64 };

struct module {
  uintptr_t start, end, base;
  uint64_t name;
};

static uintptr_t guard; /* the function that finds a smashed stack */
static struct module modules[MODULES];
static size_t module_count;
static uint8_t stack[STACK] __attribute__((aligned(16)));

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
enum { FATAL = sizeof fatal / sizeof *fatal };

static int add_module(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  for (int i = 0; i < info->dlpi_phnum && module_count < MODULES; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    modules[module_count++] =
        (struct module){start, start + part->p_memsz, info->dlpi_addr,
                        fw_hash((const uint8_t *)info->dlpi_name, strlen(info->dlpi_name))};
  }
  return 0;
}

static uint64_t mixed(uint64_t hash, uint64_t value) {
  return fw_hash((const uint8_t *)(uint64_t[]){hash, value}, 2 * sizeof value);
}

static uint64_t place(uint64_t hash, uintptr_t address) {
  for (size_t i = 0; i < module_count; i++)
    if (address >= modules[i].start && address < modules[i].end)
      return mixed(mixed(hash, modules[i].name), address - modules[i].base);
  Dl_info about; /* loaded by the program itself, or no code at all */
  if (dladdr((void *)address, &about) && about.dli_fbase && about.dli_fname) {
    uint64_t name = fw_hash((const uint8_t *)about.dli_fname, strlen(about.dli_fname));
    return mixed(mixed(hash, name), address - (uintptr_t)about.dli_fbase);
  }
  return mixed(hash, address);
}

struct walk {
  uintptr_t crashed;
  uint64_t hash;
  int seen; /* frames from the crashed one on; those before it are the handler's */
  int last; /* below the frame that found its stack smashed there is only rubble */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument) {
  struct walk *walk = argument;
  uintptr_t address = _Unwind_GetIP(context);
  if (!walk->seen && address != walk->crashed) return _URC_NO_REASON;
  walk->hash = place(walk->hash, address);
  walk->seen++;
  if (walk->last || walk->seen == FRAMES) return _URC_END_OF_STACK;
  walk->last = guard && address - guard < GUARD;
  return _URC_NO_REASON;
}

static uintptr_t program_counter(const ucontext_t *context, uintptr_t *stack_pointer) {
#if defined __x86_64__
  *stack_pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  *stack_pointer = context->uc_mcontext.sp;
  return context->uc_mcontext.pc;
#else
  (void)context;
  *stack_pointer = 0;
  return 0; /* no frame is found then: the trace stays unknown */
#endif
}

/* Triage tells the zero page and an exhausted stack from other addresses: so does the trace. */
static uint64_t address_kind(const siginfo_t *info, uintptr_t stack_pointer) {
  uintptr_t address = (uintptr_t)info->si_addr;
  if ((info->si_signo != SIGSEGV && info->si_signo != SIGBUS) || info->si_code <= 0) return 0;
  if (info->si_code == SI_KERNEL) return 1; /* the processor does not tell the address */
  if (address < PAGE) return 2;
  return address + 512 > stack_pointer && address < stack_pointer + 0xffff ? 3 : 4;
}

static void on_fatal(int signal, siginfo_t *info, void *context) {
  fw_shared->signal = signal;
  fw_shared->pid = getpid();
  uintptr_t stack_pointer;
  struct walk walk = {.crashed = program_counter(context, &stack_pointer)};
  walk.hash = mixed((uint64_t)signal, address_kind(info, stack_pointer));
  _Unwind_Backtrace(step, &walk);
  if (walk.seen > 1) fw_shared->trace = walk.hash ? walk.hash : 1;
  raise(signal); /* blocked until the handler is left; the default action is in place again */
}

static _Unwind_Reason_Code stop_at_once(struct _Unwind_Context *context, void *argument) {
  (void)context, (void)argument;
  return _URC_END_OF_STACK;
}

/* Where the program, or a sanitizer, has a handler of its own it stays. */
void fw_trace_install(void) {
  struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND}, theirs;
  ours.sa_sigaction = on_fatal;
  sigemptyset(&ours.sa_mask);
  for (int i = 0; i < FATAL; i++) sigaddset(&ours.sa_mask, fatal[i]);
  dl_iterate_phdr(add_module, NULL);
  guard = (uintptr_t)dlsym(RTLD_DEFAULT, "__stack_chk_fail");
  _Unwind_Backtrace(stop_at_once, NULL); /* whatever it prepares at its first use */
  stack_t now;
  if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  for (int i = 0; i < FATAL; i++)
    if (sigaction(fatal[i], NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
      sigaction(fatal[i], &ours, NULL);
}
