// SPDX-License-Identifier: BSD-3-Clause
/// What an error handler of a communicator throws leaves MPI_Wait, and the calls that make windows,
/// as it does without Sidelight, and so does what ends a thread (pthread_cancel), by the same way.

#include <mpi.h>

#include <array>
#include <cstdio>

namespace {

struct Thrown {
    int code;
};

void throw_it(MPI_Comm * /*comm*/, int *code, ...) { throw Thrown{*code}; }

/// A message of four numbers for a receive of one. Of MPI_Send, Open MPI 4 says nothing.
MPI_Request receive_too_little(int& room)
{
    const std::array<int, 4> data{1, 2, 3, 4};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&room, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Ssend(data.data(), static_cast<int>(data.size()), MPI_INT, 0, 0, MPI_COMM_SELF);
    return request;
}

bool leaves_wait()
{
    int room = 0;
    MPI_Request request = receive_too_little(room);
    try {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } catch (const Thrown& thrown) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(thrown.code, &error_class);
        return error_class == MPI_ERR_TRUNCATE;
    }
    return false;
}

bool leaves_creation()
{
    int memory = 0;
    MPI_Win win = MPI_WIN_NULL;
    try {
        MPI_Win_create(&memory, -4, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    } catch (const Thrown& thrown) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(thrown.code, &error_class);
        return error_class == MPI_ERR_SIZE;
    }
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(throw_it, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    const bool is_good = leaves_wait() && leaves_creation();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    std::puts(is_good ? "ok" : "nothing was thrown, or another error");
    return is_good ? 0 : 1;
}
