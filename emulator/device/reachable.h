#pragma once
#include <cstddef>

namespace mpitron::emulator {

/// `fail` where the bytes of a kernel's argument hold an address of pageable host memory, which a
/// GPU cannot reach. Numbers that look like one are told apart by whether anything lies there.
void check_addresses(const void* kernel, const void* argument, std::size_t bytes);

/// The same for an argument of any type.
template <class T>
void check_reachable(const void* kernel, T argument) {
  __builtin_clear_padding(&argument);
  check_addresses(kernel, &argument, sizeof argument);
}

}  // namespace mpitron::emulator
