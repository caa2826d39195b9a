#include "train/parity/parity.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace parity_test {

TEST(Parity, ALayoutComputesWhatOneRankDoes) {
  const ParityCertificate certificate =
      prove_parity(tiny_run({"--num-layers", "4", "--tensor-model-parallel-size", "2",
                             "--sequence-parallel", "--pipeline-model-parallel-size", "2",
                             "--use-distributed-optimizer", "--global-batch-size", "16"},
                            32));
  EXPECT_EQ(certificate.world_size, 8);  // of 8 replicas two are enough
  EXPECT_EQ(certificate.losses.size(), 3U);
  EXPECT_EQ(certificate.first_difference(), "");
  EXPECT_TRUE(certificate.pass());
}

TEST(Parity, HoldsForEncodersToo) {
  for (const std::vector<std::string>& model : {std::vector<std::string>{"--model", "bert"},
                                                {"--model", "t5", "--decoder-seq-length", "6"}}) {
    std::vector<std::string> flags = {"--tensor-model-parallel-size", "2", "--sequence-parallel",
                                      "--pipeline-model-parallel-size", "2"};
    flags.insert(flags.end(), model.begin(), model.end());
    const ParityCertificate certificate = prove_parity(tiny_run(flags, 4));
    EXPECT_EQ(certificate.first_difference(), "");
    EXPECT_EQ(certificate.losses.size(), model[1] == "bert" ? 6U : 3U);
  }
}

/// As many replicas as hold one of all experts, where that is more than two.
TEST(Parity, ExpertsToo) {
  const ParityCertificate certificate = prove_parity(
      tiny_run({"--num-experts", "8", "--disable-bias-linear", "--moe-aux-loss-coeff", "0.1",
                "--expert-model-parallel-size", "4", "--moe-token-dispatcher-type", "alltoall",
                "--global-batch-size", "32"},
               16));
  EXPECT_EQ(certificate.world_size, 8);
  EXPECT_EQ(certificate.first_difference(), "");
}

TEST(Parity, NamesTheFirstDifference) {
  ParityCertificate certificate{.losses = {1, 2},
                                .expected_losses = {1, 2},
                                .grad_norms = {3, 4},
                                .expected_grad_norms = {3, 4},
                                .tensors = {{"first", 1e-7}, {"second", 1e-5}, {"third", 1}}};
  EXPECT_EQ(certificate.first_difference(), "second");
  certificate.grad_norms[1] = 4.1;
  EXPECT_EQ(certificate.first_difference(), "gradient norm of iteration 2");
  certificate.losses[0] = std::nan("");
  EXPECT_EQ(certificate.first_difference(), "loss of iteration 1");
  EXPECT_FALSE(certificate.pass());
}

}  // namespace parity_test
}  // namespace mpitron::train
