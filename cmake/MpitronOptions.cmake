# Build options, language level and warnings, once for all layers.
option(MPITRON_BENCHMARKS "build the benchmarks" ON)
option(MPITRON_OPTIMIZE "optimise what is no kernel; OFF compiles it in half the time: kernels, and with them all bits, stay as they are" ON)
set(MPITRON_ARCH native CACHE STRING "value of -march for the host kernels (native, x86-64-v3, ...)")
set(MPITRON_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(optimisation -O2)
if(NOT MPITRON_OPTIMIZE)
  set(optimisation -O0)
  find_program(MPITRON_GOLD ld.gold)
  if(MPITRON_GOLD)  # links tests in half the time
    add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=gold>)
  endif()
endif()
# The compiler collects its own garbage late: a tenth of its time.
set(CMAKE_CXX_FLAGS_RELEASE "${optimisation} -DNDEBUG --param=ggc-min-heapsize=1000000")

find_program(MPITRON_CCACHE ccache)
if(MPITRON_CCACHE)
  # Paths below the sources count as relative ones: build/ and build-cuda/ share the objects of what is the same in both.
  # The two sloppinesses are what it wants for parsed headers (MpitronPrecompiled).
  set(MPITRON_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros
                       ${MPITRON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MPITRON_LAUNCHER})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${MPITRON_LAUNCHER})
endif()

add_library(mpitron_flags INTERFACE)
target_include_directories(mpitron_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                                   ${PROJECT_BINARY_DIR}/generated)
target_compile_options(mpitron_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-pthread -fopenmp -Wall -Wextra -Wno-unknown-pragmas
                                                 -Wno-missing-field-initializers -Wno-psabi>)
if(MPITRON_SANITIZE)
  # -O1 -g1 compile in half the time of -O2 -g, and still name every line of a finding.
  target_compile_options(mpitron_flags INTERFACE -fsanitize=${MPITRON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                                                 -O1 -g1 -D_GLIBCXX_ASSERTIONS)
  target_link_options(mpitron_flags INTERFACE -fsanitize=${MPITRON_SANITIZE})
endif()

# Host kernels: built for the machine. No errno and no trapping arithmetic (values do not change), so loops vectorise.
# g++ 12 warns about its own AVX-512 headers. What `native` means is part of the command line, or a compiler cache that is
# shared by different machines would mix their objects.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${MPITRON_ARCH} -E -v -x c++ /dev/null
                ERROR_VARIABLE MPITRON_RESOLVED_ARCH OUTPUT_QUIET)
string(REGEX REPLACE ".*cc1plus([^\n]*).*" "\\1" MPITRON_RESOLVED_ARCH "${MPITRON_RESOLVED_ARCH}")
string(MD5 MPITRON_RESOLVED_ARCH "${MPITRON_RESOLVED_ARCH}")
set(MPITRON_HOST_FLAGS -O3 -march=${MPITRON_ARCH} -mprefer-vector-width=512 -fno-math-errno -fno-trapping-math -fopenmp
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized> -DMPITRON_RESOLVED_ARCH=${MPITRON_RESOLVED_ARCH})

# Whether that machine has what kernels/host/*_avx512.h want.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${MPITRON_ARCH} -dM -E -x c++ /dev/null OUTPUT_VARIABLE macros)
set(MPITRON_HAS_AVX512 ON)
foreach(part F DQ BW VL)
  if(NOT macros MATCHES "__AVX512${part}__")
    set(MPITRON_HAS_AVX512 OFF)
  endif()
endforeach()
