#pragma once
#include <limits>
#include <string>
#include <vector>

namespace mpitron::benchmarks {

/// One figure of bench/summary.json: what was measured, against which goal and which limit of the
/// machine in the same run. NaN and "" stand for "none" and are left out.
struct Figure {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double value = 0;
  std::string unit;
  double goal = kNone;
  bool higher_is_better = true;
  double limit = kNone;
  std::string peer = {};
};

/// Collects a program's figures, prints each as it comes, and writes them as a JSON list.
class Summary {
 public:
  /// Takes `--summary FILE` out of the arguments; without it nothing is written.
  Summary(int& argc, char** argv);

  void add(const Figure& figure);
  /// Writes the file, if one was asked for; false where that failed.
  bool write() const;

 private:
  std::string path_;
  std::vector<Figure> figures_;
};

}  // namespace mpitron::benchmarks
