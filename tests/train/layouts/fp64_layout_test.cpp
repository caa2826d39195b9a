#include <cmath>
#include <mutex>

#include <gtest/gtest.h>

#include "autograd/shard_copy.h"
#include "train/batches/made_up_corpus.h"
#include "train/layout_cases.h"
#include "train/step/train_step.h"

// In fp64 nothing but the order of sums tells layouts apart: loss, gradient norm and every gradient
// agree with one rank to 1e-12, with dropout on.

namespace mpitron::train {
namespace fp64_layout_test {

struct Outcome {
  double loss = 0, grad_norm = 0;
  std::map<std::string, std::vector<double>> gradients;  // whole parameters
};

void keep_gradients(device::Device& device, TrainStep& step, Outcome& outcome) {
  for (const parallel::ParameterPiece& piece : step.replicas().pieces()) {
    const autograd::Parameter& parameter = *piece.parameter;
    std::vector<double>& whole = outcome.gradients[parameter.name];
    whole.resize(static_cast<std::size_t>(parameter.shape.numel()));
    autograd::copy_from_shard(device, piece.main_grad.reshape(parameter.value.shape()),
                              parameter.placement.shard,
                              device::TensorView(whole.data(), DType::f64, parameter.shape));
  }
}

/// The first iteration's gradients.
Outcome gradients_of(const Flags& flags, Index ranks) {
  config::RunConfig run = tiny_run(flags, ranks);
  run.model.params_dtype = run.optimizer.params_dtype = run.optimizer.main_grad_dtype = DType::f64;
  run.model.gradient_accumulation_fusion = false;
  Outcome outcome;
  std::mutex mutex;
  comm::run_thread_world(ranks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, run, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, run, timers);
    MadeUpCorpus corpus(run.model);
    const Index rows = run.training.micro_batch_size, replicas = model.groups().data->size();
    Index first = rows * model.groups().data->rank();
    const StepReport report = step.compute_gradients(
        1, run.training.global_batch_size / (rows * replicas),
        [&] { return corpus.rows(std::exchange(first, first + rows * replicas), rows); });
    world.all()->barrier();
    const std::lock_guard lock(mutex);
    keep_gradients(*device, step, outcome);
    outcome.loss = report.loss();
    outcome.grad_norm = report.grad_norm;
  });
  return outcome;
}

double relative(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

/// Gated delta nets and Mamba-2 with heads of so few numbers that their norms magnify roundings.
Flags letters() {
  return {"--model",
          "mamba",
          "--hybrid-layer-pattern",
          "G*GM",
          "--mamba-head-dim",
          "4",
          "--mamba-state-dim",
          "3",
          "--mamba-num-groups",
          "4",
          "--linear-num-key-heads",
          "4",
          "--linear-num-value-heads",
          "8",
          "--linear-key-head-dim",
          "3",
          "--linear-value-head-dim",
          "2",
          "--linear-conv-kernel-dim",
          "2",
          "--swiglu",
          "--ffn-hidden-size",
          "32",
          "--disable-bias-linear"};
}

class Fp64Layout : public ::testing::TestWithParam<Layout> {};

TEST_P(Fp64Layout, GradientsAreThoseOfOneRank) {
  const Flags model{"--num-layers",        "4",   "--hidden-dropout",   "0.1",
                    "--attention-dropout", "0.1", "--micro-batch-size", "1"};
  for (const Flags& kind :
       {Flags{},
        Flags{"--untie-embeddings-and-output-weights", "--disable-bias-linear",
              "--position-embedding-type", "rope", "--normalization", "RMSNorm"},
        letters()}) {
    SCOPED_TRACE(::testing::PrintToString(kind));
    const Outcome alone = gradients_of(model + kind, 1);
    const Outcome layout = gradients_of(model + kind + GetParam().flags, GetParam().ranks);
    EXPECT_NEAR(layout.loss, alone.loss, 1e-12 * alone.loss);
    EXPECT_NEAR(layout.grad_norm, alone.grad_norm, 1e-12 * alone.grad_norm);
    ASSERT_EQ(layout.gradients.size(), alone.gradients.size());
    for (const auto& [name, gradient] : alone.gradients) {
      EXPECT_LE(relative(layout.gradients.at(name), gradient), 1e-12) << name;
    }
  }
}

const Flags kTensor{"--tensor-model-parallel-size", "2"}, kSequence{"--sequence-parallel"},
    kPipeline{"--pipeline-model-parallel-size", "2"},
    kVirtual{"--num-virtual-stages-per-pipeline-rank", "2"};

Flags context(const char* exchange) {
  return {"--context-parallel-size", "2", "--cp-comm-type", exchange};
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Fp64Layout,
    ::testing::Values(
        Layout{"dp2", 2, {}},
        Layout{"dp4_buckets", 4, {"--overlap-grad-reduce", "--ddp-bucket-size", "500"}},
        Layout{"tp2", 2, kTensor}, Layout{"tp2_sp", 2, kTensor + kSequence},
        Layout{"pp2", 2, kPipeline}, Layout{"pp2_vpp2", 2, kPipeline + kVirtual},
        Layout{"cp2_p2p", 2, context("p2p")}, Layout{"cp2_all_gather", 2, context("all_gather")},
        Layout{"cp2_a2a", 2, context("a2a")},
        Layout{"tp2_sp_pp2_dp2", 8, kTensor + kSequence + kPipeline},
        Layout{"tp2_sp_cp2_pp2", 8, kTensor + kSequence + kPipeline + context("p2p")}),
    [](const auto& info) { return info.param.name; });

}  // namespace fp64_layout_test
}  // namespace mpitron::train
