#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "comm/groups/parallel_groups.h"
#include "models/gpt/gpt_model.h"
#include "support/tensors.h"

// A training step of a small model on the ranks of a tensor parallel group (threads of this
// process, reference device), put together again as one rank would have it.

namespace mpitron::test {

struct TensorLayout {
  Index tensor = 1;
  bool sequence_parallel = false;
};

/// What one rank has after a step.
struct RankStep {
  struct Values {
    Shape shape;  // global
    tensor::Shard shard;
    bool sum_over_tensor = false;
    bool counts_in_norm = false;
    std::vector<double> weights, gradient;
  };
  std::vector<double> loss;
  std::map<std::string, Values> parameters;
};

/// The whole model after a step.
struct WholeStep {
  std::vector<double> loss;
  std::map<std::string, std::vector<double>> weights, gradients;
  double squared_norm = 0;  // of the gradient, as the ranks count it
};

/// Groups in which every `tensor` neighbouring ranks of the world share the layers.
inline comm::ParallelGroups tensor_groups(comm::World& world, const TensorLayout& layout) {
  comm::ParallelGroups groups = comm::groups_of_one(world);
  std::vector<Index> ranks;
  for (Index i = 0; i < layout.tensor; ++i) {
    ranks.push_back(world.rank() / layout.tensor * layout.tensor + i);
  }
  groups.tensor = world.make_group("tensor", ranks);
  groups.sequence_parallel = layout.sequence_parallel;
  return groups;
}

inline std::vector<double> sum_of(const std::vector<RankStep>& ranks, const std::string& name) {
  std::vector<double> sum(ranks[0].parameters.at(name).gradient.size(), 0.0);
  for (const RankStep& rank : ranks) {
    const std::vector<double>& part = rank.parameters.at(name).gradient;
    std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus());
  }
  return sum;
}

/// Writes a rank's elements of a [rows, columns] view of the global tensor.
inline void place(const RankStep::Values& values, const std::vector<double>& local,
                  std::vector<double>& global) {
  const Index columns = values.shape.rank() > 1 ? values.shape[1] : 1;
  const Index local_columns =
      values.shape.rank() > 1 ? values.shard.local(values.shape)[1] : Index{1};
  const int dim = values.shard.dim;
  for (Index i = 0; i < static_cast<Index>(local.size()); ++i) {
    Index row = i / local_columns, column = i % local_columns;
    (dim == 0 ? row : column) = values.shard.global(dim == 0 ? row : column);
    global[static_cast<std::size_t>(row * columns + column)] = local[static_cast<std::size_t>(i)];
  }
}

/// Every element must come from exactly one rank, or be the same on all.
inline WholeStep put_together(std::vector<RankStep> ranks) {
  WholeStep whole{.loss = ranks[0].loss, .weights = {}, .gradients = {}};
  for (const auto& [name, first] : ranks[0].parameters) {
    if (first.sum_over_tensor) {
      const std::vector<double> sum = sum_of(ranks, name);
      for (RankStep& rank : ranks) {
        rank.parameters.at(name).gradient = sum;
      }
    }
    const std::vector<double> missing(static_cast<std::size_t>(first.shape.numel()), NAN);
    std::vector<double> weights = missing, gradient = missing;
    for (const RankStep& rank : ranks) {
      const RankStep::Values& values = rank.parameters.at(name);
      EXPECT_EQ(values.shard.whole(), first.shard.whole()) << name;
      place(values, values.weights, weights);
      place(values, values.gradient, gradient);
      for (const double value : values.gradient) {
        whole.squared_norm += values.counts_in_norm ? value * value : 0;
      }
    }
    for (const RankStep& rank : ranks) {  // nobody wrote over another's elements
      const RankStep::Values& values = rank.parameters.at(name);
      std::vector<double> again = gradient;
      place(values, values.gradient, again);
      EXPECT_EQ(again, gradient) << name << " differs between ranks";
    }
    whole.weights[name] = weights;
    whole.gradients[name] = gradient;
  }
  for (const RankStep& rank : ranks) {
    EXPECT_EQ(rank.loss, ranks[0].loss);
  }
  return whole;
}

/// What a rank trains on; called on its thread, once for each microbatch.
using NextBatch = std::function<models::Batch(device::Device&, Index microbatch)>;

inline RankStep run_rank(const config::ModelConfig& config, const comm::ParallelGroups& groups,
                         const NextBatch& next) {
  const auto device = device::make_device("reference");
  models::GptModel model(config, *device, {.groups = groups, .part = nn::whole_model(config)});
  model.initialize();
  const DType dtype = config.params_dtype == DType::f64 ? DType::f64 : DType::f32;
  for (autograd::Parameter& parameter : model.parameters()) {
    const std::vector<double> poison(static_cast<std::size_t>(parameter.value.numel()), NAN);
    parameter.sink.main_grad = make_tensor(*device, parameter.value.shape(), dtype, poison);
    parameter.sink.written = false;
  }
  RankStep step;
  for (Index microbatch = 0; microbatch < 2; ++microbatch) {
    autograd::Tape tape;
    autograd::Context context{
        .device = *device, .seed = 3, .iteration = 4, .recorder = {.tape = &tape, .usage = &tape}};
    context.position.first_sample = 2 * microbatch;
    context.recorder.auxiliary.token_seed = 0.5;
    const autograd::Var loss = model.loss(context, next(*device, microbatch));
    const std::vector<double> values = values_of(loss.value);
    step.loss.insert(step.loss.end(), values.begin(), values.end());
    tape.backward(context, loss.slot, random_tensor(*device, loss.shape(), loss.value.dtype(), 5));
  }
  for (const autograd::Parameter& parameter : model.parameters()) {
    step.parameters[parameter.name] = {
        .shape = parameter.shape,
        .shard = parameter.placement.shard,
        .sum_over_tensor = parameter.placement.sum_over_tensor,
        .counts_in_norm = parameter.counts_in_norm(
            (parameter.placement.expert ? groups.expert_tensor : groups.tensor)->rank()),
        .weights = values_of(parameter.value),
        .gradient = values_of(parameter.sink.main_grad)};
  }
  return step;
}

inline WholeStep run_layout(const config::ModelConfig& config, const TensorLayout& layout,
                            const NextBatch& next) {
  std::vector<RankStep> ranks(static_cast<std::size_t>(layout.tensor));
  comm::run_thread_world(layout.tensor, [&](comm::World& world) {
    ranks[static_cast<std::size_t>(world.rank())] =
        run_rank(config, tensor_groups(world, layout), next);
  });
  return put_together(std::move(ranks));
}

}  // namespace mpitron::test
