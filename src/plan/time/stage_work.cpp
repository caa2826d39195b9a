#include "plan/time/step_time.h"

// What the stages of a pipeline do for a microbatch, and what they hold.

namespace mpitron::plan {
namespace {

/// Times of the kinds of layers, as they are and recomputed as a whole.
class KindTimes {
 public:
  explicit KindTimes(const Setting& setting) : setting_(setting) {
    const config::ModelConfig& model = setting.job.run.model;
    const bool full = model.recompute_granularity == config::RecomputeGranularity::full;
    recomputed_ = !full ? 0
                  : model.recompute_method == config::RecomputeMethod::block
                      ? model.recompute_num_layers
                      : model.all_layers();
    for (const LayerKind& kind : setting.job.work->kinds()) {
      plain_.push_back(layer_time(setting, kind));
      again_.push_back(full ? layer_time(setting, kind, true) : plain_.back());
      held_.push_back(held_parameters(setting.job, kind));
    }
  }

  /// Adds layer `number`, the `place`-th of its chunk.
  void add(Index number, Index place, StageWork& stage) const {
    const std::size_t kind = setting_.job.work->kind(number);
    const LayerTime& time = (place < recomputed_ ? again_ : plain_)[kind];
    stage.forward += time.forward;
    stage.backward += time.backward;
    stage.held += held_[kind];
  }

 private:
  const Setting& setting_;
  Index recomputed_;  // layers of a chunk
  std::vector<LayerTime> plain_;
  std::vector<LayerTime> again_;
  std::vector<HeldParameters> held_;
};

void add(const LayerTime& time, StageWork& stage) {
  stage.forward += time.forward;
  stage.backward += time.backward;
}

/// Adds a chunk's layers, depths, embedding and head to its stage. A tied matrix counts once where
/// one stage has both of its ends.
void add_chunk(const Setting& setting, const KindTimes& times, const pipeline::ChunkLayers& chunk,
               StageWork& stage) {
  const Job& job = setting.job;
  const double embedding = job.vocabulary() * job.hidden() / job.tensor();
  for (Index i = 0; i < chunk.count; ++i) {
    times.add(chunk.first + i + 1, i, stage);
  }
  for (Index i = 0; i < chunk.mtp_count * job.work->depth_layers(); ++i) {
    times.add(job.work->layers() + i + 1, chunk.count + i, stage);
  }
  for (Index depth = 0; depth < chunk.mtp_count; ++depth) {
    add(depth_time(setting), stage);
    stage.held.dense += 2 * job.hidden() * job.hidden() / job.tensor();
  }
  const bool both = chunk.has_embedding && chunk.has_loss;
  stage.held.dense += chunk.has_embedding ? embedding : 0;
  stage.held.dense += chunk.has_loss && !(both && job.tied()) ? embedding : 0;
  if (chunk.has_loss) {
    add(head_time(setting), stage);
  }
}

}  // namespace

std::vector<StageWork> stage_works(const Setting& setting) {
  const KindTimes times(setting);
  const pipeline::StageLayout layout = stage_layout(setting.job);
  std::vector<StageWork> stages(static_cast<std::size_t>(layout.stages()));
  for (Index stage = 0; stage < layout.stages(); ++stage) {
    StageWork& work = stages[static_cast<std::size_t>(stage)];
    for (Index chunk = 0; chunk < layout.chunks(); ++chunk) {
      add_chunk(setting, times, layout.layers(stage, chunk), work);
    }
    work.forward.launch += setting.stack.per_microbatch / 3;
    work.backward.launch += setting.stack.per_microbatch * 2 / 3;
  }
  return stages;
}

}  // namespace mpitron::plan
