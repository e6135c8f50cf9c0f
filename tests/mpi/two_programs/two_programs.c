/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers are named by their number, so executables may differ as long as all register theirs in
 * the same order: they create them in another one, and the functions lie elsewhere.
 *
 *     two_programs_even [messages]    two_programs_odd [messages]
 *
 * With the argument every message is run by the program of its target.
 */
#include "../check.h"
#include "program.h"

#include <sidelight.h>

enum { SEGMENTS = 90 };

/* Whose function has run it can be seen by the answer. */
static void check_answers(const int *asked, const int (*answers)[2], int which, int target,
                          bool by_messages)
{
    const int factor = which == DOUBLE ? 2 : -1;
    for (int s = 0; s < SEGMENTS; ++s) {
        CHECK_EQ(answers[s][0], factor * asked[s]);
        const int number = answers[s][1];
        CHECK(number == target % 2 || (!by_messages && number == check_rank % 2));
    }
}

static void ask_all(MPI_Win win, const MPI_Op *ops, bool by_messages)
{
    int asked[SEGMENTS];
    int answers[SEGMENTS][2];
    for (int s = 0; s < SEGMENTS; ++s)
        asked[s] = check_rank * 1000 + s;
    for (int target = 0; target < check_size; ++target) {
        for (int which = 0; which < HANDLERS; ++which) {
            memset(answers, 0, sizeof answers);
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
            CHECK_OK(MPIX_Am(asked, 1, MPI_INT, answers, 2, MPI_INT, SEGMENTS, target, MPI_INT, 0,
                             1, MPI_INT, MPI_INT, ops[which], win));
            CHECK_OK(MPI_Win_unlock(target, win));
            check_answers(asked, (const int(*)[2])answers, which, target,
                          by_messages && target != check_rank);
        }
    }
}

int main(int argc, char **argv)
{
    bool const by_messages = argc > 1 && strcmp(argv[1], "messages") == 0;
    MPI_Op ops[HANDLERS];
    MPI_Win win;
    int *memory = NULL;
    check_begin(&argc, &argv);
    CHECK_EQ(program_number, check_rank % 2); /* this is a job of two executables */
    CHECK_OK(MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    for (int i = 0; i < HANDLERS; ++i) {
        int const which = program_creates[i];
        CHECK_OK(MPIX_Am_op_create(program_handlers[which], &ops[which]));
    }
    for (int which = 0; which < HANDLERS; ++which)
        CHECK_OK(MPIX_Am_win_op_register(ops[which], win));
    MPI_Barrier(MPI_COMM_WORLD);
    ask_all(win, ops, by_messages);
    for (int which = 0; which < HANDLERS; ++which)
        CHECK_OK(MPI_Op_free(&ops[which]));
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
