#pragma once
#include <string>
#include <vector>

namespace mpitron::checkpoint {

/// How the tensors of a checkpoint differ from those that a run wants.
struct LoadReport {
  enum class Kind { missing, mismatched, unexpected };
  struct Difference {
    Kind kind = Kind::missing;
    std::string name;
    std::string in_file;  // type and shape; empty where it is missing
    std::string wanted;   // empty where it is unexpected
    auto operator<=>(const Difference&) const = default;
  };
  std::vector<Difference> differences;  // by kind and name, each once

  bool empty() const { return differences.empty(); }
  std::vector<std::string> names(Kind kind) const;
  /// One line for each difference; empty where there is none.
  std::string text() const;

  /// For gathering those of several ranks.
  std::string serialize() const;
  void merge(const std::string& serialized);
};

}  // namespace mpitron::checkpoint
