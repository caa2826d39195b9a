# Finds the folder of a Kokkos package that has OpenMP, without loading it: sets MPITRON_KOKKOS_DIR, empty where there is none.
# Order: what the user names (Kokkos_DIR, Kokkos_ROOT, CMAKE_PREFIX_PATH), the system, the prefix that `make deps` builds.
# Debian's libtrilinos-kokkos-dev is Serial only and its package file names folders that do not exist: the OpenMP test skips it.
# Run by itself (cmake -P) it prints what it found; cmake/deps.sh asks that way.
function(mpitron_kokkos_in out)
  set(${out} "" PARENT_SCOPE)
  foreach(root ${ARGN})
    foreach(folder "" lib/cmake/Kokkos lib64/cmake/Kokkos lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Kokkos lib/x86_64-linux-gnu/cmake/Kokkos)
      set(common ${root}/${folder}/KokkosConfigCommon.cmake)
      if(EXISTS ${common})
        file(STRINGS ${common} devices REGEX "SET\\(Kokkos_DEVICES")
        if(devices MATCHES "OPENMP")
          cmake_path(SET folder NORMALIZE ${root}/${folder})
          set(${out} ${folder} PARENT_SCOPE)
          return()
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

set(named ${Kokkos_DIR} $ENV{Kokkos_DIR} ${Kokkos_ROOT} $ENV{Kokkos_ROOT} ${CMAKE_PREFIX_PATH})
string(REPLACE ":" ";" from_environment "$ENV{CMAKE_PREFIX_PATH}")
set(cache_home $ENV{XDG_CACHE_HOME})
if(NOT cache_home)
  set(cache_home $ENV{HOME}/.cache)
endif()
string(TOLOWER "${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}" compiler)
mpitron_kokkos_in(MPITRON_KOKKOS_DIR ${named} ${from_environment} /usr/local /usr
                  ${cache_home}/mpitron/kokkos-3.4.1-${compiler})
if(CMAKE_SCRIPT_MODE_FILE)
  message(STATUS "MPITRON_KOKKOS_DIR=${MPITRON_KOKKOS_DIR}")
endif()
