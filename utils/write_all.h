#pragma once
#include <string_view>

namespace mpitron {

/// Writes all bytes, in as many pieces as the system wants; false, and errno, where it refuses.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace mpitron
