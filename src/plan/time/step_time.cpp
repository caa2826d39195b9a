#include "plan/time/step_time.h"

#include <algorithm>
#include <cmath>

#include "plan/time/collective_time.h"

// Time of a step by closed form: work of the slowest stage, what the pipeline idles, and what
// gradients, parameters and the optimizer add behind the passes.

namespace mpitron::plan {
namespace {

constexpr double kOwnedBytes = 38;       // moved for a parameter that a rank updates
constexpr double kReplicatedBytes = 46;  // where all data ranks update it
constexpr double kHeldBytes = 6;

class StepTimer {
 public:
  explicit StepTimer(const Setting& setting)
      : setting_(setting), machine_(setting.machine), stack_(setting.stack), job_(setting.job) {}

  StepTime time() {
    const std::vector<StageWork> stages = stage_works(setting_);
    const auto slowest = std::ranges::max_element(stages, {}, &StageWork::seconds);
    StepTime step;
    step.work = slowest->forward;
    step.work += slowest->backward;
    step.work = step.work * (stack_.release * job_.microbatches());
    step.sends = job_.microbatches() * send_seconds();
    step.bubble = stack_.release * bubble(stages, slowest->seconds());
    step.data = exposed_data(*slowest);
    step.optimizer = optimizer(*slowest);
    step.fixed = stack_.per_step;
    /// The slowest of more ranks is slower: a share of the step for each doubling.
    step.jitter = (step.seconds() - step.fixed) * machine_.jitter *
                  std::log2(std::max(1.0, job_.ranks() / 8.0));
    return step;
  }

 private:
  /// Messages of a microbatch, forwards and backwards; interleaved schedules hide a part.
  double send_seconds() const {
    if (job_.stages() == 1) {
      return 0;
    }
    const double bytes = 2 * job_.tokens() * job_.hidden() / job_.tensor();
    const RankGroup neighbours{2, job_.ranks() / job_.stages()};
    const double hidden = job_.chunks() > 1 ? stack_.pipeline_overlap : 0;
    return 2 * job_.chunks() * send_time(machine_, neighbours, bytes) * (1 - hidden);
  }

  /// The slowest stage waits while the others work on the first and the last microbatch.
  double bubble(const std::vector<StageWork>& stages, double slowest) const {
    double sum = 0;
    for (const StageWork& stage : stages) {
      sum += stage.seconds();
    }
    const double idle = sum - slowest + (job_.stages() - 1) * send_seconds() / job_.chunks();
    return idle / job_.chunks();
  }

  /// Traffic of gradients and parameters among replicas, less what is hidden.
  double exposed_data(const StageWork& stage) const {
    if (job_.sharded_by_layer() && job_.stages() == 1) {
      return 0;  // told with the layers
    }
    const RankGroup dense{job_.data() * job_.context(), job_.tensor()};
    const RankGroup experts{job_.expert_data(), job_.expert() * job_.expert_tensor()};
    const bool shared = job_.run.parallel.sharding_strategy != config::ShardingStrategy::no_shard;
    const double bytes = shared ? job_.gradient_bytes() + 2 : 2 * job_.gradient_bytes();
    const double traffic = gather_time(machine_, dense, bytes * stage.held.dense) +
                           gather_time(machine_, experts, bytes * stage.held.expert);
    // Gradients of a chunk are complete when the last microbatch has passed it backwards, its
    // weights are needed by the first: a group of microbatches, one a stage, passes the others in
    // between. What ends and begins the step travels beside its own work alone.
    const double last = 1 / job_.chunks();
    const double group = last < 1 ? std::min(job_.stages(), job_.microbatches()) : 1;
    const double beside = stage.seconds() * (last + group * (1 - last));
    const double late = std::max({0.0, traffic - beside, (traffic - stage.seconds()) * last});
    const double hidden = job_.practice.data_overlap.value_or(stack_.data_overlap);
    return (1 - hidden) * traffic + hidden * late;
  }

  /// The update is bound by memory: bytes of what a rank updates, and of what it holds besides.
  double optimizer(const StageWork& stage) const {
    const config::ShardingStrategy strategy = job_.run.parallel.sharding_strategy;
    const bool shared = strategy != config::ShardingStrategy::no_shard;
    const double per = shared ? kOwnedBytes : kReplicatedBytes;
    const double owned = stage.held.dense / (shared ? job_.data() * job_.context() : 1) +
                         stage.held.expert / (shared ? std::max(1.0, job_.expert_data()) : 1);
    const double held = strategy == config::ShardingStrategy::optim_grads_params
                            ? owned
                            : stage.held.dense + stage.held.expert;
    return (per * owned + kHeldBytes * held) / (machine_.memory_bandwidth * machine_.memory_share);
  }

  const Setting& setting_;
  const Machine& machine_;
  const Stack& stack_;
  const Job& job_;
};

}  // namespace

StepTime step_time(const Setting& setting) {
  return StepTimer(setting).time();
}

}  // namespace mpitron::plan
