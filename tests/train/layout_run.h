#pragma once
#include <cmath>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "train/tiny_run.h"

// A short training run in any layout, with ranks as threads: what all layouts must agree on.

namespace mpitron::train {

using Flags = std::vector<std::string>;

inline Flags operator+(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

/// Puts this rank's values of a parameter where they belong in the global tensor.
inline void place(const autograd::Parameter& parameter, std::vector<double>& global) {
  const std::vector<double> local = testing::values_of(parameter.value);
  const tensor::Shard& shard = parameter.shard;
  global.resize(static_cast<std::size_t>(parameter.shape.numel()));
  Index inner = 1;
  for (int dim = shard.dim + 1; dim < parameter.shape.rank(); ++dim) {
    inner *= parameter.shape[dim];
  }
  const Index extent = parameter.shape[shard.dim];
  const Index local_extent = parameter.value.shape()[shard.dim];
  for (Index i = 0; i < static_cast<Index>(local.size()); ++i) {
    const Index at = i / inner % local_extent, outer = i / inner / local_extent;
    const Index there = shard.whole() ? at : shard.global(at);
    global[static_cast<std::size_t>((outer * extent + there) * inner + i % inner)] =
        local[static_cast<std::size_t>(i)];
  }
}

struct LayoutResult {
  bool operator==(const LayoutResult&) const = default;
  std::vector<double> losses, grad_norms;
  std::map<std::string, std::vector<double>> weights;  // after the last step, by global name
};

/// Three iterations of eight samples with dropout, on the reference device (host kernels do not
/// run on several threads of one process).
inline LayoutResult run_layout(const Flags& flags, Index world_size) {
  constexpr Index kIterations = 3, kBatch = 8;
  const config::RunConfig config = tiny_run(flags, world_size);
  const Index replicas = config.parallel.data_parallel_size;
  const Index rows = config.training.micro_batch_size;
  LayoutResult result;
  std::mutex mutex;
  comm::run_thread_world(world_size, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, config, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, config, timers);
    TinyCorpus corpus;
    std::vector<StepReport> reports;
    for (Index iteration = 1; iteration <= kIterations; ++iteration) {
      Index first = kBatch * (iteration - 1) + rows * model.groups().data->rank();
      const auto next = [&] {
        return corpus.rows(std::exchange(first, first + rows * replicas), rows);
      };
      reports.push_back(step.run(iteration, kBatch / (rows * replicas), kBatch, next));
    }
    step.replicas().make_whole();
    world.all()->barrier();
    const std::lock_guard lock(mutex);
    for (const autograd::Parameter& parameter : model.parameters()) {
      place(parameter, result.weights[parameter.name]);
    }
    if (world.rank() == 0) {
      for (const StepReport& report : reports) {
        result.losses.push_back(report.loss());
        result.grad_norms.push_back(report.grad_norm);
      }
    }
  });
  return result;
}

/// ||a - b|| / ||b||.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

inline void expect_equal(const LayoutResult& layout, const LayoutResult& alone) {
  ASSERT_EQ(layout.losses.size(), alone.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    EXPECT_NEAR(layout.losses[i], alone.losses[i], 1e-6 * alone.losses[i]) << i;
    EXPECT_NEAR(layout.grad_norms[i], alone.grad_norms[i], 2e-6 * alone.grad_norms[i]) << i;
  }
  ASSERT_EQ(layout.weights.size(), alone.weights.size());
  for (const auto& [name, weights] : alone.weights) {
    ASSERT_EQ(layout.weights.at(name).size(), weights.size()) << name;
    EXPECT_LE(distance(layout.weights.at(name), weights), 1e-6) << name;
  }
}

}  // namespace mpitron::train
