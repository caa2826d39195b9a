#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace mpitron::inference {

/// Draws examples for the front of a question as lm-evaluation-harness does, by Python's
/// random.Random(seed).sample: the same examples for the same sequence of questions.
class ExampleChoice {
 public:
  explicit ExampleChoice(std::uint32_t seed = 1234);

  /// `count` different numbers below `population`, in the order in which they were drawn.
  std::vector<std::size_t> sample(std::size_t population, std::size_t count);

 private:
  std::size_t below(std::size_t n);

  std::mt19937 engine_;
};

}  // namespace mpitron::inference
