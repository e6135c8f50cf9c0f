// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/pass_through.hpp"
#include "api/window_query.hpp"
#include "host/mpi/fortran_handles.hpp"
#include "runtime/window_table.hpp"

/// Fortran comes to us through the C functions that its bindings call, with one exception: asking a
/// window for an attribute goes from the binding straight into the host, which knows its handle and
/// not our window. So the bindings of that call are taken over, under the names that MPI-4.1
/// (19.1.5) and gfortran give them: for mpif.h and the module mpi one for each way in which
/// compilers spell names, one for mpi_f08, and the same for PMPI, where MPICH has a name of its
/// own. Those of setting one are watched, because what they set the host alone knows.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

using Binding = void(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                     MPI_Fint* error);

/// A binding of the host's, which is looked for until it is there: Fortran's libraries may be
/// loaded at any time.
class OfHost {
public:
    explicit constexpr OfHost(const char* name) noexcept : name_(name) {}

    /// Calls it; where there is none, `error` says so. That is null where a program with mpi_f08
    /// leaves the argument out.
    template <class Called, class... Arguments>
    void call(MPI_Fint* error, Arguments... arguments) noexcept
    {
        void* found = found_.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = host::mpi::find_anywhere(name_);
            found_.store(found, std::memory_order_relaxed);
        }
        if (found != nullptr) {
            reinterpret_cast<Called*>(found)(arguments..., error);
        } else if (error != nullptr) {
            *error = MPI_ERR_OTHER;
        }
    }

private:
    const char* name_;
    std::atomic<void*> found_{nullptr}; ///< relaxed: whoever reads null looks for it, too
};

/// `error` as in OfHost.
void get_attr(OfHost& binding, const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value,
              MPI_Fint* flag, MPI_Fint* error) noexcept
{
    const auto handle = host::mpi::c_handle<MPI_Win>(*win);
    const int key = *keyval - fortran_above_c;
    WindowObject* object = window_table::find(handle);
    const auto predefined = object == nullptr ? std::nullopt : predefined_attribute(*object, key);
    if (!predefined && is_unknown_to_hosts(key)) {
        *flag = 0;
        return_to_fortran(pass_through(handle, [] { return MPI_SUCCESS; }), error);
        return;
    }
    if (!predefined) {
        binding.call<Binding>(error, win, keyval, value, flag);
        return;
    }
    *value = predefined->value;
    *flag = 1;
    return_to_fortran(MPI_SUCCESS, error);
}

using SettingBinding = void(const MPI_Fint* win, const MPI_Fint* keyval, const MPI_Aint* value,
                            MPI_Fint* error);

/// The host keeps it, and nobody can ask whether it is there: so the handle may not be another's
/// afterwards.
void set_attr(OfHost& binding, const MPI_Fint* win, const MPI_Fint* keyval, const MPI_Aint* value,
              MPI_Fint* error) noexcept
{
    if (WindowObject* object = window_table::find(host::mpi::c_handle<MPI_Win>(*win));
        object != nullptr) {
        object->keeps_handle = false;
    }
    binding.call<SettingBinding>(error, win, keyval, value);
}

} // namespace

#define SIDELIGHT_OWN_get_attr(binding)                                                            \
    SIDELIGHT_OWN void own_##binding(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value, \
                                     MPI_Fint* flag, MPI_Fint* error)                              \
    {                                                                                              \
        static constinit OfHost of_host{#binding};                                                 \
        get_attr(of_host, win, keyval, value, flag, error);                                        \
    }

#define SIDELIGHT_OWN_set_attr(binding)                                                            \
    SIDELIGHT_OWN void own_##binding(const MPI_Fint* win, const MPI_Fint* keyval,                  \
                                     const MPI_Aint* value, MPI_Fint* error)                       \
    {                                                                                              \
        static constinit OfHost of_host{#binding};                                                 \
        set_attr(of_host, win, keyval, value, error);                                              \
    }

// What front.def has of Fortran's, but for what is in attributes.cpp.
#define SIDELIGHT_OWN_set_proxy(name)
#define SIDELIGHT_FRONT(name, words)
#define SIDELIGHT_TRACED_FRONT(name, words)
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) SIDELIGHT_OWN_##call(name)
#include "api/front.def"
