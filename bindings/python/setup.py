"""`pip install .`: builds the library with CMake (unless TOILE_BUILD names a build) and the extension over it."""

import os
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
os.chdir(HERE)

import toile_build  # noqa: E402


def library():
    """A folder with libtoile.a."""
    given = os.environ.get("TOILE_BUILD")
    if given:
        return os.path.abspath(given)
    folder = os.path.join(HERE, "build", "library")
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "-S", toile_build.REPO, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DTL_TESTS=OFF",
                    "-DTL_WITH_VIEWER=OFF"], check=True)
    subprocess.run(["cmake", "--build", folder, "-j", jobs, "--target", "toile_lib"], check=True)
    return folder


class with_data(build_py):
    """The fabrics go into the package: an installed one has no source tree to find them in."""

    def run(self):
        super().run()
        data = os.path.join(self.build_lib, "toile", "data", "materials")
        os.makedirs(data, exist_ok=True)
        source = os.path.join(toile_build.REPO, "materials")
        for file in sorted(os.listdir(source)):
            if file.endswith(".json"):
                shutil.copy2(os.path.join(source, file), data)


building = any(word in sys.argv for word in ("build", "build_ext", "bdist_wheel", "install", "develop"))
setup(
    name="toile",
    version="0.1.0",
    description="Adaptive cloth and garment simulation",
    license="Apache-2.0",
    packages=["toile"],
    package_data={"toile": ["py.typed", "*.pyi"]},
    python_requires=">=3.9",
    install_requires=["cffi>=1.15", "numpy>=1.20"],
    ext_modules=[toile_build.builder(library()).distutils_extension(os.path.join("build", "cffi"))] if building else [],
    cmdclass={"build_py": with_data},
    zip_safe=False,
)
