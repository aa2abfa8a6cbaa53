"""What every other module builds on: errors, definitions from keyword arguments, reports as records, views as arrays."""

from __future__ import annotations

import difflib
import enum
import logging
import os
from typing import Any, Iterable, Mapping

import numpy as np

from ._toile import ffi, lib

log = logging.getLogger("toile")


class Error(Exception):
    """A call of the library failed. The text is the library's own; `status` is its name for what went wrong."""

    status = "failed"


class BadArgument(Error, ValueError):
    """An argument is out of range."""

    status = "bad argument"


class BadInput(Error, ValueError):
    """A file or a definition is invalid; the text names file, line, field and value."""

    status = "bad input"


class OutOfMemory(Error, MemoryError):
    """The allocator said no."""

    status = "no memory"


class FileError(Error, OSError):
    """A file could not be opened, read or written."""

    status = "i/o"


class Failed(Error, RuntimeError):
    """The simulation could not finish a step; the last good state is kept."""


class Cancelled(Error):
    """The caller asked to stop."""

    status = "cancelled"


class Closed(Error, RuntimeError):
    """The object was closed or removed before this call."""

    status = "closed"


_ERRORS = {
    lib.TL_BAD_ARG: BadArgument,
    lib.TL_BAD_INPUT: BadInput,
    lib.TL_NO_MEMORY: OutOfMemory,
    lib.TL_IO: FileError,
    lib.TL_FAILED: Failed,
    lib.TL_CANCELLED: Cancelled,
}


def new_error():
    """An empty `tl_error *` to hand to a call."""
    return ffi.new("tl_error *")


def check(status: int, err=None) -> None:
    """Raises what `status` stands for, with the text of `err`."""
    if status == lib.TL_OK:
        return
    text = ffi.string(err.message).decode("utf-8", "replace") if err is not None else ""
    raise _ERRORS.get(status, Error)(text or ffi.string(lib.tl_status_name(status)).decode())


def call(function, *args) -> None:
    """`function(*args, err)`, with an exception if it fails."""
    err = new_error()
    check(function(*args, err), err)


def text_of(pointer) -> str | None:
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


# ---- structs ------------------------------------------------------------------------------------------------


class Record(dict):
    """A report: its fields as attributes and as items."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field '{name}' (there are {', '.join(self)})") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]


_POINTS = {ffi.typeof("tl_vec3"): 3, ffi.typeof("tl_vec2"): 2}


def _enum_prefix(names) -> str:
    prefix = os.path.commonprefix(list(names))
    return prefix[: prefix.rfind("_") + 1]


def _enum_words(ctype) -> dict[str, int]:
    """The words of an enum as Python code writes them: TL_REMESHING_NONE is "none"."""
    names = ctype.relements
    prefix = _enum_prefix(names)
    return {name[len(prefix):].lower().replace("_", "-"): value for name, value in names.items()}


def enum_value(type_name: str, word) -> int:
    """The number of an enum's word, which may be a number already."""
    return _enum_of(ffi.typeof(type_name), word, type_name)


def _enum_of(ctype, word, what: str) -> int:
    if isinstance(word, enum.Enum):
        word = word.value
    if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
        if int(word) in ctype.relements.values():
            return int(word)
        raise BadArgument(f"{what} {word}: give one of {', '.join(_enum_words(ctype))}")
    words = _enum_words(ctype)
    key = str(word).lower().replace("_", "-")
    if key not in words:
        near = difflib.get_close_matches(key, words, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"give one of {', '.join(words)}"
        raise BadArgument(f"{what} '{word}': {hint}")
    return words[key]


class Keep(list):
    """What a definition borrows: alive as long as this list is."""

    def text(self, value):
        if value is None:
            return ffi.NULL
        self.append(ffi.new("char[]", os.fsencode(os.fspath(value))))
        return self[-1]

    def texts(self, values):
        self.append(ffi.new("char *[]", [self.text(v) for v in values] or [ffi.NULL]))
        return ffi.cast("const char *const *", self[-1])

    def array(self, values, ctype: str, dtype, shape, what: str):
        """`values` as a contiguous array of `dtype`, and a pointer to it. `shape`: None fits any length."""
        try:
            a = np.ascontiguousarray(values, dtype=dtype)
        except (TypeError, ValueError) as e:
            raise BadArgument(f"{what}: {e}") from None
        if a.ndim != len(shape) or any(want is not None and want != got for want, got in zip(shape, a.shape)):
            want = " x ".join("n" if n is None else str(n) for n in shape)
            got = " x ".join(map(str, a.shape))
            raise BadArgument(f"{what} has shape {got or 'of a number'}, must be {want}")
        if np.issubdtype(dtype, np.integer) and not isinstance(values, np.ndarray):
            if not np.array_equal(a, np.asarray(values)):
                raise BadArgument(f"{what} must be whole numbers of 32 bits")
        elif isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.issubdtype(dtype, np.integer):
            raise BadArgument(f"{what} has floating point numbers, must be whole ones")
        self.append(a)
        if a.size == 0:
            return ffi.NULL
        return ffi.cast(ctype, a.ctypes.data)

    def points(self, values, what="points"):
        return self.array(values, "tl_vec3 *", np.float64, (None, 3), what)

    def points2(self, values, what="points"):
        return self.array(values, "tl_vec2 *", np.float64, (None, 2), what)

    def triples(self, values, what="faces"):
        return self.array(values, "int32_t (*)[3]", np.int32, (None, 3), what)

    def pairs(self, values, what="edges"):
        return self.array(values, "int32_t (*)[2]", np.int32, (None, 2), what)

    def ints(self, values, what="indices"):
        return self.array(values, "int32_t *", np.int32, (None,), what)

    def doubles(self, values, what="numbers"):
        return self.array(values, "double *", np.float64, (None,), what)


def vec(value, n: int = 3, what: str = "vector") -> list[float]:
    try:
        out = [float(x) for x in value]
    except TypeError:
        raise BadArgument(f"{what} {value!r}: give {n} numbers") from None
    if len(out) != n:
        raise BadArgument(f"{what} has {len(out)} numbers, must have {n}")
    return out


def _set(struct, field, ctype, value, keep: Keep, what: str) -> None:
    kind = ctype.kind
    if kind == "struct" and ctype in _POINTS:
        setattr(struct, field, vec(value, _POINTS[ctype], what))
    elif kind == "struct" and isinstance(value, ffi.CData):
        setattr(struct, field, value)
    elif kind == "struct":
        if not isinstance(value, Mapping):
            raise BadArgument(f"{what}: give a dict of its fields")
        fill(getattr(struct, field), value, keep, what)
    elif kind == "enum":
        setattr(struct, field, _enum_of(ctype, value, what))
    elif kind == "pointer" and ctype.item.cname in ("char", "const char"):
        setattr(struct, field, keep.text(value))
    elif kind == "pointer" and value is None:
        setattr(struct, field, ffi.NULL)
    elif kind == "primitive" and ctype.cname in ("float", "double"):
        try:
            setattr(struct, field, float(value))
        except (TypeError, ValueError):
            raise BadArgument(f"{what} {value!r} is no number") from None
    elif kind == "primitive":
        try:
            setattr(struct, field, int(value))
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f"{what} {value!r} is no whole number in range") from None
    elif kind == "array" and ctype.item.kind == "struct":
        for i, v in enumerate(value):
            getattr(struct, field)[i] = vec(v, _POINTS[ctype.item], what)
    else:
        setattr(struct, field, value)


def fill(struct, values: Mapping[str, Any], keep: Keep, what: str = "") -> None:
    """Sets fields of a definition from keyword arguments; an unknown name raises with the nearest one."""
    ctype = ffi.typeof(struct)
    fields = dict((ctype.item if ctype.kind == "pointer" else ctype).fields)
    for name, value in values.items():
        label = f"{what}.{name}" if what else name
        if name not in fields or name in ("struct_size", "reserved"):
            near = difflib.get_close_matches(name, fields, 1)
            hint = f" (did you mean '{near[0]}'?)" if near else f" (there are {', '.join(fields)})"
            raise BadArgument(f"{label}: no such setting{hint}")
        _set(struct, name, fields[name].type, value, keep, label)


def record(struct) -> Record:
    """A report's numbers, words and nested reports; pointers to anything but text are left out."""
    ctype = ffi.typeof(struct)
    out = Record()
    for name, field in (ctype.item if ctype.kind == "pointer" else ctype).fields:
        if name.startswith("reserved"):
            continue
        value = getattr(struct, name)
        kind = field.type.kind
        if kind == "struct":
            out[name] = _plain(field.type, value)
        elif kind == "enum":
            words = {v: k for k, v in _enum_words(field.type).items()}
            out[name] = words.get(int(ffi.cast("int", ffi.cast(field.type, value))), value)
        elif kind == "array" and field.type.item.kind == "primitive" and field.type.item.cname == "char":
            out[name] = ffi.string(value).decode("utf-8", "replace")
        elif kind == "array":
            out[name] = [_plain(field.type.item, v) for v in value]
        elif kind == "pointer" and field.type.item.cname in ("char", "const char"):
            out[name] = text_of(value)
        elif kind == "primitive":
            out[name] = value
    return out


def _plain(ctype, value):
    if ctype.kind == "array" and ctype.item.cname == "char":
        return ffi.string(value).decode("utf-8", "replace")
    if ctype.kind == "array":
        return [_plain(ctype.item, v) for v in value]
    if ctype.kind != "struct":
        return value
    if ctype in _POINTS:
        return (value.x, value.y, value.z) if _POINTS[ctype] == 3 else (value.x, value.y)
    return record(value)


# ---- arrays -------------------------------------------------------------------------------------------------

_DTYPE = {"double": np.float64, "int32": np.int32, "float": np.float32, "uint8": np.uint8}


def view(pointer, count: int, width: int, dtype: str, owner, keeper=None) -> np.ndarray:
    """A read-only array over the library's memory, without a copy.

    `owner` lives as long as the array; with `keeper` (of a simulation) so does the memory itself, whatever the
    simulation does with it meanwhile.
    """
    kind = _DTYPE[dtype]
    shape = (count, width) if width > 1 else (count,)
    if count == 0 or pointer == ffi.NULL:
        return np.zeros(shape, kind)
    bytes_at = ffi.cast("char *", pointer)
    if keeper is None:
        held = ffi.gc(bytes_at, lambda _, owner=owner: None)
    else:
        held = keeper.hold(bytes_at)
    array = np.frombuffer(ffi.buffer(held, count * width * np.dtype(kind).itemsize), kind).reshape(shape)
    array.flags.writeable = False
    return array


def copy(pointer, count: int, width: int, dtype: str) -> np.ndarray:
    """The library's memory as an array of its own."""
    return view(pointer, count, width, dtype, None).copy()


class Keeper:
    """Keeps a simulation's memory for the views that look at it (csrc/keeper.h)."""

    def __init__(self):
        self.pointer = lib.toile_keeper_create()
        if self.pointer == ffi.NULL:
            raise OutOfMemory("a simulation's memory")
        self.allocator = ffi.new("tl_allocator *", lib.toile_keeper_allocator(self.pointer))

    def hold(self, at):
        keeper = self.pointer
        if not lib.toile_keeper_hold(keeper, at):
            raise OutOfMemory("a view of an array")
        drop = lib.toile_keeper_drop
        return ffi.gc(at, lambda p: drop(keeper, p))

    @property
    def kept(self) -> int:
        """Blocks that only views keep alive."""
        return lib.toile_keeper_kept(self.pointer)

    def release(self) -> None:
        lib.toile_keeper_release(self.pointer)
        self.pointer = ffi.NULL


# ---- callbacks ----------------------------------------------------------------------------------------------


class Callbacks:
    """What C calls back into: an exception in Python ends the call, and is raised again when it has returned."""

    def __init__(self, progress=None, cancelled=None, text=None, messages=None, fabric=None, size=None):
        self.progress, self.cancelled, self.text = progress, cancelled, text
        self.fabric, self.size, self.messages = fabric, size, messages if messages is not None else []
        self.error: BaseException | None = None
        self.handle = ffi.new_handle(self)
        self.log = ffi.new("tl_log *", {"write": lib.toile_on_log, "user": self.handle})

    def guarded(self, function, *args):
        try:
            return function(*args)
        except BaseException as e:  # KeyboardInterrupt too: it has to get through C
            if self.error is None:
                self.error = e
            return None

    def finish(self) -> None:
        """Raises what a callback raised."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def checked(self, function, *args) -> None:
        err = new_error()
        status = function(*args, err)
        self.finish()
        check(status, err)


def _of(user) -> Callbacks:
    return ffi.from_handle(user)



@ffi.def_extern()
def toile_on_log(user, level, message):
    me = _of(user)
    line = text_of(message)
    if level == lib.TL_LOG_WARNING:
        me.messages.append(line)
    levels = {lib.TL_LOG_DEBUG: logging.DEBUG, lib.TL_LOG_INFO: logging.INFO, lib.TL_LOG_WARNING: logging.WARNING}
    me.guarded(log.log, levels.get(level, logging.INFO), "%s", line)


def _interrupted(_kind, error, trace):
    """Python answers signals between any two lines, so Ctrl-C may be raised outside of `guarded`."""
    me = _of(trace.tb_frame.f_locals["user"])
    if me.error is None:
        me.error = error
    return 1


@ffi.def_extern(error=1, onerror=_interrupted)
def toile_on_ask(user):
    me = _of(user)
    if me.error is not None:
        return 1
    asked = bool(me.guarded(me.cancelled)) if me.cancelled else False
    return int(asked or me.error is not None)


@ffi.def_extern()
def toile_on_run(user, progress):
    me = _of(user)
    if me.progress:
        me.guarded(lambda: me.progress(record(progress)))


@ffi.def_extern()
def toile_on_render(user, progress):
    me = _of(user)
    if me.progress:
        me.guarded(lambda: me.progress(record(progress)))


@ffi.def_extern()
def toile_on_drape(user, garment, stage, part):
    me = _of(user)
    if me.progress:
        stage = text_of(lib.tl_drape_stage_name(stage))
        me.guarded(lambda: me.progress(Record(garment=garment, stage=stage, part=part)))


@ffi.def_extern()
def toile_on_refine(user, done, count):
    me = _of(user)
    if me.progress:
        me.guarded(lambda: me.progress(Record(done=done, count=count)))


@ffi.def_extern()
def toile_on_text(user, text):
    me = _of(user)
    if me.text:
        me.guarded(me.text, text_of(text))


@ffi.def_extern(error=1)
def toile_on_fabric(user, entry):
    me = _of(user)
    return int(bool(me.guarded(me.fabric, entry)) or me.error is not None)


@ffi.def_extern()
def toile_on_size(user, at):
    me = _of(user)
    size = me.guarded(lambda: float(me.size((at.x, at.y))))
    return size if size is not None else 1e30
