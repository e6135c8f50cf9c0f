// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/intrinsic_check.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/fit.hpp"
#include "runtime/runtime.hpp"

/// Which accumulates are the origin's own work (P2, section II.C).
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using datatype::Layout;
using rma::ReduceOp;

namespace {

struct NamedOp {
    std::string_view name;
    ReduceOp op;
};

constexpr std::string_view compare_and_swap = "cas";
constexpr std::array<NamedOp, static_cast<std::size_t>(ReduceOp::count_)> named_ops{{
    {"sum", ReduceOp::sum},
    {"prod", ReduceOp::prod},
    {"max", ReduceOp::max},
    {"min", ReduceOp::min},
    {"land", ReduceOp::land},
    {"lor", ReduceOp::lor},
    {"lxor", ReduceOp::lxor},
    {"band", ReduceOp::band},
    {"bor", ReduceOp::bor},
    {"bxor", ReduceOp::bxor},
    {"maxloc", ReduceOp::maxloc},
    {"minloc", ReduceOp::minloc},
    {"replace", ReduceOp::replace},
    {"no_op", ReduceOp::no_op},
}};

/// Whether the processor has instructions for it on elements of that type; not ok: it is no name.
Status look_at(std::string_view name, const Layout& layout, bool& intrinsic) noexcept
{
    if (name == compare_and_swap) {
        intrinsic = has_compare_and_swap(layout);
        return Status::ok;
    }
    const auto* const named = std::find_if(named_ops.begin(), named_ops.end(),
                                           [&](const NamedOp& op) { return op.name == name; });
    if (named == named_ops.end()) {
        return Status::op;
    }
    intrinsic = has_instruction(named->op, layout);
    return Status::ok;
}

/// All of a list.
Status look_at_all(std::string_view names, const Layout& layout, bool& intrinsic) noexcept
{
    bool all = true;
    for (bool more = true; more;) {
        const std::size_t end = names.find(',');
        bool one = false;
        const Status status = look_at(names.substr(0, end), layout, one);
        if (status != Status::ok) {
            return status;
        }
        all = all && one;
        more = end != std::string_view::npos;
        names.remove_prefix(more ? end + 1 : names.size());
    }
    intrinsic = all;
    return Status::ok;
}

Status ask(const WindowObject& object, std::string_view ops, MPI_Aint max_count, MPI_Datatype type,
           bool& intrinsic) noexcept
{
    if (max_count < 0) {
        return Status::count;
    }
    const Layout* layout = layout_of_predefined(type);
    if (layout == nullptr) {
        return Status::type;
    }
    const Status status = look_at_all(ops, *layout, intrinsic);
    const EngineToken token(Runtime::existing()->engine());
    intrinsic = intrinsic && maps_everything(*object.window);
    return status;
}

int answer(std::string_view ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
           bool& intrinsic) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object != nullptr) {
        return host::mpi::answer_window(ask(*object, ops, max_count, type, intrinsic), win);
    }
    if (!host::mpi::fits_host()) {
        return MPI_ERR_OTHER;
    }
    return pass_through(win, [] { return MPI_SUCCESS; }); // of none is known that it is
}

} // namespace

SIDELIGHT_ENTRY int MPIX_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type,
                                          MPI_Win win, int* flag)
{
    bool intrinsic = false;
    if ((ops == nullptr || flag == nullptr) && host::mpi::fits_host()) {
        return host::mpi::answer_window(Status::argument, win);
    }
    const int code = answer(ops != nullptr ? ops : "", max_count, type, win, intrinsic);
    if (code == MPI_SUCCESS) {
        *flag = intrinsic ? 1 : 0;
    }
    return code;
}
SIDELIGHT_PROFILED(Win_op_intrinsic)

/// Fortran fills its texts with blanks, and says behind all arguments how long they are.
SIDELIGHT_ENTRY void mpix_win_op_intrinsic_(const char* ops, const MPI_Aint* max_count,
                                            FortranArgument<MPI_Datatype> type,
                                            FortranArgument<MPI_Win> win, MPI_Fint* flag,
                                            MPI_Fint* error, std::size_t length)
{
    std::string_view names(ops, length);
    names = names.substr(0, names.find_last_not_of(' ') + 1);
    bool intrinsic = false;
    const int code = answer(names, *max_count, from_fortran<MPI_Datatype>(type),
                            from_fortran<MPI_Win>(win), intrinsic);
    if (code == MPI_SUCCESS) {
        *flag = intrinsic ? 1 : 0;
    }
    return_to_fortran(code, error);
}
SIDELIGHT_PROFILED_FORTRAN(win_op_intrinsic_)
