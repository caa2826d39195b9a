#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace mpitron::test {

/// With the folders above it.
inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

/// A PPM file: a square or, for odd classes, a disc, of a colour, size and place that follow from
/// the number.
inline std::string drawn_image(long shape, long number, long edge = 24) {
  std::string text = "P6\n" + std::to_string(edge) + " " + std::to_string(edge) + "\n255\n";
  const long radius = 5 + number % 4, x0 = edge / 2 + number % 5 - 2,
             y0 = edge / 2 + number % 3 - 1;
  for (long y = 0; y < edge; ++y) {
    for (long x = 0; x < edge; ++x) {
      const long dx = x - x0, dy = y - y0;
      const bool inside = shape % 2 == 0 ? std::max(std::abs(dx), std::abs(dy)) <= radius
                                         : dx * dx + dy * dy <= radius * radius;
      for (long channel = 0; channel < 3; ++channel) {
        const long level = inside ? 120 + (number * 37 + channel * 71) % 130 : 20;
        text.push_back(static_cast<char>(level));
      }
    }
  }
  return text;
}

}  // namespace mpitron::test
