#pragma once
#include <string>

namespace mpitron::report {

/// "7 s", "3 min 20 s", "2 h 05 min", "4 d 03 h".
std::string readable_duration(double seconds);

}  // namespace mpitron::report
