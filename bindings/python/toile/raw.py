"""Every function of the C library: `raw.lib.tl_...`, with `raw.ffi` for its structs (cffi's API mode).

>>> from toile.raw import ffi, lib, call
>>> out = ffi.new("tl_pattern **")
>>> call(lib.tl_pattern_create, ffi.NULL, out)   # raises with the text of the tl_error that it hands over last

Lengths of memory and who owns it are as the headers in include/toile say.
"""

from ._core import call, check
from ._toile import ffi, lib

__all__ = ["call", "check", "ffi", "lib"]
