"""Build the compiled half of bigtop; all metadata is in pyproject.toml.

By default each compiled module is built once for every level of the x86-64 instruction
set that pays, and `bigtop.core` loads the best that the machine has.

BIGTOP_NATIVE=1   one build, tuned for this machine (never for a wheel that leaves it)
BIGTOP_CHECKED=1  one build with C asserts and line tracing, for the tests
BIGTOP_SANITIZE=1  one build under the address and the undefined-behaviour sanitizer, with C
    asserts, else as it ships (with BIGTOP_NATIVE=1: as tuned for this machine), for the tests
BIGTOP_COVERAGE=1 the checked build, which counts what is executed (tests/core_coverage.py)
BIGTOP_LINES=1    with line numbers for profilers; the same code
"""

import os
import platform
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
CORE = ROOT / "cython_core"
CACHE = Path("build") / "cython"
NATIVE = os.environ.get("BIGTOP_NATIVE") == "1"
COVERAGE = os.environ.get("BIGTOP_COVERAGE") == "1"
CHECKED = COVERAGE or os.environ.get("BIGTOP_CHECKED") == "1"
SANITIZE = os.environ.get("BIGTOP_SANITIZE") == "1"
LINES = os.environ.get("BIGTOP_LINES") == "1"
FLAVOUR = "sanitized" if SANITIZE else "checked" if CHECKED else "native" if NATIVE else ""
FOLDER = "coverage" if COVERAGE else FLAVOUR

# folder under bigtop/core -> flags; "" is the build that runs everywhere
LEVELS = {"": []}
if not FLAVOUR and platform.machine().lower() in ("x86_64", "amd64") and os.name == "posix":
    LEVELS |= {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4"]}
PLAIN = ("cpu", "rng", "search")  # asked before a level can be chosen, or not hot

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]  # of gcc and clang

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "freethreading_compatible": True,
    "autotestdict": False,
    # also of lists and tuples that callers hand in; what is hot goes through C pointers, where it
    # means nothing
    "boundscheck": True,
    "wraparound": False,
    "cdivision": not CHECKED,
    "initializedcheck": CHECKED,
    "linetrace": CHECKED,
}


def pxd_root() -> str:
    """Show Cython cython_core/ under the name bigtop/core; return that tree's root.

    Cython looks for `bigtop.core.x` in folders of those names and knows nothing of
    setuptools' package_dir. Without this a module's own .pxd is silently not read.
    """
    core = ROOT / "build" / "pxd_root" / "bigtop" / "core"
    core.parent.mkdir(parents=True, exist_ok=True)
    if core.is_symlink():
        core.unlink()
    elif core.exists():
        shutil.rmtree(core)
    try:
        core.symlink_to(os.path.relpath(CORE, core.parent), target_is_directory=True)
    except OSError:  # Windows without the right to make symlinks
        shutil.copytree(CORE, core, ignore=shutil.ignore_patterns("*.pyx", "*.c", "*.so", "*.pyd"))
    return str(core.parent.parent)


class Build(build):
    """Build each flavour in a folder of its own, so that none picks up what another left."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = str(Path(self.build_base) / (FOLDER or "portable"))


class BuildExt(build_ext):
    """Run Cython once per module, when modules are compiled, then the C compiler per level."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        from Cython.Build import cythonize

        plain = [
            Extension(f"bigtop.core.{pyx.stem}", [pyx.relative_to(ROOT).as_posix()])
            for pyx in sorted(CORE.glob("*.pyx"))
        ]
        built = cythonize(
            plain,
            include_path=[pxd_root()],
            build_dir=str(CACHE / (FOLDER or "plain")),
            compiler_directives=DIRECTIVES,
            force=self.force,
        )
        made = {ext.name.rpartition(".")[2]: ext for ext in built}
        for ext in self.extensions:
            self.use_made(ext, made[ext.name.rpartition(".")[2]])
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        for level in filter(None, LEVELS):
            (CORE / level).mkdir(exist_ok=True)
        super().copy_extensions_to_source()

    def use_made(self, ext: Extension, made: Extension) -> None:
        """Compile the C file that Cython made, under a name of the level's own."""
        level = ext.name.split(".")[2] if ext.name.count(".") == 3 else ""
        msvc = self.compiler.compiler_type == "msvc"
        fresh = Path(made.sources[0])
        source = CACHE / (FOLDER or level or "v1") / fresh.name
        source.parent.mkdir(parents=True, exist_ok=True)
        # Cython writes all files anew in each build environment of pip; what came out the same
        # keeps its time, and so its object file
        if not source.exists() or source.read_bytes() != fresh.read_bytes():
            shutil.copyfile(fresh, source)
        ext.sources = [source.as_posix()]
        ext.depends = [path.as_posix() for path in CORE.glob("*.h")]
        ext.include_dirs = [str(CORE)]
        ext.define_macros = [("BIGTOP_FLAVOUR", f'"{FLAVOUR}"')]
        # contraction to fused multiply-add would give other bits on other machines
        ext.extra_compile_args = ["/O2"] if msvc else ["-O3", "-ffp-contract=off", *LEVELS[level]]
        if NATIVE and not msvc:
            ext.extra_compile_args.append("-march=native")
        if not (CHECKED or SANITIZE or LINES or msvc):
            ext.extra_compile_args.append("-g0")  # Python's own flags ask for -g: a third slower
        if CHECKED:
            # nobody listens when executed lines are counted: asking for each would take the GIL
            ext.define_macros.append(("CYTHON_TRACE_NOGIL", "0" if COVERAGE else "1"))
        if CHECKED or SANITIZE:
            ext.define_macros.append(("BIGTOP_CHECKED", "1"))
            if not msvc:
                # Python's own flags define NDEBUG, which would mute C asserts
                ext.extra_compile_args += ["-UNDEBUG", "-O1"]
        if SANITIZE:
            ext.extra_compile_args += [*SANITIZERS, "-fno-omit-frame-pointer"]
            ext.extra_link_args = SANITIZERS
        if COVERAGE:
            ext.extra_compile_args.append("--coverage")
            ext.extra_link_args = ["--coverage"]


setup(
    ext_modules=[
        Extension(
            ".".join(filter(None, ("bigtop.core", level, pyx.stem))),
            [pyx.relative_to(ROOT).as_posix()],
        )
        for level in LEVELS
        for pyx in sorted(CORE.glob("*.pyx"))
        if not (level and pyx.stem in PLAIN)
    ],
    cmdclass={"build": Build, "build_ext": BuildExt},
)
