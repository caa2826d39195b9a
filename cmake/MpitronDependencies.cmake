# Foreign libraries, one block each, always by find_package first, so that a site's modules win. Each becomes one target.

# mpitron_require(PACKAGE DEBIAN_PACKAGE [find_package arguments...]): a macro, so that the package's variables reach the caller.
macro(mpitron_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. Run `make deps` (it installs Debian's ${debian}), "
                        "or add its prefix to CMAKE_PREFIX_PATH.")
  endif()
endmacro()

# For libraries whose CMake package is absent or broken: header and library by name, as target NAME.
function(mpitron_find_library target debian header library)
  find_path(${target}_INCLUDE_DIR ${header})
  if(library)
    find_library(${target}_LIBRARY ${library})
  endif()
  if(NOT ${target}_INCLUDE_DIR OR (library AND NOT ${target}_LIBRARY))
    message(FATAL_ERROR "${target} was not found (${header} ${library}). Run `make deps` (it installs Debian's ${debian}), "
                        "or add its prefix to CMAKE_PREFIX_PATH.")
  endif()
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIR})
  if(library)
    target_link_libraries(${target} INTERFACE ${${target}_LIBRARY})
  endif()
endfunction()

# mpitron_optional(NAME TARGET HEADER WITHOUT): true in MPITRON_WITH_NAME where the library is to be used. MPITRON_LEAVE_OUT
# names those to do without; a CUDA build also does without those that are missing, because GPU machines often have little
# beside the toolkit. Files that include HEADER (a regular expression) are then replaced by their namesakes in `without/`.
set(MPITRON_LEAVE_OUT "" CACHE STRING "libraries to do without: any of MPI, HDF5, Kokkos, oneDNN, hwloc, JPEG, PNG, WEBP")
set(MPITRON_LEFT_OUT_TARGETS "")
set(MPITRON_LEFT_OUT_HEADERS "")
macro(mpitron_optional name target header without)
  set(MPITRON_WITH_${name} ON)
  if("${name}" IN_LIST MPITRON_LEAVE_OUT OR (MPITRON_HAS_CUDA AND NOT (${ARGN})))
    set(MPITRON_WITH_${name} OFF)
    list(APPEND MPITRON_LEFT_OUT_TARGETS ${target})
    list(APPEND MPITRON_LEFT_OUT_HEADERS ${header})
    message(STATUS "${name} is left out: ${without}")
  endif()
endmacro()

# Threads and OpenMP come with the compiler.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# Text, logging, configuration.
mpitron_require(fmt libfmt-dev 9)
mpitron_require(spdlog libspdlog-dev)
mpitron_require(nlohmann_json nlohmann-json3-dev 3)
mpitron_require(CLI11 libcli11-dev)
mpitron_require(yaml-cpp libyaml-cpp-dev)

# The server: HTTP by Beast, headers only.
mpitron_find_library(boost libboost-dev boost/beast/core.hpp "")

# Data preparation.
mpitron_require(simdjson libsimdjson-dev)
add_library(simdjson ALIAS simdjson::simdjson)
mpitron_find_library(pcre2 libpcre2-dev pcre2.h pcre2-8)
target_compile_definitions(pcre2 INTERFACE PCRE2_CODE_UNIT_WIDTH=8)  # its header wants it
mpitron_find_library(utf8proc libutf8proc-dev utf8proc.h utf8proc)
mpitron_find_library(xxhash libxxhash-dev xxhash.h "")
mpitron_find_library(zlib zlib1g-dev zlib.h z)
mpitron_find_library(zstd libzstd-dev zstd.h zstd)

# Images: each format is read by one adapter.
macro(mpitron_image_library name header debian library)
  find_path(${name}_INCLUDE_DIR ${header})
  string(TOUPPER ${name} upper)
  mpitron_optional(${upper} ${name} "<${header}" "images of this format are not read" ${name}_INCLUDE_DIR)
  if(MPITRON_WITH_${upper})
    mpitron_find_library(${name} ${debian} ${header} ${library})
  endif()
endmacro()
mpitron_image_library(jpeg jpeglib.h libjpeg62-turbo-dev jpeg)
mpitron_image_library(png png.h libpng-dev png)
mpitron_image_library(webp webp/demux.h libwebp-dev webp)
if(MPITRON_WITH_WEBP)  # animations
  find_library(webpdemux_LIBRARY webpdemux)
  target_link_libraries(webp INTERFACE ${webpdemux_LIBRARY})
endif()

# Kokkos with OpenMP: the host kernels' rows on threads.
include(MpitronKokkos)
mpitron_optional(Kokkos Kokkos::kokkos "<Kokkos_" "host kernels run on OpenMP alone" MPITRON_KOKKOS_DIR)
if(MPITRON_WITH_Kokkos)
  if(NOT MPITRON_KOKKOS_DIR)
    message(FATAL_ERROR "A Kokkos with OpenMP was not found. Run `make deps` (it builds one into your cache folder), "
                        "or set Kokkos_ROOT. Debian's libtrilinos-kokkos-dev has no OpenMP and cannot be used.")
  endif()
  set(Kokkos_DIR ${MPITRON_KOKKOS_DIR} CACHE PATH "CMake package of Kokkos" FORCE)
  set(keep_standard ${CMAKE_CXX_STANDARD})
  find_package(Kokkos CONFIG REQUIRED QUIET)
  set(CMAKE_CXX_STANDARD ${keep_standard})
  set(CMAKE_CXX_EXTENSIONS OFF)
endif()

# MPI: launch, ranks of other nodes. One adapter uses its C interface.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS CXX QUIET)
mpitron_optional(MPI MPI::MPI_CXX "<mpi.h>" "a run is one process" MPI_FOUND)
if(MPITRON_WITH_MPI)
  mpitron_require(MPI libopenmpi-dev COMPONENTS CXX)
endif()

# hwloc: the cores that a rank may use.
find_path(hwloc_INCLUDE_DIR hwloc.h)
mpitron_optional(hwloc hwloc "<hwloc.h>" "nobody is told which cores a rank has" hwloc_INCLUDE_DIR)
if(MPITRON_WITH_hwloc)
  mpitron_find_library(hwloc libhwloc-dev hwloc.h hwloc)
endif()

# HDF5: checkpoint files. Only its C interface, never through MPI; the parallel flavour is what training machines have.
enable_language(C)  # CMake's module tries HDF5 with the C compiler
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 COMPONENTS C QUIET)
mpitron_optional(HDF5 hdf5::hdf5 "<hdf5.h>" "no checkpoints and no corpora in HDF5 files" HDF5_FOUND)
if(MPITRON_WITH_HDF5)
  mpitron_require(HDF5 libhdf5-openmpi-dev COMPONENTS C)
  get_target_property(hdf5_library hdf5::hdf5 LOCATION)
  if(hdf5_library MATCHES "\\.so")  # what a shared library needs it names itself; the module adds libcurl and more
    set_property(TARGET hdf5::hdf5 PROPERTY INTERFACE_LINK_LIBRARIES "")
  endif()
endif()

# oneDNN: host matrix products. Debian's CMake package wants OpenCL headers, so by name.
find_path(dnnl_INCLUDE_DIR dnnl.hpp)
mpitron_optional(oneDNN dnnl "<dnnl" "matrix products of the host are plain loops" dnnl_INCLUDE_DIR)
if(MPITRON_WITH_oneDNN)
  mpitron_find_library(dnnl libdnnl-dev dnnl.hpp dnnl)
endif()
