#pragma once
#include <string>

namespace mpitron {

/// Of this machine; empty where the system does not tell.
std::string host_name();

}  // namespace mpitron
