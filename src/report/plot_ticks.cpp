#include <algorithm>
#include <cmath>
#include <set>

#include "report/svg_plot.h"

// Where the axes of a plot are marked.

namespace mpitron::report {

/// Takes steps of 1, 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double most, int count) {
  if (!(most > 0)) {
    return {0};
  }
  const double power = std::pow(10.0, std::floor(std::log10(most / count)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (most / (factor * power) <= count + 0.5) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (int i = 0; i * step <= most * 1.0001; ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

/// The powers of ten between both, and 2 and 5 times these where few of them fit.
std::vector<double> logarithmic_ticks(double least, double most) {
  constexpr std::size_t kFew = 3;
  std::vector<double> powers, finer;
  for (int power = static_cast<int>(std::floor(std::log10(least)));
       power <= std::log10(most) + 1e-9; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= least * (1 - 1e-9) && tick <= most * (1 + 1e-9)) {
        finer.push_back(tick);
        if (factor == 1) {
          powers.push_back(tick);
        }
      }
    }
  }
  return powers.size() < kFew ? finer : powers;
}

std::vector<double> x_marks(const Plot& plot, const std::set<double>& xs) {
  constexpr std::size_t kMany = 12;
  std::vector<double> marks(xs.begin(), xs.end());
  if (plot.logarithmic_x && marks.size() > kMany) {
    const std::vector<double> round = logarithmic_ticks(marks.front(), marks.back());
    marks = round.size() > 1 ? round : marks;
  }
  return marks;
}
std::string short_number(double value) {
  for (const auto& [unit, name] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}}) {
    if (std::abs(value) >= unit) {
      const double shown = value / (unit == 1e4 ? 1e3 : unit);
      return fmt::format("{:.3g}{}", shown, name);
    }
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace mpitron::report
