#pragma once
#include <cmath>

#include <gtest/gtest.h>

#include "train/parity/parity.h"
#include "train/tiny_run.h"

// A short training run in any layout, and what all layouts must agree on.

namespace mpitron::train {

using Flags = std::vector<std::string>;

inline Flags operator+(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

/// What tests of layouts are run for.
struct Layout {
  const char* name;
  Index ranks;
  Flags flags;
};
inline void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

/// Two iterations of a tiny model: the second starts from what the first updated and sent around.
inline LayoutOutcome run_layout(const Flags& flags, Index world_size) {
  return run_layout(tiny_run(flags, world_size), 2);
}

inline void expect_equal(const LayoutOutcome& layout, const LayoutOutcome& alone,
                         double of_weights = 1e-6) {
  ASSERT_EQ(layout.losses.size(), alone.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    EXPECT_NEAR(layout.losses[i], alone.losses[i], 1e-6 * std::abs(alone.losses[i])) << i;
  }
  ASSERT_EQ(layout.grad_norms.size(), alone.grad_norms.size());
  for (std::size_t i = 0; i < alone.grad_norms.size(); ++i) {
    EXPECT_NEAR(layout.grad_norms[i], alone.grad_norms[i], 2e-6 * alone.grad_norms[i]) << i;
  }
  ASSERT_EQ(layout.weights.size(), alone.weights.size());
  for (const auto& [name, weights] : alone.weights) {
    EXPECT_LE(relative_distance(layout.weights.at(name), weights), of_weights) << name;
  }
}

/// Bit for bit; names may come in another order.
inline void expect_same_bits(const LayoutOutcome& a, const LayoutOutcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.grad_norms, b.grad_norms);
  EXPECT_EQ(a.weights, b.weights);
}

}  // namespace mpitron::train
