"""Machine code loaded without the compiler, as numba 0.68 keeps it.

Numba's own cache makes all ready that compiling could ask for: the tables of what can be compiled,
the runtime's functions as code to build in, each kernel's code in that form too, and the modules of
numba's own functions that are part of it. To call a kernel takes none of them. Ten kernels load in
20 ms here, with numba's own in 125. Nothing of numba is changed: these are classes beside its own.
Code that is not kept yet is compiled, and kept, as ever.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

# Numba's types do not tell of these.
caching: Any = import_module("numba.core.caching")
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
runtime: Any = import_module("numba.core.runtime._nrt_python")
llvm: Any = import_module("llvmlite.binding")


@cache
def _name_runtime() -> None:
    """Tell the loader where the functions are that kernels get memory from."""
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class LightLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A kernel's machine code; its ``bitcode`` is there to be built into a kernel that calls it."""

    bitcode = b""
    _shared_module: Any

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self.bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


class LightLocator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """The folder that is set for the cache; that it can be written has been tried once for all."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """The place for `function` of the source `file`."""
        return cls(function, file)


class LightCode(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """A compiled kernel to what is kept, and back."""

    _locator_classes = (LightLocator,)

    def reduce(self, result: Any) -> Any:
        """What is kept, without environments of numba's functions: only Python objects need them.

        To load one imports its module.
        """
        *rest, environments = super().reduce(result)
        ours = (e for e in environments if not e.globals["__name__"].startswith("numba."))
        return *rest, tuple(ours)

    def rebuild(self, target_context: Any, kept: Any) -> Any:
        """The compiled kernel, ready to be called."""
        (name, _, (code, bitcode)), function, environment, *facts, environments = kept
        signature, objectmode, lifted, annotation, reload_init = facts
        library = LightLibrary(target_context.codegen(), name)
        library.bitcode = bitcode
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        library._codegen._engine._defined_symbols.add(function.llvm_cpython_wrapper_name)
        entry = target_context.get_executable(library, function, environment)
        for found in environments:
            library.codegen.set_env(found.env_name, found)
        return compiler.CompileResult(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=entry,
            fndesc=function,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=environments,
        )


class LightCache(caching.FunctionCache):  # type: ignore[misc]
    """Loads what is kept, else leaves it to numba."""

    _impl_class = LightCode

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for `sig`; None, and all ready to compile it, where none is kept."""
        _name_runtime()
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        return super().load_overload(sig, target_context) if found is None else found
