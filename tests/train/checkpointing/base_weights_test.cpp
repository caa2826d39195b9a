#include "train/checkpointing/base_weights.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "autograd/four_bit_weight.h"
#include "support/corpus.h"
#include "support/golden_folder.h"
#include "train/checkpointing/checkpoint_fixture.h"

namespace mpitron::train {
namespace base_weights_test {

TEST(BaseWeights, AnAdapterOfAnotherModelIsRefused) {
  const std::string folder = test::golden_folder() + "/generation/lora/all_linear";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << ": not in this set of reference data";
  }
  config::RunConfig config =
      tiny_run({"--swiglu", "--ffn-hidden-size", "24", "--normalization", "RMSNorm",
                "--disable-bias-linear", "--position-embedding-type", "rope"});
  config.model.lora = adapter_config(io::PeftFolder(folder));
  EXPECT_GT(config.model.lora->rank, 0);
  const auto device = device::make_device("host");
  TinyTraining tiny(*device, config);
  const std::string text = test::message_of([&] { load_adapter(tiny.model, tiny.step, folder); });
  EXPECT_NE(text.find("is for another model"), std::string::npos) << text;
  EXPECT_NE(text.find("layers.0.self_attn.q_proj.lora_A.weight is "), std::string::npos) << text;
  config.model.num_layers = 1;
  TinyTraining shallow(*device, config);
  const std::string other =
      test::message_of([&] { load_adapter(shallow.model, shallow.step, folder); });
  EXPECT_NE(other.find("layers.1.self_attn.q_proj: the model has 1 layers"), std::string::npos)
      << other;
}

/// A model whose weights have rows of whole groups, also on two ranks.
const Flags kWide = {"--num-layers",
                     "1",
                     "--hidden-size",
                     "128",
                     "--ffn-hidden-size",
                     "128",
                     "--swiglu",
                     "--disable-bias-linear",
                     "--position-embedding-type",
                     "rope"};
const Flags kUpdates = {"--lora-rank", "2", "--lora-alpha", "8"};
const Flags kIn4BitsFlags = {"--lora-base-weights", "nf4"};

class BaseIn4Bits : public CheckpointFixture {
 protected:
  void SetUp() override { run(kWide + save("base"), 1, 1, {1}); }
  static RunRecord run(const Flags& flags, Index ranks, Index last,
                       const std::vector<Index>& saves = {}) {
    return run_with_checkpoints(flags, ranks, last, saves,
                                [] { return device::make_device("host"); });
  }
  Flags tuned(const Flags& more) const {
    return kWide + kUpdates + Flags{"--pretrained-checkpoint", (root_ / "base").string()} + more;
  }
};

TEST_F(BaseIn4Bits, GoesOnBitForBit) {
  const Flags flags = tuned(kIn4BitsFlags);
  const RunRecord whole = run(flags + save("whole"), 1, 3, {2});
  const RunRecord rest = run(flags + load("whole"), 1, 3);
  EXPECT_EQ(rest.start, 2);
  EXPECT_EQ(rest.losses.front(), whole.losses.back());
  EXPECT_EQ(rest.state, whole.state);
  const std::string text = message([&] { run(tuned(load("whole")), 1, 3); });
  EXPECT_NE(text.find("with --lora-base-weights nf4"), std::string::npos) << text;
}

TEST_F(BaseIn4Bits, IsThatOfOneRankOnTwo) {
  const Flags flags = tuned(kIn4BitsFlags);
  const RunRecord alone = run(flags, 1, 2);
  for (const Flags& layout :
       {Flags{"--tensor-model-parallel-size", "2", "--sequence-parallel"}, Flags{}}) {
    const RunRecord two = run(flags + layout, 2, 2);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(two.losses[i], alone.losses[i], 1e-6 * alone.losses[i]);
      EXPECT_NEAR(two.grad_norms[i], alone.grad_norms[i], 2e-6 * alone.grad_norms[i]);
    }
  }
  const RunRecord plain = run(tuned({}), 1, 2);
  EXPECT_GT(std::abs(plain.losses[1] / alone.losses[1] - 1), 1e-5);  // it does round
}

/// Two steps, and how much memory they took at most.
struct Trained {
  std::vector<double> losses;
  Index most_bytes = 0;
};
Trained train_two_steps(device::Device& device, TinyTraining& tiny) {
  TinyCorpus corpus;
  Trained trained;
  for (Index i = 1; i <= 2; ++i) {
    trained.losses.push_back(tiny.step.run(i, 4, 8, corpus.from(8 * (i - 1), 2)).loss());
  }
  trained.most_bytes = device.allocator().statistics().high_water;
  return trained;
}

/// The numbers that 4 bits stand for, in a base of its own type, train the same updates; and no
/// more than one of them is in memory beside the 4 bits.
TEST(LowRankUpdates, OfABaseIn4BitsAreThoseOfItsNumbers) {
  const Flags model = kWide + Flags{"--num-layers", "8"} + kUpdates;
  const auto device = device::make_device("host"), other = device::make_device("host");
  TinyTraining packed(*device, tiny_run(model + kIn4BitsFlags));
  TinyTraining plain(*other, tiny_run(model));
  Index in_4_bits = 0, in_32_bits = 0, largest = 0;
  for (autograd::Parameter& parameter : packed.model.parameters()) {
    if (!parameter.four_bits) {
      continue;
    }
    autograd::Context context{.device = *device};
    const auto numbers = autograd::weight_numbers(context, parameter);
    const Index bytes = numbers.view().bytes();
    in_4_bits += parameter.local_bytes(), in_32_bits += bytes, largest = std::max(largest, bytes);
    test::set_values(plain.model.parameters().find(parameter.name)->value,
                     test::values_of(numbers));
  }
  EXPECT_EQ(8 * in_4_bits, 17 * in_32_bits / 16);  // 4.25 of 32
  const Trained from_4_bits = train_two_steps(*device, packed),
                from_32 = train_two_steps(*other, plain);
  EXPECT_EQ(from_4_bits.losses, from_32.losses);
  EXPECT_LE(from_4_bits.most_bytes, from_32.most_bytes - in_32_bits + in_4_bits + 2 * largest);
  for (const autograd::Parameter& parameter : plain.model.parameters()) {
    if (parameter.role.low_rank) {
      EXPECT_EQ(test::values_of(parameter.value),
                test::values_of(packed.model.parameters().find(parameter.name)->value))
          << parameter.name;
    }
  }
}

}  // namespace base_weights_test
}  // namespace mpitron::train
