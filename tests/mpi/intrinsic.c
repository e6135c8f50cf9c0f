/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIX_Win_op_intrinsic: which accumulates are the origin's own work.
 *
 * intrinsic [mapped]
 *
 * `mapped`: all ranks map each other's memory, not that of shared windows alone.
 */
#include "windows.h"
#include <sidelight.h>

static int ask(const struct window *w, const char *ops, MPI_Aint count, MPI_Datatype type)
{
    int flag = -1;
    CHECK_OK(MPIX_Win_op_intrinsic(ops, count, type, w->win, &flag));
    CHECK(flag == 0 || flag == 1);
    return flag;
}

static void refuse(const struct window *w, const char *ops, MPI_Aint count, MPI_Datatype type,
                   int error)
{
    int flag = 7;
    CHECK_ERROR(MPIX_Win_op_intrinsic(ops, count, type, w->win, &flag), error);
    CHECK_EQ(flag, 7);
}

static void questions(const struct window *w, int yes)
{
    check_step(flavor_names[w->flavor]);
    CHECK_EQ(ask(w, "sum", 1, MPI_INT64_T), yes);
    CHECK_EQ(ask(w, "sum,replace,cas", 1, MPI_INT), yes);
    CHECK_EQ(ask(w, "prod,max,min,land,lor,lxor,band,bor,bxor,no_op", 1000, MPI_UINT64_T), yes);
    CHECK_EQ(ask(w, "sum", 0, MPI_INT64_T), yes);
    CHECK_EQ(ask(w, "max", 4096, MPI_DOUBLE), yes);
    CHECK_EQ(ask(w, "cas", 1, MPI_BYTE), yes);
    CHECK_EQ(ask(w, "cas", 1, MPI_DOUBLE), 0);        /* MPI has none of it */
    CHECK_EQ(ask(w, "sum,band", 1, MPI_DOUBLE), 0);   /* nor that one */
    CHECK_EQ(ask(w, "sum", 1, MPI_LONG_DOUBLE), 0);   /* too wide for an instruction */
    CHECK_EQ(ask(w, "maxloc", 1, MPI_DOUBLE_INT), 0); /* likewise */
}

/* Asked before any operation has used it. */
static void rare_type(const struct window *w)
{
    MPI_Datatype nine_digits;
    int bytes = 0;
    if (MPI_Type_create_f90_integer(9, &nine_digits) != MPI_SUCCESS)
        return; /* of an MPI without Fortran */
    CHECK_OK(MPI_Type_size(nine_digits, &bytes));
    CHECK_EQ(ask(w, "sum", 1, nine_digits), ask(w, "sum", 1, bytes == 4 ? MPI_INT : MPI_INT64_T));
}

static void mistakes(struct window *w)
{
    int flag = 0;
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    refuse(w, "SUM", 1, MPI_INT, MPI_ERR_OP);
    refuse(w, "sum,", 1, MPI_INT, MPI_ERR_OP);
    refuse(w, "sum, min", 1, MPI_INT, MPI_ERR_OP);
    refuse(w, "", 1, MPI_INT, MPI_ERR_OP);
    refuse(w, "average", 1, MPI_INT, MPI_ERR_OP);
    refuse(w, "sum", -1, MPI_INT, MPI_ERR_COUNT);
    refuse(w, "sum", 1, MPI_DATATYPE_NULL, MPI_ERR_TYPE);
    refuse(w, NULL, 1, MPI_INT, MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_op_intrinsic("sum", 1, MPI_INT, w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_op_intrinsic("sum", 1, MPI_INT, MPI_WIN_NULL, &flag), MPI_ERR_WIN);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    bool const mapped = argc > 1 && strcmp(argv[1], "mapped") == 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 64, 8);
        rare_type(&w);
        questions(&w, w.flavor == FLAVOR_SHARED || (w.flavor == FLAVOR_ALLOCATE && mapped));
        mistakes(&w);
        window_close(&w);
    }
    return check_end();
}
