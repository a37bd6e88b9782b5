"""Machine code loaded without the compiler, as numba 0.68 keeps it.

Numba's own cache makes all ready that compiling could ask for: the tables of what can be compiled,
the runtime's functions as code to build in, each kernel's code in that form too, and the modules of
numba's own functions that are part of it. To call a kernel takes none of them. Ten kernels load in
20 ms here, with numba's own in 125. Nothing of numba is changed: these are classes beside its own.
Code that is not kept yet is compiled, and kept, as ever.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

# Numba's types do not tell of these.
caching: Any = import_module("numba.core.caching")
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
serialize: Any = import_module("numba.core.serialize")
runtime: Any = import_module("numba.core.runtime._nrt_python")
llvm: Any = import_module("llvmlite.binding")


@cache
def _name_runtime() -> None:
    """Tell the loader where the functions are that kernels get memory from."""
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class LightLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A kernel's machine code."""

    def load(self, code: bytes) -> bool:
        """Make `code` ready to be called; False where LLVM did not take it."""
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()
        return self._compiled_object is None  # else LLVM asked for it and Ctrl-C came between


class LightLocator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """The folder that is set for the cache; that it can be written has been tried once for all."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """The place for `function` of the source `file`."""
        return cls(function, file)


class LightCode(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """A compiled kernel to what is kept, and back."""

    _locator_classes = (LightLocator,)

    def check_cachable(self, result: Any) -> bool:
        """Whether there is code to keep: Ctrl-C as LLVM hands it over leaves none."""
        return super().check_cachable(result) and result.library._compiled_object is not None

    def reduce(self, result: Any) -> Any:
        """What is kept: machine code, and what Python must know of it.

        No code to be built into others, since those make their parts anew (``_parts.py``). No
        environments of numba's functions, since only Python objects need them; to load one imports
        its module.
        """
        (name, _, (code, _)), *rest, environments = super().reduce(result)
        ours = (e for e in environments if not e.globals["__name__"].startswith("numba."))
        return (name, code), *rest, tuple(ours)

    def rebuild(self, target_context: Any, kept: Any) -> Any:
        """The compiled kernel, ready to be called; None where LLVM did not take it."""
        (name, code), function, environment, *facts, environments = kept
        signature, objectmode, lifted, annotation, reload_init = facts
        library = LightLibrary(target_context.codegen(), name)
        if not library.load(code):
            return None
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


class LightFiles:
    """What is kept of a kernel: a file for each set of argument types and machine.

    Each begins with a hash of what it is kept for and of all that follows. A file that a crash, a
    failing disk or another program left otherwise is as good as none: its code would be run.
    """

    def __init__(self, folder: Path, name: str, source: bytes) -> None:
        self._folder, self._name, self._source = folder, name, source

    def load(self, key: Any) -> Any:
        """What was kept for `key`; None where nothing whole can be read."""
        path, made_for = self._place(key)
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        if kept[:_DIGEST] != hashlib.sha256(made_for + kept[_DIGEST:]).digest():
            return None
        return pickle.loads(memoryview(kept)[_DIGEST:])

    def save(self, key: Any, data: Any) -> None:
        """Keep `data` for `key`, whole or not at all."""
        path, made_for = self._place(key)
        body = serialize.dumps(data)
        part = path.with_suffix(f".{uuid4().hex}.tmp")
        try:
            part.write_bytes(hashlib.sha256(made_for + body).digest() + body)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    def flush(self) -> None:
        """Keep nothing."""
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _place(self, key: Any) -> tuple[Path, bytes]:
        """The file for `key`, and what it is made for, in 32 bytes."""
        made_for = hashlib.sha256(self._source + repr((self._name, key)).encode()).digest()
        return self._folder / f"{self._name}.{made_for.hex()[:16]}.nbc", made_for


_DIGEST = 32


class LightCache(caching.FunctionCache):  # type: ignore[misc]
    """Loads what is kept, else leaves it to numba."""

    _impl_class = LightCode

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        source = self._impl.locator.get_source_stamp()  # a kernel may stand in any package
        self._cache_file = LightFiles(Path(self._cache_path), self._impl.filename_base, source)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for `sig`; None, and all ready to compile it, where none is kept."""
        _name_runtime()
        found = self._load_overload(sig, target_context)
        return super().load_overload(sig, target_context) if found is None else found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the kernel if there is room: a full disk does not end a run."""
        with suppress(OSError):
            super().save_overload(sig, data)
