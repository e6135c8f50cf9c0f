/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One put and one get of more than INT_MAX bytes, at a place where the window is longer than 2^32.
 * Only what is read or written of the memory takes any.
 *
 * large_transfers allocate|create
 */
#include "host_defects.h"
#include <sys/mman.h>

typedef int put_c(const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
                  MPI_Win);
typedef int get_c(void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win);

static int64_t const bytes = INT64_C(2200000000), place = INT64_C(2200000001);
static int64_t const window_bytes = INT64_C(4400000003);
static int64_t const needed = INT64_C(8) << 20; /* in units of 1024 bytes */

/* Of the bytes that go: the ends, and what lies around 2^31 there, and around 2^32 in the window.
 */
static int64_t const marked[] = {0,
                                 1,
                                 INT64_C(0x7ffffffe),
                                 INT64_C(0x7fffffff),
                                 INT64_C(0x80000000),
                                 INT64_C(0x80000001),
                                 INT64_C(0xfffffffe) - INT64_C(2200000001),
                                 INT64_C(0xffffffff) - INT64_C(2200000001),
                                 INT64_C(0x100000000) - INT64_C(2200000001),
                                 INT64_C(0x100000001) - INT64_C(2200000001),
                                 INT64_C(2200000000) - 2,
                                 INT64_C(2200000000) - 1};
enum { MARKS = sizeof marked / sizeof *marked };

static bool has_memory(void)
{
    char line[128];
    long long available = 0;
    FILE *const file = fopen("/proc/meminfo", "re");
    while (file != NULL && available == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "MemAvailable: %lld", &available);
    if (file != NULL)
        fclose(file);
    int has = available >= needed;
    MPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return has != 0;
}

static unsigned char *memory_of(int64_t size)
{
    void *const memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void check_marks(const unsigned char *memory)
{
    for (int k = 0; k < MARKS; ++k)
        CHECK_EQ(memory[marked[k]], 100 + k);
    CHECK_EQ(memory[marked[MARKS - 1] / 2], 0);
}

static void transfer(MPI_Win win)
{
    put_c *put = NULL;
    get_c *get = NULL;
    *(void **)&put = dlsym(RTLD_DEFAULT, "MPI_Put_c");
    *(void **)&get = dlsym(RTLD_DEFAULT, "MPI_Get_c");
    unsigned char *const out = memory_of(bytes), *const in = memory_of(bytes);
    for (int k = 0; k < MARKS; ++k)
        out[marked[k]] = (unsigned char)(100 + k);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    check_step("put");
    CHECK_OK(put(out, bytes, MPI_BYTE, 1, place, bytes, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(1, win));
    check_step("get");
    CHECK_OK(get(in, bytes, MPI_BYTE, 1, place, bytes, MPI_BYTE, win));
    CHECK_OK(MPI_Win_unlock(1, win));
    check_marks(in);
    munmap(out, (size_t)bytes);
    munmap(in, (size_t)bytes);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    void *memory = NULL;
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts' own windows are not what is tested");
    if (!has_memory())
        return check_skip("it takes 8 GB of memory");
    bool const brings = argc > 1 && strcmp(argv[1], "create") == 0;
    int64_t const size = check_rank == 1 ? window_bytes : 0;
    check_step("a large window");
    if (brings && size > 0)
        memory = memory_of(size);
    if (brings)
        CHECK_OK(MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    else
        CHECK_OK(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    if (check_rank == 0)
        transfer(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1) {
        const unsigned char *const arrived = (const unsigned char *)memory + place;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        check_marks(arrived);
        CHECK_EQ(arrived[-1], 0);
        CHECK_EQ(arrived[bytes], 0);
        CHECK_OK(MPI_Win_unlock(1, win));
    }
    CHECK_OK(MPI_Win_free(&win));
    if (brings && size > 0)
        munmap(memory, (size_t)size);
    return check_end();
}
