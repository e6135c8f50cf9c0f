/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of one thread that blocks a signal and fetches it when it likes, as is done for the
 * warning of a batch system before the job's end. A thread of the library's that takes it would end
 * the process. */
#include "check.h"

#include <dirent.h>

/* How many threads there are that take a signal. A host may have some itself. */
static int takers(int number)
{
    char path[64], line[128];
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        unsigned long long blocked = ~0ULL;
        snprintf(path, sizeof path, "/proc/self/task/%.16s/status", task->d_name);
        FILE *status = fopen(path, "r");
        while (status != NULL && fgets(line, sizeof line, status) != NULL)
            sscanf(line, "SigBlk: %llx", &blocked);
        if (status != NULL)
            fclose(status);
        found += (blocked >> (number - 1) & 1) == 0;
    }
    closedir(tasks);
    return found;
}

int main(int argc, char **argv)
{
    sigset_t warning;
    struct timespec const moment = {.tv_sec = 5};
    int64_t *words, one = 1;
    MPI_Win win;
    check_begin(&argc, &argv);
    sigemptyset(&warning);
    sigaddset(&warning, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &warning, NULL) == 0);
    int const of_host = takers(SIGUSR2);
    CHECK(sigprocmask(SIG_UNBLOCK, &warning, NULL) == 0);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT64_T, (check_rank + 1) % check_size, 0, 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    CHECK(sigprocmask(SIG_BLOCK, &warning, NULL) == 0);
    CHECK_EQ(takers(SIGUSR2), of_host);
    if (of_host == 0) {
        CHECK(kill(getpid(), SIGUSR2) == 0);
        CHECK_EQ(sigtimedwait(&warning, NULL, &moment), SIGUSR2);
    }
    CHECK_EQ(*words, 1);
    MPI_Win_free(&win);
    return check_end();
}
