#include "plan/replay/rank_replay.h"

#include "config/global_batch_size.h"
#include "train/batches/made_up_corpus.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Runs the program of one rank without its data and its peers: the null device counts memory and
// launches, the recording world writes down what is communicated.

namespace mpitron::plan {
namespace {

/// Counts launches, and notes where the memory in use has risen to its peak.
class LaunchCounter final : public device::LaunchObserver {
 public:
  LaunchCounter(device::Device& device, RankReplay& replay, const ReplayOptions& options)
      : device_(device), replay_(replay), options_(options) {
    device_.observer() = this;
  }
  ~LaunchCounter() override { device_.observer() = nullptr; }
  LaunchCounter(const LaunchCounter&) = delete;
  LaunchCounter& operator=(const LaunchCounter&) = delete;

  void before(const device::LaunchRecord& record) override {
    const Index peak = device_.allocator().statistics().high_water;
    if (peak > replay_.memory.peak) {
      replay_.memory.peak = peak;
      replay_.peak_launch = replay_.launches;
      replay_.peak_kernel = record.kernel;
    }
    ++replay_.launches;
    if (options_.seconds) {
      replay_.record.seconds += options_.seconds(record);
    }
    if (options_.lists_kernels) {
      replay_.kernels.push_back({record.kernel, record.arguments()});
    }
  }
  void after(const device::LaunchRecord&) override {}
  void argument(const device::LaunchRecord&, const char*, const device::ConstTensorView&) override {
  }

 private:
  device::Device& device_;
  RankReplay& replay_;
  const ReplayOptions& options_;
};

/// Counts what lives from step to step; all that is neither a parameter nor a gradient goes to the
/// optimizer.
void count_state(device::Device& device, train::TrainedModel& model, ReplayedMemory& memory) {
  for (const autograd::Parameter& parameter : model.parameters()) {
    memory.parameters += parameter.value || parameter.four_bits ? parameter.local_bytes() : 0;
    memory.gradients += parameter.sink.main_grad ? parameter.sink.main_grad.view().bytes() : 0;
  }
  memory.optimizer = device.allocator().statistics().bytes_in_use - memory.state();
}

/// Ranks with equal ones, and equal places among their replicas, update equal parts.
std::uint64_t hash_of(const autograd::ParameterList& parameters) {
  std::vector<Index> numbers;
  Index first = 0;  // layer
  for (const autograd::Parameter& parameter : parameters) {
    const autograd::Placement& at = parameter.placement;
    first = first == 0 ? at.unit : first;
    numbers.insert(numbers.end(),
                   {parameter.local_shape().numel(),
                    parameter.value ? static_cast<Index>(parameter.value.dtype()) : -1,
                    at.unit > 0 ? at.unit - first : -1, Index{at.expert}, Index{at.sum_over_tensor},
                    Index{at.shared_over_stages}, Index{parameter.role.frozen}});
  }
  return hash64({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Index)});
}

/// Returns the elements of each sum beside the replicas' that a rank takes part in.
std::vector<Index> completed_elements(const train::TrainStep& step) {
  std::vector<Index> elements;
  for (const train::GradientCompletion& sum : step.completions()) {
    Index count = 0;
    for (const tensor::Tensor& gradient : sum.gradients) {
      count += sum.group->size() > 1 ? gradient.numel() : 0;
    }
    elements.push_back(count);
  }
  return elements;
}

/// Makes samples of a corpus and, where loaders make them, masks that hide nothing. Every rank of a
/// tensor group has them: in a world without peers nobody else tells it of their columns.
class MadeUpBatches {
 public:
  MadeUpBatches(const config::RunConfig& run, const train::TrainedModel& model)
      : corpus_(run.model),
        samples_(run.training.micro_batch_size),
        length_(run.model.seq_length),
        reads_(model.reads_data()) {
    if (reads_ && run.data.has_attention_masks() && !run.model.family().padded()) {
      mask_.assign(static_cast<std::size_t>(samples_ * length_ * length_), 0);
    }
  }

  train::HostMicrobatch next() {
    const Index first = std::exchange(first_, first_ + samples_);
    if (!reads_) {
      return {.samples = samples_, .sequence_length = length_, .first_sample = first};
    }
    train::HostMicrobatch batch = corpus_.rows(first, samples_);
    if (!mask_.empty()) {
      batch.columns.set(models::kAttentionMask, mask_);
    }
    return batch;
  }

 private:
  train::MadeUpCorpus corpus_;
  Index samples_, length_;
  bool reads_;
  Index first_ = 0;
  std::vector<std::uint8_t> mask_;
};

}  // namespace

train::NextMicrobatch made_up_batches(const config::RunConfig& run,
                                      const train::TrainedModel& model) {
  return [batches = std::make_shared<MadeUpBatches>(run, model)] { return batches->next(); };
}

RankReplay replay_rank(const config::RunConfig& run, Index rank, const ReplayOptions& options) {
  if (run.model.family().samples == config::SampleKind::image_texts) {
    throw_usage("the program of models of texts with images is not replayed");
  }
  RankReplay replay{.rank = rank};
  const auto device = device::make_null_device();
  const auto world = comm::make_recording_world(rank, run.parallel.world_size, replay.record);
  {
    train::TrainedModel model(*device, run, *world);
    replay.parameters = hash_of(model.parameters());
    train::Timers timers(0, config::TimingLogOption::max);
    train::TrainStep step(*device, model, run, timers);
    count_state(*device, model, replay.memory);
    replay.completed = completed_elements(step);
    const LaunchCounter counter(*device, replay, options);
    const train::NextMicrobatch next = made_up_batches(run, model);
    const Index samples = run.training.global_batch_size;
    const Index microbatches =
        config::num_microbatches(run.training, run.parallel.data_parallel_size);
    for (Index i = 1; i <= options.steps; ++i) {
      step.run(i, microbatches, samples, next);
    }
  }
  const device::AllocatorStatistics memory = device->allocator().statistics();
  replay.memory.peak = memory.high_water;
  replay.memory.reserved = memory.bytes_reserved;
  return replay;
}

}  // namespace mpitron::plan
