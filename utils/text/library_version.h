#pragma once
#include <string>

namespace mpitron {

/// A foreign library of this program.
struct LibraryVersion {
  std::string name;
  std::string built;    // of the headers at build time; empty: the library does not tell
  std::string running;  // of the library that was loaded; empty: it is part of the program
};

}  // namespace mpitron
