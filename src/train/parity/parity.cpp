#include "train/parity/parity.h"

#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "autograd/shard_copy.h"
#include "train/batches/made_up_corpus.h"
#include "train/parity/small_run.h"
#include "train/step/train_step.h"

// Trains a small model of a run's kind twice, in the run's layout and on one rank, and compares
// losses, gradient norms and weights.

namespace mpitron::train {
namespace {

/// Returns where two rows of numbers part, relative to the second; -1: nowhere. NaN is apart from
/// everything.
Index first_apart(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance * std::abs(b[i]))) {
      return static_cast<Index>(i);
    }
  }
  return -1;
}

}  // namespace

std::string ParityCertificate::first_difference() const {
  if (const Index i = first_apart(losses, expected_losses, tolerance); i >= 0) {
    return fmt::format("loss of iteration {}", i / static_cast<Index>(objectives()) + 1);
  }
  if (const Index i = first_apart(grad_norms, expected_grad_norms, tolerance); i >= 0) {
    return fmt::format("gradient norm of iteration {}", i + 1);
  }
  for (const ParityTensor& tensor : tensors) {
    if (tensor.distance > tolerance) {
      return tensor.name;
    }
  }
  return "";
}

ParityCertificate prove_parity(const config::RunConfig& run) {
  const config::RunConfig small = small_run(run);
  const LayoutOutcome layout = run_layout(small, kParityIterations);
  const LayoutOutcome alone = run_layout(on_one_rank(small), kParityIterations);
  ParityCertificate certificate{.world_size = small.parallel.world_size,
                                .run = small,
                                .losses = layout.losses,
                                .expected_losses = alone.losses,
                                .grad_norms = layout.grad_norms,
                                .expected_grad_norms = alone.grad_norms};
  for (const std::string& name : alone.names) {
    certificate.tensors.push_back(
        {.name = name,
         .distance = relative_distance(layout.weights.at(name), alone.weights.at(name))});
  }
  return certificate;
}

namespace {

std::vector<StepReport> train(const config::RunConfig& run, TrainedModel& model, TrainStep& step,
                              Index iterations) {
  MadeUpCorpus corpus(run.model);
  const Index batch = run.training.global_batch_size, rows = run.training.micro_batch_size;
  const Index all_rows = rows * model.groups().data->size();
  std::vector<StepReport> reports;
  for (Index iteration = 1; iteration <= iterations; ++iteration) {
    Index first = batch * (iteration - 1) + rows * model.groups().data->rank();
    const auto next = [&] { return corpus.rows(std::exchange(first, first + all_rows), rows); };
    reports.push_back(step.run(iteration, batch / all_rows, batch, next));
  }
  return reports;
}

/// Copies this rank's parts of the weights into the outcome's whole tensors.
void keep_weights(device::Device& device, TrainedModel& model, LayoutOutcome& outcome) {
  for (const autograd::Parameter& parameter : model.parameters()) {
    if (parameter.four_bits) {
      continue;  // kept
    }
    const auto [place, is_new] = outcome.weights.try_emplace(parameter.name);
    if (is_new) {
      outcome.names.push_back(parameter.name);
      place->second.resize(static_cast<std::size_t>(parameter.shape.numel()));
    }
    autograd::copy_from_shard(
        device, parameter.value, parameter.placement.shard,
        device::TensorView(place->second.data(), DType::f32, parameter.shape));
  }
}

}  // namespace

LayoutOutcome run_layout(const config::RunConfig& run, Index iterations) {
  LayoutOutcome outcome;
  std::mutex mutex;
  comm::run_thread_world(run.parallel.world_size, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, run, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, run, timers);
    const std::vector<StepReport> reports = train(run, model, step, iterations);
    step.replicas().make_whole();
    world.all()->barrier();
    const std::lock_guard lock(mutex);
    keep_weights(*device, model, outcome);
    if (world.rank() == 0) {
      for (const StepReport& report : reports) {
        outcome.losses.push_back(report.loss());
        for (const auto& [name, loss] : report.other_losses) {
          outcome.losses.push_back(loss);
        }
        outcome.grad_norms.push_back(report.grad_norm);
      }
    }
  });
  return outcome;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return INFINITY;
  }
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double result = std::sqrt(norm > 0 ? difference / norm : difference);
  return std::isnan(result) ? INFINITY : result;
}

}  // namespace mpitron::train
