# The build fingerprint that `mpitron --version` prints: generated/build_info.h.
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE MPITRON_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT MPITRON_COMMIT)
  set(MPITRON_COMMIT "unknown")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_info.h.in ${PROJECT_BINARY_DIR}/generated/build_info.h @ONLY)

# The streams of this build: generated/devices.h (design: no #ifdef, the variant simply lacks what is not built).
set(MPITRON_CUDA_STREAM "")
set(MPITRON_CUDA_INCLUDE "")
if(MPITRON_HAS_CUDA)
  set(MPITRON_CUDA_STREAM ", CudaStream")
  set(MPITRON_CUDA_INCLUDE "#include \"device/cuda/cuda_device.h\"")
  set(MPITRON_HAS_CUDA_VALUE true)
else()
  set(MPITRON_HAS_CUDA_VALUE false)
endif()
configure_file(${PROJECT_SOURCE_DIR}/src/device/devices.h.in ${PROJECT_BINARY_DIR}/generated/devices.h @ONLY)
