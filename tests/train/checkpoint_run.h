#pragma once
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "support/temporary_folder.h"
#include "train/batches/made_up_corpus.h"
#include "train/checkpointing/checkpointing.h"
#include "train/layout_cases.h"

// Short runs that save and load, in any layout, with ranks as threads.

namespace mpitron::train {

/// What a run printed and what it ended with.
struct RunRecord {
  std::vector<double> losses, grad_norms;                 // of its iterations
  std::vector<std::map<std::string, std::string>> state;  // of each rank: tensor -> bytes
  Index start = 0;
};

/// Everything that a rank's next step depends on, as bytes.
class StateInBytes final : public tensor::StateVisitor {
 public:
  explicit StateInBytes(device::Device& device) : device_(device) {}

  void tensor(const tensor::ShardedTensor& t) override {
    tensor::HostMirror mirror(device_);
    const device::TensorView value = mirror.of(t).value;
    mirror.wait();
    bytes[t.name] = {static_cast<const char*>(value.data), static_cast<std::size_t>(value.bytes())};
  }
  void number(const std::string& name, Index& value) override {
    bytes[name] = std::to_string(value);
  }
  void number(const std::string& name, double& value) override {
    bytes[name] = fmt::format("{:a}", value);
  }
  void text(const std::string& name, std::string& value) override { bytes[name] = value; }

  std::map<std::string, std::string> bytes;

 private:
  device::Device& device_;
};

/// Loads what the flags say, trains to iteration `last`, saves at each of `saves`, also right
/// after loading; and short-lived checkpoints at their interval.
inline RunRecord run_with_checkpoints(
    const Flags& flags, Index world_size, Index last, const std::vector<Index>& saves = {},
    const std::function<std::unique_ptr<device::Device>()>& make_device = [] {
      return device::make_device("reference");
    }) {
  constexpr Index kBatch = 8;
  const config::RunConfig config = tiny_run(flags, world_size);
  const Index replicas = config.parallel.data_parallel_size;
  const Index rows = config.training.micro_batch_size;
  RunRecord record;
  record.state.resize(static_cast<std::size_t>(world_size));
  std::mutex mutex;
  comm::run_thread_world(world_size, [&](comm::World& world) {
    const auto device = make_device();
    TrainedModel model(*device, config, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, config, timers);
    Checkpointing checkpointing(model, step, config, {.configuration = "{}", .build = "test"});
    RunPosition position = *checkpointing.load();
    const Index start = position.iteration;
    const Index interval = config.checkpoint.non_persistent.save_interval.value_or(0);
    const auto save_if_asked = [&] {
      if (std::ranges::find(saves, position.iteration) != saves.end()) {
        checkpointing.save(position);
      } else if (interval > 0 && position.iteration > start && position.iteration % interval == 0) {
        checkpointing.save(position, SaveKind::non_persistent);
      }
    };
    save_if_asked();
    MadeUpCorpus corpus(config.model);
    std::vector<StepReport> reports;
    while (position.iteration < last) {
      ++position.iteration;
      Index first = position.consumed_train_samples + rows * model.groups().data->rank();
      const auto next = [&] {
        return corpus.rows(std::exchange(first, first + rows * replicas), rows);
      };
      reports.push_back(step.run(position.iteration, kBatch / (rows * replicas), kBatch, next));
      position.consumed_train_samples += kBatch;
      checkpointing.poll();
      save_if_asked();
    }
    checkpointing.finish();
    step.replicas().make_whole();
    world.all()->barrier();  // nobody's memory may go while others read it
    StateInBytes state(*device);
    step.visit_model(state);
    step.visit_optimizer(state);
    const std::lock_guard lock(mutex);
    record.state[static_cast<std::size_t>(world.rank())] = std::move(state.bytes);
    if (world.rank() == 0) {
      record.start = start;
      for (const StepReport& report : reports) {
        record.losses.push_back(report.loss());
        record.grad_norms.push_back(report.grad_norm);
      }
    }
  });
  return record;
}

}  // namespace mpitron::train
