/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring short actions: in batches, between processes that agree on each batch.
 *
 * A batch repeats the action so often that reading the clock does not count, and is short enough
 * that most batches are not interrupted; the median of the batches is the figure. One process
 * leads: it measures, the others follow and repeat as often as it says.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* Performs the action `repetitions` times. */
typedef void Action(void *context, long repetitions);

/* The processes that take part. */
struct Team {
    int rank; /* rank 0 leads */
    void *context;
    /* Collective: returns the leader's number in every process. What the others do until the leader
     * calls is wait, so this is also where the target of a passive measurement sits. */
    long (*agree)(void *context, long number);
};

/* How long to measure. */
struct Plan {
    double batch_microseconds; /* the length of a batch, about */
    double limit_microseconds; /* no further batch after this time */
    int batches;               /* at most MAX_BATCHES */
    long least_repetitions;    /* of a batch, however long they take; it has a multiple of them */
};

enum { MAX_BATCHES = 256, MAX_SUBJECTS = 8 };

extern const struct Plan full_plan;
extern const struct Plan quick_plan;
/* For more processes than cores: batches long enough that the scheduler's turns even out. */
extern const struct Plan crowded_plan;
extern const struct Plan quick_crowded_plan;

/* Something to measure. `lead` runs in rank 0, `follow` in the others at the same time; where
 * `follow` is NULL the others wait in Team.agree. */
struct Line {
    const char *name;
    Action *lead;
    Action *follow;
};

/* Collective. Measures the line and prints two JSON objects from rank 0, each on a line of its own:
 * {"starts": NAME} before, and the result after. So a reader knows which line a crash belongs to.
 * */
void measure(const struct Team *team, const struct Line *line, void *context,
             const struct Plan *plan);

/* The same, and in turn with it, batch by batch, the same action on `beside`: its median is the
 * member "beside" of the result. What disturbs one of them disturbs the other as much. */
void measure_beside(const struct Team *team, const struct Line *line, void *context, void *beside,
                    const struct Plan *plan);

/* The same on `count` contexts, MAX_SUBJECTS at most, in turn, batch by batch, and prints nothing:
 * `medians` are those in rank 0, in microseconds. */
void measure_several(const struct Team *team, const struct Line *line, void *const *contexts,
                     int count, const struct Plan *plan, double *medians);

/* From rank 0: {"starts": NAME}; and the line with its members "NAME": VALUE. */
void announce_line(const char *name);
void print_values(const char *name, const char *const *figures, const double *values, int count);

/* The clock that all processes of a machine have in common. */
double now_microseconds(void);

/* Memory to send from, for free(): each of its pages is there, where calloc()'s are all the same
 * one until they are written, and are read from the cache. */
char *make_data(size_t bytes);

/* Makes the pointer at `call` that to the loaded function of that name; null: there is none, as on
 * a host alone. Returns whether there is. */
bool look_up(const char *name, void *call);

/* Keeps the processor for so long, and calls nothing of MPI. */
void compute(double microseconds);

/* Sorts them. */
double median(double *values, int count);

/* Binds the caller to the `rank`th of the cores that it may use; with more than two ranks to the
 * first two of them together. Returns false where that fails. */
bool bind_to_core(int rank, int ranks);

/* Whether `name` is one of the `count` names, or there are none. */
bool chosen(const char *name, char *const *names, int count);

#endif
