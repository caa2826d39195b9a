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
    target_compile_options(mpitron_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall --expt-relaxed-constexpr -Werror=all-warnings>)
    message(STATUS "CUDA ${CUDAToolkit_VERSION} for architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(MPITRON_CUDA STREQUAL ON)
    message(FATAL_ERROR "MPITRON_CUDA=ON, but no CUDA toolkit 12 or later was found: put nvcc on the PATH or set CUDAToolkit_ROOT.")
  endif()
endif()

# A CUDA build compiles everything once that is not a kernel; a program chooses when it is linked what runs the kernels:
#   native     nvcc's objects and libcudart
#   emulated   the same .cu files compiled by g++, and tests/emulator: for tests on machines without a GPU
# Each backend comes as `kernels` (device and kernels) and as `all` (comm as well).

# mpitron_cuda_sources(LAYER FOLDER): adapters (.cpp) become objects of both backends; kernels (.cu) are compiled for each.
function(mpitron_cuda_sources layer folder)
  file(GLOB adapters CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.cu)
  if(adapters)
    add_library(mpitron_${layer}_cuda OBJECT ${adapters})
    target_link_libraries(mpitron_${layer}_cuda PUBLIC mpitron_flags fmt::fmt CUDA::toolkit)
  endif()
  if(kernels)
    add_library(mpitron_${layer}_native OBJECT ${kernels})
    target_link_libraries(mpitron_${layer}_native PUBLIC mpitron_flags CUDA::toolkit)
    target_include_directories(mpitron_${layer}_native PRIVATE ${folder}/native)
  endif()
  set_property(GLOBAL PROPERTY MPITRON_${layer}_CUDA_KERNELS ${kernels})
endfunction()

# mpitron_gpu_backend(NAME LIBRARIES...): makes mpitron_gpu_NAME_kernels and mpitron_gpu_NAME_all of the layers' objects.
function(mpitron_gpu_backend name)
  foreach(part kernels all)
    add_library(mpitron_gpu_${name}_${part} INTERFACE)
    set(layers kernels device)
    if(part STREQUAL all)
      list(PREPEND layers comm)
    endif()
    foreach(layer ${layers})
      foreach(objects mpitron_${layer}_cuda mpitron_${layer}_${name})
        if(TARGET ${objects})
          target_sources(mpitron_gpu_${name}_${part} INTERFACE $<TARGET_OBJECTS:${objects}>)
        endif()
      endforeach()
      target_link_libraries(mpitron_gpu_${name}_${part} INTERFACE mpitron_${layer})
    endforeach()
    target_link_libraries(mpitron_gpu_${name}_${part} INTERFACE fmt::fmt ${ARGN})
  endforeach()
endfunction()

# mpitron_use_gpu(TARGET native|emulated kernels|all): nothing in a build without CUDA.
function(mpitron_use_gpu target name part)
  if(MPITRON_HAS_CUDA)
    target_link_libraries(${target} PRIVATE mpitron_gpu_${name}_${part})
  endif()
endfunction()
