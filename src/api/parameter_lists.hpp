// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a table of calls (operations.def, synchronization.def) is told to make of each parameter of
/// a row: the parameter itself as C, as words or as Fortran has it, or the argument that goes on,
/// with the comma behind it or before it.

#define SIDELIGHT_DECLARE(type, name) type name,
#define SIDELIGHT_DECLARE_WORD(type, name) Word name,
#define SIDELIGHT_DECLARE_FORTRAN(type, name) FortranArgument<type> name,

#define SIDELIGHT_PASS(type, name) name,
#define SIDELIGHT_PASS_AFTER(type, name) , name
#define SIDELIGHT_NARROW(type, name) narrowed<type>(name),
#define SIDELIGHT_NARROW_AFTER(type, name) , narrowed<type>(name)
#define SIDELIGHT_CONVERT(type, name) from_fortran<type>(name),
#define SIDELIGHT_CONVERT_AFTER(type, name) , from_fortran<type>(name)
