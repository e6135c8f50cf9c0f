# SPDX-License-Identifier: BSD-3-Clause
"""The sources as Clang's parser sees them, from the compilation database of the `clang` preset: for
the checks beside it. tools/setup --checks installs the parser."""

import json
import os
import pathlib
import shlex
import subprocess
import sys

import clang.cindex
from clang.cindex import CursorKind as Kind

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-tidy"  # that of ci/check-tidy
ENGINE = "src/rma/"

CLASSES = {Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.CLASS_TEMPLATE,
           Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
METHODS = {Kind.CXX_METHOD, Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE}
FUNCTIONS = METHODS | {Kind.FUNCTION_DECL, Kind.CONSTRUCTOR, Kind.DESTRUCTOR}
MENTIONS = {Kind.CALL_EXPR, Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR}
SCOPES = {Kind.NAMESPACE, Kind.LINKAGE_SPEC, Kind.UNEXPOSED_DECL}


class Files:
    """The names of files as the project has them. Clang's are looked up once each."""

    def __init__(self):
        self._names = {}

    def of(self, cursor):
        """The file in src/ that a cursor lies in, relative to the root, or None."""
        file = cursor.location.file
        if file is None:
            return None
        if file.name not in self._names:
            path = pathlib.Path(os.path.realpath(file.name))
            inside = path.is_relative_to(ROOT / "src")
            self._names[file.name] = str(path.relative_to(ROOT)) if inside else None
        return self._names[file.name]


def qualified(cursor):
    """The name with its classes and without the project's namespaces."""
    parts = []
    while cursor is not None and cursor.kind not in SCOPES | {Kind.TRANSLATION_UNIT}:
        parts.append(cursor.spelling or "(anonymous)")
        cursor = cursor.semantic_parent
    return "::".join(reversed(parts))


def entries(host):
    """The compilation database: (what the engine is built of, sources of the parts per host)."""
    subprocess.run(["cmake", "--preset", "clang", "-B", str(BUILD), f"-DSIDELIGHT_HOSTS={host}",
                    "--log-level=WARNING"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = json.loads((BUILD / "compile_commands.json").read_text())
    engine = [entry for entry in found if "/sidelight-engine.dir/" in entry["command"]
              or "/sidelight-sim.dir/" in entry["command"]]
    return engine, [entry for entry in found
                    if entry not in engine and entry["file"].startswith(f"{ROOT}/src/")]


def arguments(entry):
    """Those of the compiler in an entry of the compilation database, without the files."""
    words = shlex.split(entry["command"])[1:]
    cut = words.index("-o")
    return [word for word in words[:cut] + words[cut + 2:]
            if word not in ("-c", "--", entry["file"])]


def parse(file, options, text=None, bodies=False):
    """A file, or a text in its place, parsed; and what Clang complains about, by file."""
    unit = clang.cindex.Index.create().parse(
        file, [*options, "-w", "-ferror-limit=0"],
        unsaved_files=None if text is None else [(file, text)],
        options=0 if bodies else clang.cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = {str(diagnostic.location.file): str(diagnostic) for diagnostic in unit.diagnostics
              if diagnostic.severity >= clang.cindex.Diagnostic.Error}
    return unit, errors


def refuse(errors):
    """Ends a check that cannot read the sources."""
    for error in errors.values():
        sys.exit(f"Clang cannot read it: {error}")
