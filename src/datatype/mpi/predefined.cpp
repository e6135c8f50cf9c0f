// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/mpi/predefined.hpp"

#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "datatype/builder.hpp"
#include "datatype/mpi/contents.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::datatype {
namespace {

using host::mpi::table;

/// What a named type can be. The host says how large it is here, and that decides which one.
using Candidates = std::span<const Basic>;

constexpr std::array integers{Basic::i8, Basic::i16, Basic::i32, Basic::i64, Basic::i128};
constexpr std::array naturals{Basic::u8, Basic::u16, Basic::u32, Basic::u64};
constexpr std::array reals{Basic::f16, Basic::f32, Basic::f64, Basic::f128};
constexpr std::array extended_reals{Basic::f32, Basic::f64, Basic::f80, Basic::f128};
constexpr std::array extended_complexes{Basic::c32, Basic::c64, Basic::c80, Basic::c128};
constexpr std::array complexes{Basic::c16, Basic::c32, Basic::c64, Basic::c128};
constexpr std::array logicals{Basic::logical8, Basic::logical16, Basic::logical32, Basic::logical64,
                              Basic::logical128};
constexpr std::array characters{Basic::char8, Basic::char32};
/// MPI keeps MPI_CHAR for text, but both families of hosts compute with it, and programs do.
constexpr std::array letters{std::is_signed_v<char> ? Basic::i8 : Basic::u8};
constexpr std::array bytes{Basic::byte};
constexpr std::array long_doubles{Basic::f80, Basic::f64};
constexpr std::array long_complexes{Basic::c80, Basic::c64};
constexpr std::array float_int{Basic::f32_i32};
constexpr std::array double_int{Basic::f64_i32};
constexpr std::array long_int{Basic::i64_i32, Basic::i32_i32};
constexpr std::array two_int{Basic::i32_i32};
constexpr std::array short_int{Basic::i16_i32};
constexpr std::array long_double_int{Basic::f80_i32, Basic::f64_i32};
constexpr std::array two_real{Basic::f32_f32, Basic::f64_f64};
constexpr std::array two_double{Basic::f64_f64};

struct Named {
    MPI_Datatype type;
    Candidates candidates;
};

/// The named types of MPI-3.1, section 3.2.2 and annex A.1, which all headers have but for a few.
/// Handles of Open MPI are addresses in the host, known only once it is loaded: hence a function.
// NOLINTNEXTLINE(readability-function-size): it is a table.
std::vector<Named> standard_types()
{
    return {
        {MPI_CHAR, letters},
        {MPI_WCHAR, characters},
        {MPI_CHARACTER, characters},
        {MPI_BYTE, bytes},
        {MPI_PACKED, bytes},
        {MPI_SIGNED_CHAR, integers},
        {MPI_SHORT, integers},
        {MPI_INT, integers},
        {MPI_LONG, integers},
        {MPI_LONG_LONG, integers},
        {MPI_INT8_T, integers},
        {MPI_INT16_T, integers},
        {MPI_INT32_T, integers},
        {MPI_INT64_T, integers},
        {MPI_AINT, integers},
        {MPI_OFFSET, integers},
        {MPI_COUNT, integers},
        {MPI_INTEGER, integers},
        {MPI_INTEGER1, integers},
        {MPI_INTEGER2, integers},
        {MPI_INTEGER4, integers},
        {MPI_INTEGER8, integers},
        {MPI_UNSIGNED_CHAR, naturals},
        {MPI_UNSIGNED_SHORT, naturals},
        {MPI_UNSIGNED, naturals},
        {MPI_UNSIGNED_LONG, naturals},
        {MPI_UNSIGNED_LONG_LONG, naturals},
        {MPI_UINT8_T, naturals},
        {MPI_UINT16_T, naturals},
        {MPI_UINT32_T, naturals},
        {MPI_UINT64_T, naturals},
        {MPI_FLOAT, reals},
        {MPI_DOUBLE, reals},
        {MPI_LONG_DOUBLE, long_doubles},
        {MPI_REAL, reals},
        {MPI_REAL4, reals},
        {MPI_REAL8, reals},
        {MPI_REAL16, reals},
        {MPI_DOUBLE_PRECISION, reals},
        {MPI_C_FLOAT_COMPLEX, complexes},
        {MPI_C_DOUBLE_COMPLEX, complexes},
        {MPI_C_LONG_DOUBLE_COMPLEX, long_complexes},
        {MPI_CXX_FLOAT_COMPLEX, complexes},
        {MPI_CXX_DOUBLE_COMPLEX, complexes},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, long_complexes},
        {MPI_COMPLEX, complexes},
        {MPI_COMPLEX8, complexes},
        {MPI_COMPLEX16, complexes},
        {MPI_COMPLEX32, complexes},
        {MPI_DOUBLE_COMPLEX, complexes},
        {MPI_C_BOOL, logicals},
        {MPI_CXX_BOOL, logicals},
        {MPI_LOGICAL, logicals},
// Not in all headers. Their names do not tell: Intel MPI 2021.18 calls the first MPIX_C_BF16.
#ifdef MPI_LOGICAL1
        {MPI_LOGICAL1, logicals},
#endif
#ifdef MPI_LOGICAL2
        {MPI_LOGICAL2, logicals},
#endif
#ifdef MPI_LOGICAL4
        {MPI_LOGICAL4, logicals},
#endif
#ifdef MPI_LOGICAL8
        {MPI_LOGICAL8, logicals},
#endif
        {MPI_FLOAT_INT, float_int},
        {MPI_DOUBLE_INT, double_int},
        {MPI_LONG_INT, long_int},
        {MPI_2INT, two_int},
        {MPI_SHORT_INT, short_int},
        {MPI_LONG_DOUBLE_INT, long_double_int},
        {MPI_2INTEGER, two_int},
        {MPI_2REAL, two_real},
        {MPI_2DOUBLE_PRECISION, two_double},
    };
}

struct Measures {
    MPI_Count size = 0;
    MPI_Count lb = 0;
    MPI_Count extent = 0;
};

Measures measure(MPI_Datatype type)
{
    Measures measures;
    table().Type_size_x(type, &measures.size);
    table().Type_get_extent_x(type, &measures.lb, &measures.extent);
    return measures;
}

/// The candidate that is as large as the host's type; null if none is, or the host lacks the type.
const Layout* choose(Candidates candidates, const Measures& measures)
{
    for (const Basic basic : candidates) {
        const BasicShape shape = shape_of(basic);
        if (shape.size == measures.size && shape.extent == measures.extent && measures.lb == 0) {
            return &basic_layout(basic);
        }
    }
    return nullptr;
}

PredefinedTable::Slot slot_for(MPI_Datatype type, const Layout& layout) noexcept
{
    return {type, layout.contiguous ? static_cast<std::uint32_t>(layout.size) : 0, &layout};
}

/// Fills a table whose multiplier puts each type in a slot of its own. With some 70 types in 1024
/// slots every tenth multiplier does.
bool place_all(PredefinedTable& slots, const std::vector<PredefinedTable::Slot>& types)
{
    slots.slots.fill({});
    for (const auto& type : types) {
        const auto index = slots.index_of(type.type);
        auto& slot = slots.slots[index];
        if (slot.layout != nullptr && slot.type != type.type) {
            return false;
        }
        slot = type;
    }
    return true;
}

constinit const PredefinedTable empty_table{};

/// Slots for so many types are found in a moment; among twice as many hardly ever.
constexpr std::size_t most_in_table = 128;

/// All types that were registered, and all tables that readers may still look at.
struct Registry {
    std::vector<PredefinedTable::Slot> types;  ///< those in the table: the standard's come first
    std::vector<PredefinedTable::Slot> others; ///< for which it has no room
    std::size_t standard = 0;
    std::vector<std::unique_ptr<PredefinedTable>> tables; ///< the first has the standard's alone

    void publish();
};

Registry& registry()
{
    static auto* const forever = new Registry;
    return *forever;
}

void Registry::publish()
{
    auto next = std::make_unique<PredefinedTable>();
    next->multiplier = 0x9e3779b97f4a7c15U; // odd, bits well mixed
    while (!place_all(*next, types)) {
        next->multiplier = next->multiplier * 0x5851f42d4c957f2dU + 2;
    }
    tables.push_back(std::move(next));
    predefined_table.store(tables.back().get(), std::memory_order_release);
}

Candidates candidates_by_name(MPI_Datatype type)
{
    struct Prefix {
        std::string_view text;
        Candidates candidates;
    };
    constexpr std::array<Prefix, 6> prefixes{{{"MPI_LOGICAL", logicals},
                                              {"MPI_INTEGER", integers},
                                              {"MPI_REAL", reals},
                                              {"MPI_COMPLEX", complexes},
                                              {"MPI_CXX_COMPLEX", complexes},
                                              {"MPIX_C_FLOAT16", reals}}};
    std::array<char, MPI_MAX_OBJECT_NAME> buffer{};
    int length = 0;
    table().Type_get_name(type, buffer.data(), &length);
    const std::string_view name(buffer.data(), static_cast<std::size_t>(length));
    for (const Prefix& prefix : prefixes) {
        if (name.starts_with(prefix.text)) {
            return prefix.candidates;
        }
    }
    return {};
}

/// Whether a type of MPI_Type_create_f90_real or _complex has the digits of a long double. It and
/// one of twice a double's precision have the same size.
bool is_extended(MPI_Datatype type)
{
    if (host::mpi::host_family() == host::mpi::Family::intel) {
        return false; // made for compilers that have no such kind
    }
    constexpr int digits = std::numeric_limits<long double>::digits10;
    const int precision = Contents(type).next_integer();
    return precision == MPI_UNDEFINED || precision <= digits;
}

Candidates candidates_by_combiner(MPI_Datatype type, int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_F90_REAL:
        return is_extended(type) ? Candidates(extended_reals) : Candidates(reals);
    case MPI_COMBINER_F90_COMPLEX:
        return is_extended(type) ? Candidates(extended_complexes) : Candidates(complexes);
    case MPI_COMBINER_F90_INTEGER:
        return integers;
    default:
        return candidates_by_name(type);
    }
}

/// A type of which only its size is known, enough for put and get.
const Layout* opaque(const Measures& measures)
{
    if (measures.size != 0 && (measures.size != measures.extent || measures.lb != 0)) {
        return nullptr;
    }
    LayoutBuilder builder;
    builder.append_block(0, static_cast<std::size_t>(measures.size));
    return builder.finish_forever(static_cast<std::ptrdiff_t>(measures.lb),
                                  static_cast<std::ptrdiff_t>(measures.extent));
}

} // namespace

constinit std::atomic<const PredefinedTable*> predefined_table{&empty_table};

void register_predefined()
{
    static std::mutex mutex; // threads may make their first windows at the same time
    const std::scoped_lock lock(mutex);
    if (predefined_table.load(std::memory_order_acquire) != &empty_table) {
        return;
    }
    Registry& known = registry();
    for (const Named& named : standard_types()) {
        if (named.type == MPI_DATATYPE_NULL || named.type == MPI_Datatype{}) {
            continue; // the host has no such type
        }
        const Layout* layout = choose(named.candidates, measure(named.type));
        if (layout != nullptr) {
            known.types.push_back(slot_for(named.type, *layout));
        }
    }
    known.standard = known.types.size();
    known.publish();
}

const Layout* register_further(MPI_Datatype type, int combiner)
{
    Registry& known = registry();
    for (const PredefinedTable::Slot& other : known.others) {
        if (other.type == type) {
            return other.layout;
        }
    }
    const Measures measures = measure(type);
    const Layout* layout = choose(candidates_by_combiner(type, combiner), measures);
    if (layout == nullptr) {
        layout = opaque(measures);
    }
    if (layout == nullptr) {
        return nullptr;
    }
    if (known.types.size() < most_in_table) {
        known.types.push_back(slot_for(type, *layout));
        known.publish();
    } else {
        known.others.push_back(slot_for(type, *layout));
    }
    return layout;
}

void forget_further() noexcept
{
    Registry& known = registry();
    known.others.clear();
    if (known.types.size() > known.standard) {
        known.types.erase(known.types.begin() + static_cast<std::ptrdiff_t>(known.standard),
                          known.types.end());
        predefined_table.store(known.tables.front().get(), std::memory_order_release);
    }
}

} // namespace sidelight::datatype
