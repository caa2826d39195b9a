#include "plan/time/step_time.h"

#include <algorithm>
#include <cmath>

#include "plan/time/collective_time.h"

namespace mpitron::plan {
namespace {

constexpr double kOwnedBytes = 38;       // moved for a parameter that a rank updates
constexpr double kReplicatedBytes = 46;  // where all data ranks update it
constexpr double kHeldBytes = 6;

/// What a stage does with a microbatch.
struct Stage {
  Terms terms;
  HeldParameters held;
};

class StepTimer {
 public:
  explicit StepTimer(const Setting& setting)
      : setting_(setting),
        machine_(setting.machine),
        stack_(setting.stack),
        job_(setting.job),
        layout_(setting.job.layout) {}

  StepTime time() {
    const std::vector<Stage> stages = make_stages();
    const auto slowest =
        std::ranges::max_element(stages, {}, [](const Stage& stage) { return stage.terms.sum(); });
    const double microbatches = static_cast<double>(job_.microbatches());
    StepTime step;
    step.work = slowest->terms * microbatches;
    step.sends = microbatches * send_seconds();
    step.bubble = bubble(stages, slowest->terms.sum());
    step.data = exposed_data(*slowest);
    step.optimizer = optimizer(*slowest);
    step.fixed = stack_.per_step;
    step.jitter = (step.seconds() - step.fixed) * machine_.jitter *
                  std::log2(std::max(1.0, layout_.gpus / 8.0));
    return step;
  }

 private:
  std::vector<Stage> make_stages() const {
    const bool has_moe = job_.model.experts > 0;
    const LayerTime dense = layer_time(setting_, false);
    const LayerTime moe = has_moe ? layer_time(setting_, true) : LayerTime{};
    const HeldParameters dense_held = held_parameters(job_, false);
    const HeldParameters moe_held = has_moe ? held_parameters(job_, true) : HeldParameters{};
    std::vector<Stage> stages;
    Index layer = 0;
    for (const Index layers : stage_layers(job_.model.layers, layout_.pipeline)) {
      Stage stage;
      for (Index i = 0; i < layers; ++i, ++layer) {
        const bool is_moe = job_.model.is_moe(layer);
        stage.terms += (is_moe ? moe : dense).both();
        stage.held.dense += (is_moe ? moe_held : dense_held).dense;
        stage.held.expert += (is_moe ? moe_held : dense_held).expert;
      }
      stage.terms.launch += stack_.per_microbatch;
      stages.push_back(stage);
    }
    const double embedding =
        static_cast<double>(job_.model.vocab) * job_.model.hidden / layout_.tensor;
    stages.front().held.dense += embedding;
    stages.back().held.dense += job_.model.tied && stages.size() == 1 ? 0 : embedding;
    stages.back().terms += head_time(setting_).both();
    return stages;
  }

  double send_seconds() const {
    if (layout_.pipeline == 1) {
      return 0;
    }
    const double tokens =
        static_cast<double>(job_.sequence) * layout_.micro_batch / layout_.context;
    const double bytes = 2 * tokens * job_.model.hidden / layout_.tensor;
    const RankGroup neighbours{2, static_cast<double>(layout_.gpus) / layout_.pipeline};
    const double hidden = layout_.chunks > 1 ? stack_.pipeline_overlap : 0;
    return 2 * layout_.chunks * send_time(machine_, neighbours, bytes) * (1 - hidden);
  }

  /// 1F1B: the others' time of one microbatch; with chunks a share of it (arXiv:2104.04473, 2.2).
  double bubble(const std::vector<Stage>& stages, double slowest) const {
    double sum = 0;
    for (const Stage& stage : stages) {
      sum += stage.terms.sum();
    }
    const double idle =
        sum - slowest + static_cast<double>(stages.size() - 1) * send_seconds() / layout_.chunks;
    const double uneven = (stack_.imbalance - 1) * slowest *
                          static_cast<double>(stages.size() > 1 ? job_.microbatches() : 0);
    return idle / static_cast<double>(layout_.chunks) + uneven;
  }

  double exposed_data(const Stage& stage) const {
    const bool by_layer = layout_.sharding >= Sharding::gradients && layout_.pipeline == 1;
    if (by_layer) {
      return 0;  // told with the layers
    }
    const double bytes = job_.gradient_bytes + 2;
    const double data = static_cast<double>(layout_.data()) * layout_.context;
    const RankGroup dense{data, double(layout_.tensor)};
    const RankGroup experts{data * layout_.tensor / layout_.expert, double(layout_.expert)};
    const double factor = layout_.sharding == Sharding::none ? 2 * job_.gradient_bytes : bytes;
    const double traffic = gather_time(machine_, dense, factor * stage.held.dense) +
                           gather_time(machine_, experts, factor * stage.held.expert);
    const double beside = stage.terms.sum() / static_cast<double>(layout_.chunks);
    return std::max((1 - stack_.data_overlap) * traffic, traffic - beside);
  }

  double optimizer(const Stage& stage) const {
    const double data = static_cast<double>(layout_.data()) * layout_.context;
    const double expert_data = data * layout_.tensor / layout_.expert;
    const bool shared = layout_.sharding != Sharding::none;
    const double per = shared ? kOwnedBytes : kReplicatedBytes;
    const double owned = stage.held.dense / (shared ? data : 1) +
                         stage.held.expert / (shared ? std::max(1.0, expert_data) : 1);
    const double held =
        layout_.sharding == Sharding::full ? owned : stage.held.dense + stage.held.expert;
    return (per * owned + kHeldBytes * held) / (machine_.memory_bandwidth * machine_.memory_share);
  }

  const Setting& setting_;
  const Machine& machine_;
  const Stack& stack_;
  const Job& job_;
  const Layout& layout_;
};

}  // namespace

std::vector<Index> stage_layers(Index layers, Index stages) {
  std::vector<Index> result(static_cast<std::size_t>(stages), layers / stages);
  const Index rest = layers % stages;
  if (rest == 0) {
    return result;
  }
  if (stages > 2 && (layers + 2) % stages == 0) {
    std::ranges::fill(result, (layers + 2) / stages);
    --result.front();
    --result.back();
    return result;
  }
  for (Index i = 0; i < rest; ++i) {  // middle stages have the rest
    ++result[static_cast<std::size_t>(stages - 1 - (i + (rest < stages - 1 ? 1 : 0)))];
  }
  return result;
}

StepTime step_time(const Setting& setting) {
  return StepTimer(setting).time();
}

}  // namespace mpitron::plan
