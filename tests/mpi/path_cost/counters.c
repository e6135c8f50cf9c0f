/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "counters.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static _Thread_local bool counting;
static _Thread_local struct counters now;

/* --- Allocations and mutexes ------------------------------------------------------------------ */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size)
{
    now.allocations += counting;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    now.allocations += counting;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    now.allocations += counting;
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    now.allocations += counting;
    __libc_free(memory);
}

void *memalign(size_t alignment, size_t size)
{
    now.allocations += counting;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = memalign(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

/* The C library's own, found at the first call. */
typedef int mutex_function(pthread_mutex_t *mutex);

static int in_c_library(mutex_function **known, const char *name, pthread_mutex_t *mutex)
{
    now.mutexes += counting;
    if (*known == NULL)
        *(void **)known = dlsym(RTLD_NEXT, name);
    return (*known)(mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static mutex_function *known;
    return in_c_library(&known, "pthread_mutex_lock", mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    static mutex_function *known;
    return in_c_library(&known, "pthread_mutex_trylock", mutex);
}

/* --- System calls ----------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(SYS_rt_sigaction)

enum { USER_DISPATCH = 59, DISPATCH_OFF = 0, DISPATCH_ON = 1 }; /* of prctl */
enum { LET_THROUGH = 0, SEND_BACK = 1 };                        /* of the selector */
enum { WITH_RESTORER = 0x04000000, SET_BYTES = 8 };             /* of the kernel's sigaction */

static _Thread_local volatile char selector;

/* How the handler returns: itself a system call, from the one place where those are let through. */
extern void counters_restore(void) __attribute__((visibility("hidden")));
extern char counters_restore_end[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".balign 16\n"
        "counters_restore:\n"
        "    mov $15, %eax\n" /* rt_sigreturn */
        "    syscall\n"
        "counters_restore_end:\n"
        "    nop\n");

/* Counts the call that was sent back, and makes it. */
static void on_system_call(int number, siginfo_t *info, void *context)
{
    greg_t *const registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    int const kept = errno;
    (void)number;
    selector = LET_THROUGH;
    ++now.system_calls;
    now.last_call = info->si_syscall;
    long const result =
        syscall(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                registers[REG_R10], registers[REG_R8], registers[REG_R9]);
    registers[REG_RAX] = result == -1 ? -errno : result;
    errno = kept;
    selector = SEND_BACK;
}

static void handle_system_calls(void)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {on_system_call, SA_SIGINFO | SA_NODEFER | WITH_RESTORER, counters_restore, 0};
    syscall(SYS_rt_sigaction, SIGSYS, &action, NULL, SET_BYTES);
}

static bool dispatch(bool on)
{
    unsigned long const start = (unsigned long)counters_restore;
    unsigned long const bytes = (unsigned long)counters_restore_end + 1 - start;
    selector = LET_THROUGH;
    return on ? prctl(USER_DISPATCH, DISPATCH_ON, start, bytes, &selector) == 0
              : prctl(USER_DISPATCH, DISPATCH_OFF, 0L, 0L, 0L) == 0;
}

static void system_calls_start(void)
{
    handle_system_calls();
    if (dispatch(true))
        selector = SEND_BACK;
}

static void system_calls_stop(void)
{
    selector = LET_THROUGH;
    dispatch(false);
}

#else

static void system_calls_start(void) {}
static void system_calls_stop(void) {}

#endif

bool counters_see_system_calls(void)
{
    counters_start();
    (void)!getppid();
    return counters_stop().system_calls == 1;
}

void counters_start(void)
{
    now = (struct counters){0};
    system_calls_start();
    counting = true;
}

struct counters counters_stop(void)
{
    counting = false;
    system_calls_stop();
    return now;
}
