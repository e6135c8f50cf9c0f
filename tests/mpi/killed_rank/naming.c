/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank kills itself at some moment of long puts into memory that another one has named, while a
 * third writes there too, in a job whose launcher lets the others go on. The owner can end what its
 * handle allows, in time; from then on nobody changes the memory, and the third is refused.
 */
#include "survivors.h"

#include <sidelight.h>

enum { OWNER, WRITER, VICTIM, RANKS };
enum { LONG = 4 << 20, WORDS = 512, BYTES = LONG + 8 * WORDS, REFUSED = 5, LOOKS = 200 };

static char memory[BYTES];
static char data[LONG];

/* Its last words: never more than a few puts at once, each of them many messages long. */
static void write_until_killed(MPI_Win win, uint64_t seed)
{
    die_in(1000 + (int)(check_random(&seed) % 60000));
    for (;;) {
        for (int i = 0; i < 3; ++i)
            MPI_Put(data, LONG, MPI_BYTE, OWNER, 0, LONG, MPI_BYTE, win);
        MPI_Win_flush(OWNER, win);
    }
}

/* Behind what the victim writes, until the owner lets nobody in. */
static void write_until_refused(MPI_Win win)
{
    double const end = check_seconds() + SECONDS_UNTIL_TOLD;
    int code = MPI_SUCCESS;
    for (int64_t i = 0; code == MPI_SUCCESS && check_seconds() < end; ++i) {
        code = MPI_Put(&i, 8, MPI_BYTE, OWNER, LONG + 8 * (i % WORDS), 8, MPI_BYTE, win);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(OWNER, win);
    }
    CHECK_ERROR(code, MPI_ERR_RMA_RANGE);
    MPI_Send(NULL, 0, MPI_BYTE, OWNER, REFUSED, MPI_COMM_WORLD);
}

static void see_the_loss(MPI_Win parent)
{
    double const end = check_seconds() + SECONDS_UNTIL_TOLD;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && check_seconds() < end) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        code = MPI_Win_flush(VICTIM, parent);
    }
    CHECK_ERROR(code, LOSS);
}

/* Afterwards the memory is the owner's alone, whatever is still on its way. */
static void end_it(void *handle, MPI_Win parent)
{
    int refused = 0, changed = 0;
    double const begin = check_seconds();
    CHECK_OK(MPIX_Memhandle_release(handle, parent));
    memset(memory, 77, BYTES);
    while (!refused && check_seconds() - begin < SECONDS_UNTIL_TOLD)
        MPI_Iprobe(WRITER, REFUSED, MPI_COMM_WORLD, &refused, MPI_STATUS_IGNORE);
    CHECK(refused);
    for (int i = 0; i < LOOKS; ++i) {
        MPI_Iprobe(WRITER, REFUSED, MPI_COMM_WORLD, &refused, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    for (int i = 0; i < BYTES; ++i)
        changed += memory[i] != 77;
    CHECK_EQ(changed, 0);
}

int main(int argc, char **argv)
{
    struct {
        char bytes[MPIX_MAX_MEMHANDLE_SIZE];
        int size;
    } handle = {.size = 0};
    MPI_Win parent, named = MPI_WIN_NULL;
    check_begin(&argc, &argv);
    CHECK_EQ(check_size, RANKS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
    MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
    if (check_rank == OWNER)
        CHECK_OK(MPIX_Memhandle_create(memory, BYTES, MPI_INFO_NULL, parent, handle.bytes,
                                       &handle.size));
    MPI_Bcast(&handle, sizeof handle, MPI_BYTE, OWNER, MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, parent));
    CHECK_OK(MPI_Win_flush_all(parent));
    if (check_rank != OWNER) {
        CHECK_OK(
            MPIX_Win_from_memhandle(handle.bytes, BYTES, 1, MPI_INFO_NULL, OWNER, parent, &named));
        MPI_Win_set_errhandler(named, MPI_ERRORS_RETURN);
        CHECK_OK(MPI_Put(data, 8, MPI_BYTE, OWNER, 0, 8, MPI_BYTE, named));
        CHECK_OK(MPI_Win_flush(OWNER, named));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_step(check_rank == OWNER ? "ends what a handle allows" : "writes into named memory");
    if (check_rank == VICTIM)
        write_until_killed(named, check_argument(argc, argv, 1, 1));
    if (check_rank == WRITER) {
        write_until_refused(named);
    } else {
        see_the_loss(parent);
        end_it(handle.bytes, parent);
    }
    check_step("freeing what is left");
    if (named != MPI_WIN_NULL)
        CHECK_OK(MPI_Win_free(&named));
    MPI_Win_unlock_all(parent); /* with the loss, where it has been told */
    MPI_Win_free(&parent);
    sit_down();
}
