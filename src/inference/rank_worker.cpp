#include "inference/rank_worker.h"

#include <algorithm>

// What each rank does of a step: its layers of its replica's plan, hidden states from the stage
// before and to the one behind. With a pipeline, a stage runs the plans that were told as many
// ticks ago as its number: all stages work at once, on different plans.

namespace mpitron::inference {

using autograd::Var;
using tensor::Tensor;

namespace {

/// One block of each owner and one place for states more than the caller knows of. Drafts of the
/// model's own where all ranks share its layers: all know them, and nobody exchanges tokens.
EngineShape with_stand_in(EngineShape shape, const RankPlace& place) {
  shape.blocks += place.groups.context->size();
  shape.own_drafts =
      place.groups.tensor->size() == place.world.size() ? shape.own_drafts : Index{0};
  shape.snapshots += shape.states > 0 ? 1 : 0;
  return shape;
}

/// The place that with_stand_in() adds.
Index last_state(const EngineShape& shape) {
  return shape.states + shape.snapshots - 1;
}

}  // namespace

RankPlace RankPlace::of(comm::World& world, const comm::ParallelGroups& groups,
                        const comm::RankGrid& grid) {
  const comm::Grid& dense = grid.dense();
  const auto at = [&](comm::Axis axis) { return dense.coordinate(world.rank(), axis); };
  return {.world = world,
          .groups = groups,
          .replica = at(comm::Axis::data),
          .replicas = dense.size(comm::Axis::data),
          .stage = at(comm::Axis::pipeline),
          .stages = dense.size(comm::Axis::pipeline)};
}

RankWorker::RankWorker(device::Device& device, const models::Model& model, const RankPlace& place,
                       const EngineShape& shape, std::vector<AdapterHandle> adapters)
    : device_(device),
      model_(model),
      place_(place),
      own_block_((shape.blocks + place.groups.context->size() - 1) / place.groups.context->size() *
                 place.groups.context->size()),
      runner_(device, model, with_stand_in(shape, place), place.groups.context),
      adapters_(std::move(adapters)),
      stand_in_blocks_{own_block_} {
  runner_.know(adapters_.by_number());
  meet_neighbours();
}

/// Sends a number from stage to stage. NCCL connects two ranks when they first talk, and both wait
/// for that: in a tick the next stage is not there yet.
void RankWorker::meet_neighbours() const {
  const Tensor number = Tensor::empty(device_, {1}, DType::f32);
  if (place_.stage > 0) {
    place_.groups.pipeline->receive(number.view(), place_.stage - 1).wait();
  }
  if (place_.stage + 1 < place_.stages) {
    place_.groups.pipeline->send(number.view(), place_.stage + 1).wait();
  }
}

void RankWorker::add(AdapterHandle adapter) {
  adapters_.add(std::move(adapter));
  runner_.know(adapters_.by_number());
}

void RankWorker::drop(Index adapter) {
  adapters_.drop(adapter);
  runner_.know(adapters_.by_number());
}

Tensor RankWorker::receive_hidden(Index rows) {
  const config::ModelConfig& config = model_.config();
  const DType type = config.fp32_residual_connection ? DType::f32 : config.params_dtype;
  const Tensor hidden =
      Tensor::empty(device_, {runner_.piece_of(rows), 1, config.hidden_size}, type);
  place_.groups.pipeline->receive(hidden.view(), place_.stage - 1).wait();
  return hidden;
}

/// Runs this stage's layers on the rows that came from the stage before, and sends what they give
/// to the next one; the last keeps the logits.
void RankWorker::run(const StepPlan& plan, Index rows) {
  const Var input = place_.stage > 0 && rows > 0 ? autograd::constant(receive_hidden(rows)) : Var{};
  const Var hidden = runner_.run(plan, input);
  if (rows > 0 && place_.stage + 1 < place_.stages) {
    sending_.wait();
    sent_ = hidden.value;
    sending_ = place_.groups.pipeline->send(sent_.view(), place_.stage + 1);
    return;
  }
  sending_logits_.wait();
  logits_ = rows > 0 ? runner_.logits(hidden) : std::span<const float>();
}

/// Takes the newest plans and runs those that were told as many ticks ago as this stage's number,
/// so that all stages work at once on different steps.
void RankWorker::tick(std::span<const std::int64_t> words) {
  recent_.push_front(std::make_unique<ReceivedPlans>(words, adapters_.by_number()));
  if (static_cast<Index>(recent_.size()) <= place_.stage) {
    return;  // nothing has come so far yet
  }
  const ReceivedPlans& plans = *recent_[static_cast<std::size_t>(place_.stage)];
  const StepPlan& own = plans[place_.replica];
  Index rows = 0;
  for (const SequenceStep& sequence : own.sequences) {
    rows += static_cast<Index>(sequence.tokens.size()) + sequence.own_drafts;
  }
  const bool stands_in = rows == 0 && plans.has_rows() && place_.groups.expert->size() > 1;
  if (stands_in) {  // all who share the experts exchange tokens together
    StepPlan plan = own;
    plan.sequences.push_back({.tokens = stand_in_token_,
                              .blocks = stand_in_blocks_,
                              .logits_from = 1,
                              .state_to = last_state(runner_.shape())});
    run(plan, 1);
  } else {
    run(own, rows);
  }
  if (place_.stage + 1 == place_.stages && place_.leads() && place_.world.rank() != 0 &&
      !logits_.empty()) {
    const device::ConstTensorView view(logits_.data(), DType::f32,
                                       {static_cast<Index>(logits_.size())});
    sending_logits_ = place_.world.all()->send(view, 0);
  }
  while (static_cast<Index>(recent_.size()) > place_.stages) {
    recent_.pop_back();
  }
}

}  // namespace mpitron::inference
