#include "train/parity.h"

#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "autograd/shard_copy.h"
#include "train/train_step.h"

namespace mpitron::train {
namespace {

constexpr Index kIterations = 3;
constexpr Index kVocabulary = 96;
constexpr Index kHeadDimension = 8;

Index rounded_up(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

/// The run, narrow and short.
config::RunConfig scaled_down(config::RunConfig run) {
  config::ParallelConfig& p = run.parallel;
  const Index tensor = p.tensor_model_parallel_size;
  const Index model = tensor * p.pipeline_model_parallel_size * p.context_parallel_size;
  p.data_parallel_size = std::min<Index>(p.data_parallel_size, 2);
  p.num_distributed_optimizer_instances =
      std::min(p.num_distributed_optimizer_instances, p.data_parallel_size);
  p.world_size = model * p.data_parallel_size;

  config::ModelConfig& m = run.model;
  m.kv_channels = kHeadDimension;
  m.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDimension));
  m.hidden_size = rounded_up(64, tensor);
  m.ffn_hidden_size = rounded_up(128, tensor);
  m.seq_length = rounded_up(16, 2 * tensor * p.context_parallel_size);
  m.max_position_embeddings = m.seq_length;
  m.padded_vocab_size = rounded_up(kVocabulary, tensor);
  m.params_dtype = DType::f32;

  config::TrainingConfig& t = run.training;
  t.seq_length = m.seq_length;
  t.micro_batch_size = 1;
  // A group of microbatches for every chunk's turn, and more than one.
  t.global_batch_size = p.data_parallel_size * 2 * p.microbatch_group_size_per_vp_stage;
  t.train_iters = kIterations;
  t.rampup_batch_size.reset();

  config::OptimizerConfig& o = run.optimizer;
  o = config::OptimizerConfig{.optimizer = config::OptimizerKind::sgd,
                              .clip_grad = o.clip_grad,
                              .lr = 0.1,
                              .lr_decay_style = config::LrDecayStyle::constant,
                              .lr_decay_steps = t.global_batch_size * kIterations,
                              .wd_incr_steps = t.global_batch_size * kIterations,
                              .accumulate_allreduce_grads_in_fp32 = true};
  return run;
}

config::RunConfig on_one_rank(config::RunConfig run) {
  run.parallel = config::ParallelConfig{};
  run.model.tp_comm_overlap = run.model.distribute_saved_activations = false;
  return run;
}

/// Samples of an endless corpus.
class Samples {
 public:
  explicit Samples(Index length) : length_(length) {}
  HostMicrobatch at(Index sample) {
    tokens_.clear(), labels_.clear(), positions_.clear(), mask_.clear();
    for (Index i = 0; i < length_; ++i) {
      tokens_.push_back(word(sample, i));
      labels_.push_back(word(sample, i + 1));
      positions_.push_back(i);
      mask_.push_back(1.f);
    }
    return {.samples = 1,
            .sequence_length = length_,
            .tokens = tokens_,
            .labels = labels_,
            .position_ids = positions_,
            .loss_mask = mask_,
            .attention_mask = {},
            .first_sample = sample};
  }

 private:
  static std::int64_t word(Index sample, Index i) {
    return (7 * sample + 5 * i + i * i) % kVocabulary;
  }

  Index length_;
  std::vector<std::int64_t> tokens_, labels_, positions_;
  std::vector<float> mask_;
};

/// What a run leaves: the same for every layout.
struct Outcome {
  std::vector<double> losses, grad_norms;
  std::vector<std::string> names;  // in order of creation, of the stages in order
  std::map<std::string, std::vector<float>> weights;  // global
};

void keep_weights(device::Device& device, TrainedModel& model, Outcome& outcome) {
  for (const autograd::Parameter& parameter : model.parameters()) {
    std::vector<float>& global = outcome.weights[parameter.name];
    if (global.empty()) {
      global.resize(static_cast<std::size_t>(parameter.shape.numel()));
    }
    autograd::copy_from_shard(device, parameter.value, parameter.shard,
                              device::TensorView(global.data(), DType::f32, parameter.shape));
  }
}

Outcome train(const config::RunConfig& run) {
  Outcome outcome;
  std::mutex mutex;
  comm::run_thread_world(run.parallel.world_size, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, run, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, run, timers);
    Samples samples(run.training.seq_length);
    const Index batch = run.training.global_batch_size;
    const Index replicas = model.groups().data->size();
    std::vector<StepReport> reports;
    for (Index iteration = 1; iteration <= kIterations; ++iteration) {
      Index sample = batch * (iteration - 1) + model.groups().data->rank();
      const auto next = [&] { return samples.at(std::exchange(sample, sample + replicas)); };
      reports.push_back(step.run(iteration, batch / replicas, batch, next));
    }
    step.replicas().make_whole();
    world.all()->barrier();
    const std::lock_guard lock(mutex);
    keep_weights(*device, model, outcome);
    if (world.rank() == 0) {
      for (const StepReport& report : reports) {
        outcome.losses.push_back(report.loss());
        outcome.grad_norms.push_back(report.grad_norm);
      }
    }
    if (world.size() == 1) {
      for (const autograd::Parameter& parameter : model.parameters()) {
        outcome.names.push_back(parameter.name);
      }
    }
  });
  return outcome;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double result = std::sqrt(norm > 0 ? difference / norm : difference);
  return std::isnan(result) ? INFINITY : result;
}

/// Where two rows of numbers part; -1: nowhere.
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
    return fmt::format("loss of iteration {}", i + 1);
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
  const config::RunConfig small = scaled_down(run);
  const Outcome layout = train(small), alone = train(on_one_rank(small));
  ParityCertificate certificate{.world_size = small.parallel.world_size,
                                .run = small,
                                .losses = layout.losses,
                                .expected_losses = alone.losses,
                                .grad_norms = layout.grad_norms,
                                .expected_grad_norms = alone.grad_norms};
  for (const std::string& name : alone.names) {
    certificate.tensors.push_back(
        {.name = name, .distance = distance(layout.weights.at(name), alone.weights.at(name))});
  }
  return certificate;
}

}  // namespace mpitron::train
