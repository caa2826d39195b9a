#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::report {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// The metrics of a run, from metrics.jsonl (io::MetricsFile), as columns over its steps. A run
/// that goes back (it was resumed, or begins anew in the folder) takes the steps behind that point
/// with it; of what was written twice for a step the later counts. A line that a crash has torn is
/// left out.
class MetricsLog {
 public:
  MetricsLog() = default;
  explicit MetricsLog(std::string_view lines);

  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// Returns a value for each step; kMissing where there is none or it was not finite. Empty for a
  /// metric that was never written.
  std::span<const double> column(const std::string& name) const;
  /// Returns the newest finite value, whatever its step; kMissing where there is none.
  double last(const std::string& name) const;
  /// Returns "lm loss", or "loss" of a model that has no language.
  std::string loss_name() const {
    return column("lm loss").empty() && !column("loss").empty() ? "loss" : "lm loss";
  }
  const std::map<std::string, std::vector<double>, std::less<>>& columns() const {
    return columns_;
  }

 private:
  void add_line(std::string_view line);
  /// Forgets the steps from `step` on.
  void forget_from(std::int64_t step);

  std::vector<std::int64_t> steps_;
  std::map<std::string, std::vector<double>, std::less<>> columns_;
};

}  // namespace mpitron::report
