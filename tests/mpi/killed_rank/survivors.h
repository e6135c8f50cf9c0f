/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs share in which some ranks outlive another one. */
#ifndef SIDELIGHT_TESTS_SURVIVORS_H
#define SIDELIGHT_TESTS_SURVIVORS_H

#include "../windows.h"

#include <signal.h>
#include <sys/time.h>

enum { SECONDS_UNTIL_TOLD = 60 };

static inline void die(int signal_number)
{
    (void)signal_number;
    raise(SIGKILL);
}

/* Kills this rank after that time, whatever it does then. */
static inline void die_in(int microseconds)
{
    const struct itimerval timer = {{0, 0}, {0, microseconds}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The class of the error that tells of a dead rank. */
#ifdef MPIX_ERR_PROC_FAILED
#define LOSS MPIX_ERR_PROC_FAILED
#else
#define LOSS MPI_ERR_OTHER
#endif

static inline bool is_loss(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == LOSS;
}

/* The end of a survivor, which is ended by the test: MPI_Finalize would wait for the dead one. It
 * goes on calling MPI: to others that still ask for windows that it has left it has to say so. */
_Noreturn static inline void sit_down(void)
{
    printf("survived: rank=%d failures=%d\n", check_rank, check_failures);
    fflush(stdout);
    for (;;) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

#endif /* SIDELIGHT_TESTS_SURVIVORS_H */
