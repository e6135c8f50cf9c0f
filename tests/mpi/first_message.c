/* SPDX-License-Identifier: BSD-3-Clause */
/* The first message of a job comes to a rank that computes from the start: it has not been heard of
 * in any call of that rank's before. With a thread for progress it is served nevertheless. */
#include "check.h"

enum { COMPUTING, CALLING, PATIENCE_SECONDS = 30, WORD = 7 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    volatile int *word;
    MPI_Win win;
    MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&word,
                     &win);
    *word = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == COMPUTING) {
        check_step("computing");
        const double end = MPI_Wtime() + PATIENCE_SECONDS;
        while (*word != WORD && MPI_Wtime() < end) {}
        CHECK_EQ(*word, WORD);
    } else if (check_rank == CALLING) {
        check_step("a lock at a rank that computes");
        usleep(50000); /* whoever has made the window does not look after it any more */
        const int value = WORD;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, COMPUTING, 0, win);
        MPI_Put(&value, 1, MPI_INT, COMPUTING, 0, 1, MPI_INT, win);
        MPI_Win_unlock(COMPUTING, win);
    }
    MPI_Win_free(&win);
    return check_end();
}
