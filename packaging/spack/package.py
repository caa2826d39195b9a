# Spack: copy this file to a repository of your own (spack repo create site), as packages/mpitron/package.py, and set `git` below to
# where your clone lies.
from spack.package import *


class Mpitron(CMakePackage):
    """Pretrains, evaluates and serves large transformers with the flags and formats of Megatron-LM."""

    git = "file:///path/to/mpitron"
    license("Apache-2.0")
    version("main", branch="main")

    variant("cuda", default=False, description="Build mpitron-cuda")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi")
    depends_on("hwloc")
    depends_on("hdf5@1.10: +mpi")
    depends_on("kokkos@3.4: +openmp")
    depends_on("onednn@2.6:")
    depends_on("fmt")
    depends_on("spdlog@1.9:")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("simdjson")
    depends_on("yaml-cpp")
    depends_on("pcre2")
    depends_on("utf8proc")
    depends_on("boost +context")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("cuda@12.5:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("MPITRON_BENCHMARKS", False),
            self.define("MPITRON_ARCH", "native"),
            self.define_from_variant("MPITRON_CUDA", "cuda"),
        ]
