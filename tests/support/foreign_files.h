#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

// Files of foreign formats: where the recorded ones lie, what their weights are, and damage.

namespace mpitron::test {

inline std::filesystem::path convert_data(const std::string& name) {
  return std::filesystem::path(MPITRON_SOURCE_DIR) / "tests/convert" / name;
}

/// The value of a weight, as reference_logits.py defines it.
inline float element(const std::string& name, std::uint64_t index) {
  std::uint64_t seed = 0xcbf29ce484222325u;
  for (const unsigned char byte : name) {
    seed = (seed ^ byte) * 0x100000001b3u;
  }
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const float value = static_cast<float>(static_cast<int>(z >> 48) - 32768) / 32768;
  for (const char* end : {"norm.weight", "ln_1.weight", "ln_2.weight", "ln_f.weight"}) {
    if (name.ends_with(end)) {
      return 1 + value / 8;
    }
  }
  return value / 4;
}

inline std::vector<float> elements(const std::string& name, Index count) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) {
    values.push_back(element(name, static_cast<std::uint64_t>(i)));
  }
  return values;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Changes, removes or repeats some bytes, reproducibly.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto at = [&] { return random() % std::max<std::size_t>(text.size(), 1); };
  for (unsigned changes = 1 + random() % 6; changes > 0 && !text.empty(); --changes) {
    switch (random() % 8) {
      case 0:
        text.resize(at());
        break;
      case 1:
        text.erase(at(), 1 + random() % 8);
        break;
      case 2:
        text.insert(at(), 1 + random() % 8, static_cast<char>(random()));
        break;
      case 3:
        text[at()] = static_cast<char>(0xff);
        break;
      case 4:
        text[at()] = 0;
        break;
      default:
        text[at()] = static_cast<char>(random());
    }
  }
  return text;
}

/// Whether `use` came to an end; a refusal must be an Error with a message.
template <class Use>
bool accepts(const Use& use) {
  try {
    use();
    return true;
  } catch (const Error& error) {
    MPITRON_CHECK(error.what()[0] != '\0', "empty message");
    return false;
  }
}

}  // namespace mpitron::test
