#include "benchmarks/text.h"

#include <cmath>
#include <random>
#include <vector>

#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/text/utf8.h"

namespace mpitron::benchmarks {

std::string synthetic_text(std::size_t distinct, std::size_t bytes) {
  std::mt19937_64 random(1);
  std::vector<std::string> words(distinct);
  for (std::string& word : words) {
    for (std::size_t n = 1 + random() % 4 + random() % 6; n > 0; --n) {
      word += "eeeettaaooiinnsshhrrddlluucmwfgypbvk"[random() % 36];
    }
  }
  std::string text;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  while (text.size() < bytes) {
    const double rank = std::exp(uniform(random) * std::log(static_cast<double>(distinct)));
    text += words[static_cast<std::size_t>(rank) - 1];
    text += random() % 12 == 0 ? ".\n" : " ";
  }
  return text;
}

std::string load_text(const std::string& path, const std::string& name, std::size_t distinct) {
  if (path.empty()) {
    log::print(
        fmt::format("{}: no text given, a synthetic one is used (goals do not apply)", name));
    return synthetic_text(distinct, std::size_t{4} << 20);
  }
  return replace_invalid_utf8(read_file(path));
}

}  // namespace mpitron::benchmarks
