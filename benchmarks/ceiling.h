#pragma once
#include <memory>
#include <vector>

#include "benchmarks/machine_rates.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

// What products take at least on this machine, measured in the same run by oneDNN.

namespace mpitron::benchmarks {

/// A linear layer of the model, and how often a step has it.
struct LinearSize {
  const char* name;
  Index in, out;
  int times;
};

/// GPT-2 124M: qkv, proj, fc1, fc2 of 12 layers and the head.
const std::vector<LinearSize>& gpt2_linears();

enum class Pass { forward, data_gradient, weight_gradient };
inline constexpr Pass kPasses[] = {Pass::forward, Pass::data_gradient, Pass::weight_gradient};
const char* name_of(Pass pass);

/// One product of a layer alone through oneDNN, weights row-major [out, in]: y = x W^T, dx = dy W,
/// and dW (fp32) += dy^T x.
class LinearProduct {
 public:
  LinearProduct(const LinearSize& size, Pass pass, Index tokens, DType dtype);
  ~LinearProduct();
  void run();
  double flops() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// FLOP/s over all linear products of one step, each weighted by its occurrences: the GEMM ceiling.
struct StepCeiling {
  double seconds = 0, flops = 0;
  double rate() const { return flops / seconds; }
};

/// Measures the ceiling in rounds, so that they can be interleaved with what is compared to it: of
/// every product the best of all rounds counts. A round takes about a third of a step and keeps no
/// memory.
class StepCeilingRounds {
 public:
  StepCeilingRounds(Index tokens, DType dtype) : tokens_(tokens), dtype_(dtype) {}
  void round();
  StepCeiling ceiling() const;

 private:
  Index tokens_;
  DType dtype_;
  std::vector<double> best_;  // by layer and pass
};

/// Seconds that products of `rows` rows with all these weights take in oneDNN, weights in its own
/// layout: the best of some rounds. fp32 or bf16, or i8 by i8. A size has up to four weights that
/// take turns, so that they come from memory as a model's do.
double packed_products_seconds(const std::vector<LinearSize>& sizes, Index rows, DType dtype,
                               int repetitions);

/// The ceiling of `repetitions` + 1 rounds.
StepCeiling gemm_step_ceiling(Index tokens, DType dtype, int repetitions);

}  // namespace mpitron::benchmarks
