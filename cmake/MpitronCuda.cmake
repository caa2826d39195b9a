# The CUDA build: the same sources with the CUDA kernels give a second program, mpitron-cuda, in a build tree of its own (make cuda).
# The program without CUDA starts everywhere; `mpitron` picks mpitron-cuda where a GPU is. Sets MPITRON_HAS_CUDA.
set(MPITRON_CUDA OFF CACHE STRING "build with the CUDA kernels: AUTO (where nvcc is there), ON or OFF")
set_property(CACHE MPITRON_CUDA PROPERTY STRINGS AUTO ON OFF)
set(MPITRON_HAS_CUDA OFF)
set(MPITRON_PROGRAM_SUFFIX "")
set(MPITRON_CUDA_VERSION "no CUDA")

if(NOT MPITRON_CUDA STREQUAL OFF)
  find_package(CUDAToolkit 12 QUIET)  # nvcc on the PATH, CUDAToolkit_ROOT, CUDA_PATH or /usr/local/cuda
  if(CUDAToolkit_FOUND)
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE} CACHE FILEPATH "CUDA compiler")
    endif()
    # Before enable_language: without it CMake asks nvcc for its default, which may be older than these kernels can use.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90a-real CACHE STRING "GPU architectures: A100 and H100/H200")
    endif()
    enable_language(CUDA)
    set(MPITRON_HAS_CUDA ON)
    set(MPITRON_PROGRAM_SUFFIX -cuda)
    set(MPITRON_CUDA_VERSION "CUDA ${CUDAToolkit_VERSION}")
    # CMake 3.25 does not know that nvcc 12 and later have C++20: tell it the flag.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA_STANDARD 20)
    target_compile_options(mpitron_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
    add_library(cuda INTERFACE)
    target_link_libraries(cuda INTERFACE CUDA::cudart_static)
    message(STATUS "CUDA ${CUDAToolkit_VERSION} for architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(MPITRON_CUDA STREQUAL ON)
    message(FATAL_ERROR "MPITRON_CUDA=ON, but no CUDA toolkit 12 or later was found: put nvcc on the PATH or set CUDAToolkit_ROOT.")
  endif()
endif()
