#pragma once
#include <map>
#include <mutex>
#include <string>

#include "optim/optimizer.h"
#include "support/replicas.h"
#include "support/tiny_gpt.h"

// Trains a tiny GPT for some steps on ranks that share the batch, each a thread, and says what came
// out: the same question for every way of sharing.

namespace mpitron::train {

/// One way of sharing, and the model.
struct Sharing {
  std::string name;
  Index ranks = 1;
  Index shard_size = 1;  // neighbours that share pieces
  parallel::DataParallelOptions options = {};
  bool recompute = false;
  bool untied = false;
  bool uneven_tokens = false;  // per-token loss, sample n counts 1 + n % 6 tokens
  DType dtype = DType::f32;
  Index micro_batch = 1;  // of kBatch samples over all ranks
  double clip = 0.05;
  bool wide = false;  // large enough that padding does not show
};

/// What a run of `kSteps` steps shows.
struct Outcome {
  std::vector<double> losses, norms;
  std::vector<double> parameters_norms;
  std::vector<Index> zeros;
  std::map<std::string, std::vector<double>> gradients, weights;  // of the last step
};

class DataParallelTraining {
 public:
  static constexpr Index kSteps = 3, kBatch = 8, kLength = 6;

  static Outcome run(const Sharing& sharing) {
    Outcome outcome;
    std::mutex mutex;
    comm::run_thread_world(sharing.ranks, [&](comm::World& world) {
      DataParallelTraining training(world, sharing);
      for (Index step = 0; step < kSteps; ++step) {
        training.step(step);
      }
      training.replicas().make_whole();  // all ranks together
      const std::lock_guard lock(mutex);
      training.report(outcome);
    });
    return outcome;
  }

  DataParallelTraining(comm::World& world, const Sharing& sharing)
      : world_(world),
        sharing_(sharing),
        all_(world.all()),
        model_(model_config(sharing), *device_),
        replicas_(make_replicas()),
        optimizer_(*device_, optimizer_config(sharing), trained_tensors(), {all_, all_}),
        scheduler_(optimizer_config(sharing)) {}

  void step(Index step) {
    const Index count = kBatch / world_.size() / sharing_.micro_batch;
    double sums[2] = {0, 0};
    replicas_->begin_step();
    for (Index i = 0; i < count; ++i) {
      microbatch(step, i, i + 1 == count, sums);
    }
    replicas_->finish_step();
    all_->all_reduce({sums, DType::f64, {2}}).wait();
    losses_.push_back(sums[0] / sums[1]);
    const float scale = sharing_.uneven_tokens ? static_cast<float>(1 / sums[1]) : 1.f;
    keep_gradients(scale);
    const auto gradients = replicas_->gradients([](const autograd::Parameter&) { return true; });
    norms_.push_back(
        optimizer_.step({.gradients = gradients, .gradient_scale = scale}, scheduler_).grad_norm);
    parameters_norms_.push_back(optimizer_.parameters_norm());
    zeros_.push_back(optimizer_.zero_gradients());
    replicas_->gather_parameters();
  }

  device::Device& device() { return *device_; }
  models::GptModel& model() { return model_; }
  parallel::DataParallel& replicas() { return *replicas_; }

 private:
  static config::ModelConfig model_config(const Sharing& sharing) {
    config::ModelConfig config = test::tiny_gpt();
    config.untie_embeddings_and_output_weights = sharing.untied;
    config.params_dtype = sharing.dtype;
    if (sharing.wide) {
      config.hidden_size = 64, config.ffn_hidden_size = 256, config.kv_channels = 16;
      config.padded_vocab_size = 512;
    }
    if (sharing.recompute) {
      config.recompute_granularity = config::RecomputeGranularity::full;
      config.recompute_method = config::RecomputeMethod::uniform;
      config.recompute_num_layers = 1;
    }
    return config;
  }
  static config::OptimizerConfig optimizer_config(const Sharing& sharing) {
    config::OptimizerConfig config;
    config.lr = 0.01;
    config.adam_eps = 1e-3;  // a key's bias has no gradient but rounding, which Adam would blow up
    config.lr_decay_style = config::LrDecayStyle::constant;
    config.lr_decay_steps = config.wd_incr_steps = 1000;
    config.clip_grad = sharing.clip;
    return config;
  }

  std::unique_ptr<parallel::DataParallel> make_replicas() {
    model_.initialize();
    return parallel::make_data_parallel(*device_, model_.parameters().all(), sharing_.options,
                                        test::replica_groups(world_, sharing_.shard_size));
  }

  std::vector<optim::TrainedTensor> trained_tensors() const {
    std::vector<optim::TrainedTensor> tensors;
    for (const parallel::ParameterPiece& piece : replicas_->pieces()) {
      tensors.push_back({.traits = {.name = piece.parameter->name,
                                    .rank = static_cast<int>(piece.parameter->shape.rank())},
                         .value = piece.value,
                         .main_grad = piece.main_grad,
                         .counted = piece.counted});
    }
    return tensors;
  }

  /// Microbatch i of this rank: neighbours have neighbouring samples, as the reference's sampler.
  void microbatch(Index step, Index i, bool last, double* sums) {
    const Index size = sharing_.micro_batch;
    const Index first = step * kBatch + (i * world_.size() + world_.rank()) * size;
    autograd::Context context{
        .device = *device_,
        .seed = 3,
        .iteration = static_cast<std::uint64_t>(step),
        .recorder = {
            .tape = &tape_, .usage = &tape_, .keeper = replicas_.get(), .last_microbatch = last}};
    context.position.first_sample = first;
    replicas_->begin_pass(autograd::Pass::forward);
    const autograd::Var loss =
        model_.loss(context, test::tiny_batch(*device_, kLength, first, size));
    std::vector<double> seed;
    const std::vector<double> losses = test::values_of(loss.value);
    for (Index position = 0; position < kLength; ++position) {
      for (Index sample = first; sample < first + size; ++sample) {
        const bool counts = !sharing_.uneven_tokens || position <= sample % kLength;
        const double mean = 1. / static_cast<double>(kLength * kBatch);
        seed.push_back(counts ? (sharing_.uneven_tokens ? 1 : mean) : 0);
        sums[0] += counts ? losses[seed.size() - 1] : 0;
        sums[1] += counts ? 1 : 0;
      }
    }
    replicas_->begin_pass(autograd::Pass::backward);
    tape_.backward(context, loss.slot, test::make_tensor(*device_, loss.shape(), DType::f32, seed));
    tape_.clear();
  }

  void keep_gradients(float scale) {
    gradients_.clear();
    for (const parallel::ParameterPiece& piece : replicas_->pieces()) {
      std::vector<double> values = test::values_of(piece.main_grad);
      for (double& value : values) {
        value *= static_cast<double>(scale);
      }
      gradients_.push_back(std::move(values));
    }
  }

  void report(Outcome& outcome) {
    outcome.losses = losses_, outcome.norms = norms_, outcome.zeros = zeros_;
    outcome.parameters_norms = parameters_norms_;
    for (const autograd::Parameter& parameter : model_.parameters()) {
      outcome.weights[parameter.name] = test::values_of(parameter.value);
      outcome.gradients[parameter.name].resize(static_cast<std::size_t>(parameter.shape.numel()));
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const parallel::ParameterPiece& piece = replicas_->pieces()[i];
      std::copy(gradients_[i].begin(), gradients_[i].end(),
                outcome.gradients[piece.parameter->name].begin() + piece.begin);
    }
  }

  comm::World& world_;
  const Sharing sharing_;
  std::shared_ptr<comm::Group> all_;
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  models::GptModel model_;
  std::unique_ptr<parallel::DataParallel> replicas_;
  optim::Optimizer optimizer_;
  optim::ParameterScheduler scheduler_;
  autograd::Tape tape_;
  std::vector<double> losses_, norms_, parameters_norms_;
  std::vector<Index> zeros_;
  std::vector<std::vector<double>> gradients_;
};

}  // namespace mpitron::train
