#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/read/parallel_read.h"
#include "utils/error.h"

// What a load found and did not find, told by all ranks as one.

namespace mpitron::checkpoint {

std::vector<std::string> LoadReport::names(Kind kind) const {
  std::vector<std::string> result;
  for (const Difference& difference : differences) {
    if (difference.kind == kind) {
      result.push_back(difference.name);
    }
  }
  return result;
}

std::string LoadReport::text() const {
  std::string text;
  for (const auto& [kind, name, in_file, wanted] : differences) {
    switch (kind) {
      case Kind::missing:
        text += fmt::format("missing: {} (wanted {})\n", name, wanted);
        break;
      case Kind::mismatched:
        text += fmt::format("mismatched: {} is {} in the checkpoint, wanted {}\n", name, in_file,
                            wanted);
        break;
      case Kind::unexpected:
        text += fmt::format("unexpected: {} ({}) is in the checkpoint, and nothing wants it\n",
                            name, in_file);
        break;
    }
  }
  return text;
}

std::string LoadReport::serialize() const {
  std::string text;
  for (const auto& [kind, name, in_file, wanted] : differences) {
    text += fmt::format("{}\t{}\t{}\t{}\n", static_cast<int>(kind), name, in_file, wanted);
  }
  return text;
}

/// Reads lines of serialize; sorts, and drops differences that several ranks told.
void LoadReport::merge(const std::string& serialized) {
  std::istringstream lines(serialized);
  for (std::string kind; std::getline(lines, kind, '\t');) {
    Difference difference;
    difference.kind = static_cast<Kind>(kind.front() - '0');
    std::getline(lines, difference.name, '\t');
    std::getline(lines, difference.in_file, '\t');
    std::getline(lines, difference.wanted);
    differences.push_back(std::move(difference));
  }
  std::sort(differences.begin(), differences.end());
  differences.erase(std::unique(differences.begin(), differences.end()), differences.end());
}

}  // namespace mpitron::checkpoint
