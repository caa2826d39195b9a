#include "train/step_graph.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

const std::vector<std::string> kPlain = {"--hidden-dropout", "0", "--attention-dropout", "0"};

std::vector<std::string> with_graph() {
  std::vector<std::string> flags = kPlain;
  flags.insert(flags.end(), {"--enable-cuda-graph", "--cuda-graph-scope", "full_iteration",
                             "--cuda-graph-warmup-steps", "2"});
  return flags;
}

/// Also where the number of microbatches, or of the tokens that count, changes on the way.
TEST(StepGraph, ComputesWhatTheStepItselfDoes) {
  const auto gpu = device::make_cuda_device(0);
  TinyTraining plain(*gpu, tiny_run(kPlain)), graphed(*gpu, tiny_run(with_graph()));
  for (Index iteration = 1; iteration <= 7; ++iteration) {
    const Index microbatches = iteration < 6 ? 4 : 2;
    const auto step = [&](TinyTraining& training) {
      TinyCorpus corpus(iteration == 5);
      return training.step.run(iteration, microbatches, 2 * microbatches,
                               corpus.from(8 * iteration, 2));
    };
    const StepReport a = step(plain), b = step(graphed);
    EXPECT_EQ(a.loss(), b.loss()) << iteration;
    EXPECT_EQ(a.grad_norm, b.grad_norm) << iteration;
  }
}

TEST(StepGraph, IsRefusedWhereTensorsLieOnTheHost) {
  const auto host = device::make_device("reference");
  EXPECT_THROW(TinyTraining(*host, tiny_run(with_graph())), Error);
}

}  // namespace
}  // namespace mpitron::train
