#include "train/parity/parity.h"

#include <cmath>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "autograd/shard_copy.h"
#include "train/batches/made_up_corpus.h"
#include "train/step/train_step.h"
#include "utils/error.h"

// Trains a small model of a run's kind twice, in the run's layout and on one rank, and compares
// losses, gradient norms and weights.

namespace mpitron::train {
namespace {

constexpr Index kIterations = 3;
constexpr Index kVocabulary = 96;
constexpr Index kHeadDimension = 8;

Index rounded_up(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

/// Images of 16 patches.
config::VisionConfig scaled_down(config::VisionConfig vision) {
  vision.patch = 4;
  vision.image_height = vision.image_width = 16;
  vision.class_tokens = vision.class_tokens > 0 ? 8 : 0;
  vision.classes = std::min<Index>(vision.classes, 10);
  return vision;
}

/// Tiles of four patches, and texts that leave room for two of them.
config::VlmConfig scaled_down(config::VlmConfig vlm, Index tensor, Index seq_length) {
  vlm.patch = 4;
  vlm.tile = 8;
  vlm.text_length = seq_length - 2 * vlm.positions();
  if (vlm.tower_sizes) {
    vlm.tower_sizes->head_size = kHeadDimension;
    vlm.tower_sizes->hidden_size = rounded_up(48, tensor);
    vlm.tower_sizes->ffn_hidden_size = rounded_up(96, tensor);
  }
  if (vlm.projector_sizes) {
    vlm.projector_sizes->ffn_hidden_size = rounded_up(96, tensor);
  }
  return vlm;
}

/// Makes the run narrow and short, but leaves what a layout may get wrong: its parallel sizes (but
/// for more replicas than it takes), chunks, experts and dropout.
config::RunConfig scaled_down(config::RunConfig run) {
  config::ParallelConfig& p = run.parallel;
  const Index tensor = p.tensor_model_parallel_size;
  const Index model = tensor * p.pipeline_model_parallel_size * p.context_parallel_size;
  // Two replicas, or as many as hold one of all experts.
  const Index experts =
      p.expert_tensor_parallel_size * p.expert_model_parallel_size * p.pipeline_model_parallel_size;
  p.data_parallel_size =
      std::min<Index>(p.data_parallel_size, 2 * std::lcm(model, experts) / model);
  p.num_distributed_optimizer_instances =
      std::min(p.num_distributed_optimizer_instances, p.data_parallel_size);
  p.world_size = model * p.data_parallel_size;

  config::ModelConfig& m = run.model;
  m.kv_channels = kHeadDimension;
  m.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDimension));
  m.hidden_size = rounded_up(64, tensor);
  m.ffn_hidden_size = rounded_up(128, tensor);
  m.seq_length = rounded_up(16, 2 * tensor * p.context_parallel_size);
  if (m.family().encoder_decoder) {
    m.decoder_seq_length = rounded_up(8, tensor);
  }
  if (!m.family().has_words()) {
    m.vision = scaled_down(m.vision);
    m.seq_length = m.vision.positions();
  }
  if (m.vlm) {
    m.seq_length = rounded_up(24, 2 * tensor * p.context_parallel_size);
    m.vlm = scaled_down(*m.vlm, tensor, m.seq_length);
  }
  m.max_position_embeddings = m.seq_length;
  m.padded_vocab_size = rounded_up(kVocabulary, tensor);
  m.params_dtype = DType::f32;
  if (m.moe) {
    m.moe->ffn_hidden_size = rounded_up(64, p.expert_tensor_parallel_size);
    Index& shared = m.moe->shared_expert_intermediate_size;
    shared = shared > 0 ? rounded_up(64, tensor) : 0;
  }

  config::TrainingConfig& t = run.training;
  t.seq_length = m.seq_length;
  t.micro_batch_size = 1;
  // A group of microbatches for every chunk's turn, and more than one.
  t.global_batch_size = p.data_parallel_size * 2 * p.microbatch_group_size_per_vp_stage;
  t.train_iters = kIterations;
  t.rampup_batch_size.reset();

  config::OptimizerConfig& o = run.optimizer;
  o = config::OptimizerConfig{.optimizer = config::OptimizerKind::sgd, .clip_grad = o.clip_grad};
  o.lr = 0.1;
  o.lr_decay_style = config::LrDecayStyle::constant;
  o.lr_decay_steps = o.wd_incr_steps = t.global_batch_size * kIterations;
  o.accumulate_allreduce_grads_in_fp32 = true;
  return run;
}

/// Removes everything that belongs to a layout.
config::RunConfig on_one_rank(config::RunConfig run) {
  run.parallel = config::ParallelConfig{};
  run.model.tp_comm_overlap = run.model.distribute_saved_activations = false;
  return run;
}

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
  if (run.model.vision.dino) {
    throw_usage(
        "--vision-pretraining-type dino: parity makes up whole images, and no crops of them; "
        "`mpitron replay` holds layouts of recorded runs against one rank");
  }
  const config::RunConfig small = scaled_down(run);
  const LayoutOutcome layout = run_layout(small, kIterations);
  const LayoutOutcome alone = run_layout(on_one_rank(small), kIterations);
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
