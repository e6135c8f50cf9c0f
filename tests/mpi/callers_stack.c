/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call touches nothing of its caller's stack but its own arguments: each is made where the stack
 * ends just above the return address, so that whoever reads or writes a word there is stopped by
 * the system. In a program it would be a variable of the caller's, which another thread may change.
 */
#include "check.h"

#include <sys/mman.h>

enum { STACK = 4 << 20, PAGE = 1 << 16, TAG = 3 };

static char *end_of_stack;

static void make_stack(void)
{
    char *memory = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    end_of_stack = memory + STACK;
    CHECK(mprotect(end_of_stack, PAGE, PROT_NONE) == 0);
}

typedef void any_function(void);

/* Where calls take eight words by registers, none of these has one on the stack. */
static int call_at_end(any_function *function, long a, long b, long c, long d, long e, long f)
{
    long code;
#ifdef __x86_64__
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[stack], %%rsp\n\t"
                     "call *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : "=a"(code), "+D"(a), "+S"(b), "+d"(c), "+c"(d), "+r"(fifth), "+r"(sixth)
                     : [stack] "r"(end_of_stack), [function] "r"(function)
                     : "rbx", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                       "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                       "xmm14", "xmm15");
#else
    code = ((long (*)(long, long, long, long, long, long))function)(a, b, c, d, e, f);
#endif
    return (int)code;
}

#define SIX(a, b, c, d, e, f, ...) (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)
#define CALL(function, ...)                                                                        \
    (check_step(#function),                                                                        \
     CHECK_OK(call_at_end((any_function *)(function), SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0))))

static void requests(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0, level = -1;
    CALL(MPI_Query_thread, &level);
    CALL(MPI_Test, &request, &flag, MPI_STATUS_IGNORE);
    CALL(MPI_Testall, 1, &request, &flag, MPI_STATUSES_IGNORE);
    CALL(MPI_Request_get_status, request, &flag, MPI_STATUS_IGNORE);
    CALL(MPI_Ibarrier, MPI_COMM_WORLD, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Waitall, 1, &request, MPI_STATUSES_IGNORE);
    CHECK(request == MPI_REQUEST_NULL && flag != 0 && level >= 0);
}

static void messages(void)
{
    int flag = 0, one = 1, sum = 0;
    CALL(MPI_Iprobe, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Bcast, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CALL(MPI_Allreduce, &one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(flag == 0 && sum == check_size);
}

static void windows(void)
{
    void *memory = NULL, *base = NULL;
    MPI_Win win = MPI_WIN_NULL;
    int flag = 0;
    CALL(MPI_Alloc_mem, 4096, MPI_INFO_NULL, &memory);
    CALL(MPI_Win_create, memory, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CALL(MPI_Win_get_attr, win, MPI_WIN_BASE, &base, &flag);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, win);
    CALL(MPI_Win_unlock, 0, win);
    CALL(MPI_Win_sync, win);
    CALL(MPI_Win_free, &win);
    CHECK(flag != 0 && base == memory);
    CALL(MPI_Free_mem, memory);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    make_stack();
    for (int round = 0; round < 2; ++round) { /* the first call decides who serves it */
        requests();
        messages();
        windows();
    }
    return check_end();
}
