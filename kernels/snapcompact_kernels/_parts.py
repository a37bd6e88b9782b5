"""Kernels compiled as parts of those that call them, as numba 0.68 lets it be done.

Numba makes each kernel whole before its caller is compiled: optimised, with machine code and a way
in from Python. All of it is then optimised anew within the caller, and again within the caller's
caller. A part is translated only, and the kernel that Python calls is optimised once, with all its
parts in it: a first run compiles in two thirds of the time. Nothing of numba is changed: these are
classes beside its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import types

# Numba's types do not tell of these.
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
registry: Any = import_module("numba.core.registry")
sigutils: Any = import_module("numba.core.sigutils")
templates: Any = import_module("numba.core.typing")


class PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A kernel's code as it was translated, to be built into another."""

    def finalize(self) -> None:
        """Put the parts of this one in; nothing is optimised, no machine code made."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class KernelDispatcher(registry.CPUDispatcher):  # type: ignore[misc]
    """A kernel: whole where Python calls it, a part where another kernel does.

    Nobody sets the environments of parts: only Python objects and exceptions need them.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._parts: dict[Any, tuple[Any, object]] = {}
        """Signature, and the name among numba's functions, by argument types."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a call from another kernel with these types gives."""
        parameters, args = self._compiler.fold_argument_types(args, kws)
        # Literal or not: else each number that stands in a call would make a part of its own.
        args = tuple(map(types.unliteral, args))
        name = self.py_func.__name__
        signature, _ = self._part(args)
        template = templates.make_concrete_template(name, key=name, signatures=[signature])
        return template, parameters, args, {}

    def get_overload(self, sig: Any) -> object:
        """The name among numba's functions of the part that has signature `sig`."""
        args, _ = sigutils.normalize_signature(sig)
        return self._part(args)[1]

    def _part(self, args: Any) -> tuple[Any, object]:
        """The part for these types, translated on its first call; numba's lock is held."""
        if args not in self._parts:
            flags = compiler.Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_cpython_wrapper = flags.no_compile = True
            library = PartLibrary(self.targetctx.codegen(), self.py_func.__qualname__)
            part = compiler.compile_extra(
                self.typingctx, self.targetctx, self.py_func, args, None, flags, {}, library
            )
            name = object()
            self.targetctx.insert_user_function(name, part.fndesc, [library])
            self._parts[args] = part.signature, name
        return self._parts[args]
