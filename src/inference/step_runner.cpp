#include "inference/step_runner.h"

#include <algorithm>
#include <numeric>

#include "config/layer_pattern.h"
#include "inference/step_tables.h"
#include "kernels/elementwise/elementwise.h"
#include "models/llava/llava_batch.h"
#include "ops/elementwise/embedding.h"
#include "ops/parallel/collectives.h"
#include "ops/parallel/rows.h"
#include "tensor/host_copy.h"

namespace mpitron::inference {

using autograd::Var;
using tensor::Tensor;

namespace {

/// As many as the model has depths; none of depths whose layers keep states, which cannot be taken
/// back to where drafts were right.
Index own_drafts_of(const models::Model& model, Index wanted) {
  const config::ModelConfig& config = model.config();
  return config::keeps_states(config, config.all_layers() + 1, config.layers_and_depths())
             ? Index{0}
             : std::min(wanted, model.prediction_depths());
}

/// In the format that was asked for, else in the model's.
std::unique_ptr<autograd::PackedWeights> packed_weights(device::Device& device,
                                                        const models::Model& model,
                                                        const EngineShape& shape) {
  return std::make_unique<autograd::PackedWeights>(
      device, shape.weights.value_or(kernels::weight_format(model.config().params_dtype)));
}

}  // namespace

StepRunner::StepRunner(device::Device& device, const models::Model& model, EngineShape shape,
                       comm::GroupHandle sharers)
    : device_(device),
      model_(model),
      shape_(shape),
      sharers_(std::move(sharers)),
      cache_(device, piece_of(shape.blocks), shape.block_size, shape.cache),
      states_(device, shape.states + shape.snapshots, shape.state_types),
      own_weights_(shape.packed != nullptr ? nullptr : packed_weights(device, model, shape)),
      images_(device, model) {
  const config::ModelConfig& config = model.config();
  const bool encodes = config.family().encoder_decoder;
  shape_.padded_vocabulary = config.padded_vocab_size;
  shape_.max_positions = encodes ? config.decoder_seq_length : config.max_position_embeddings;
  shape_.max_encoded = encodes ? config.seq_length : 0;
  shape_.block_owners = this->sharers();
  shape_.own_drafts = own_drafts_of(model, shape.own_drafts);
  shape_.whole_images = config.vlm && config.vlm->sees_whole_images;
  shape_.image_axes = config.vlm && !config.mrope_section.empty();
  if (shape_.own_drafts > 0) {
    heads_.emplace(device, model, PredictionHeads::Caches{cache_, states_, weights()}, shape.slots);
  }
  if (shape_.graphs) {
    graphs_.emplace(device, shape_, config.attention_chunk_size.value_or(0));
  }
}

void StepRunner::know(std::span<const AdapterHandle> adapters) {
  adapters_.known.clear();
  for (const AdapterHandle& each : adapters) {
    if (each != nullptr) {
      adapters_.known.push_back(each.get());
    }
  }
}

/// Runs a step of one token on the first two blocks, so that weights are packed and
/// libraries planned before the first request comes.
void StepRunner::warm_up() {
  const TokenIds ids = {0};
  const std::vector<Index> first = {0}, second = {std::min<Index>(1, shape_.blocks - 1)};
  StepPlan plan;
  plan.sequences.push_back({.tokens = ids, .blocks = first, .state_to = shape_.states - 1});
  if (shape_.max_encoded > 0) {
    plan.sequences[0].encoder_tokens = ids;
    plan.sequences[0].encoder_blocks = second;
    plan.sequences[0].encoder_size = 1;
  }
  logits(run(plan));
}

/// Rows behind each other with one adapter are one range.
void StepRunner::adapt_rows(autograd::Adapter* adapter, Index first, Index count) {
  if (adapter == nullptr) {
    return;
  }
  if (!adapters_.rows.empty() && adapters_.rows.back().adapter == adapter &&
      adapters_.rows.back().end == first) {
    adapters_.rows.back().end += count;
  } else {
    adapters_.rows.push_back({adapter, first, first + count});
  }
}

/// Lays the rows of all sequences one behind the other, and notes for each which positions and
/// blocks it has, which adapter, and whether logits are wanted.
void StepRunner::collect(std::span<const SequenceStep> sequences) {
  std::span<const TokenId> drafts = drafted_;
  pieces_.clear();
  encoded_.clear();
  adapters_.rows.clear();
  ids_.clear();
  places_.positions.clear();
  wanted_.clear();
  places_.axes.clear();
  for (const SequenceStep& sequence : sequences) {
    const auto first = static_cast<Index>(ids_.size());
    const auto count = static_cast<Index>(sequence.tokens.size()) + sequence.own_drafts;
    append_pieces({.first_row = first,
                   .rows = count,
                   .first_position = sequence.first_position,
                   .blocks = sequence.blocks,
                   .state_from = sequence.state_from,
                   .state_to = sequence.state_to},
                  shape_.whole_images ? sequence.tokens : std::span<const TokenId>(), pieces_);
    adapt_rows(sequence.adapter, first, count);
    if (shape_.image_axes) {
      places_.axes.append(sequence, count, *model_.config().vlm);
    }
    if (shape_.max_encoded > 0) {
      encoded_.push_back({.first_row = first,
                          .rows = count,
                          .first_position = sequence.encoder_size - 1,
                          .blocks = sequence.encoder_blocks});
    }
    ids_.insert(ids_.end(), sequence.tokens.begin(), sequence.tokens.end());
    const auto own = drafts.first(static_cast<std::size_t>(sequence.own_drafts));
    ids_.insert(ids_.end(), own.begin(), own.end());
    drafts = drafts.subspan(own.size());
    for (Index i = 0; i < count; ++i) {
      places_.positions.push_back(sequence.first_position + i);
      if (i >= sequence.logits_from) {
        wanted_.push_back(first + i);
      }
    }
  }
}

/// Block b lies at the rank b % ranks, as its block b / ranks.
void StepRunner::take_own_blocks() {
  own_blocks_.clear();
  for (const kernels::CachedPiece& piece : pieces_) {
    for (const Index block : piece.blocks) {
      own_blocks_.push_back(block % sharers() == sharers_->rank() ? block / sharers() : -1);
    }
  }
  std::size_t begin = 0;
  for (kernels::CachedPiece& piece : pieces_) {
    piece.blocks = std::span(own_blocks_).subspan(begin, piece.blocks.size());
    begin += piece.blocks.size();
  }
}

/// The last pieces are filled up with rows that nobody looks at.
void StepRunner::take_own_rows() {
  const Index rows = piece_of(static_cast<Index>(ids_.size()));
  for (std::vector<std::int64_t>* values : {&ids_, &places_.positions}) {
    values->resize(static_cast<std::size_t>(rows * sharers()), 0);
    const auto first = values->begin() + sharers_->rank() * rows;
    std::copy(first, first + rows, values->begin());
    values->resize(static_cast<std::size_t>(rows));
  }
  const Index begin = sharers_->rank() * rows;
  for (autograd::AdaptedRows& each : adapters_.rows) {
    each.first = std::clamp(each.first - begin, Index{0}, rows);
    each.end = std::clamp(each.end - begin, Index{0}, rows);
  }
  std::erase_if(adapters_.rows, [](const auto& each) { return each.first == each.end; });
}

/// Blocks are handed out from the first one on, so memory is needed up to the last in use.
void StepRunner::prepare_cache() {
  Index used = 0;
  for (const auto* pieces : {&pieces_, &encoded_}) {
    for (const kernels::CachedPiece& piece : *pieces) {
      for (const Index block : piece.blocks) {
        used = std::max(used, block + 1);
      }
    }
  }
  cache_.prepare(used);
}

/// Pieces that the ranks share have rows for all of them.
Tensor StepRunner::table_of(std::span<const kernels::CachedPiece> pieces, bool causal) {
  Index rows = 0;
  for (const kernels::CachedPiece& piece : pieces) {
    rows += piece.rows;
  }
  return piece_table(device_, pieces, piece_of(rows) * sharers(), causal, table_);
}

models::Batch StepRunner::batch_of_rows(const Tensor& positions) {
  const auto count = static_cast<Index>(ids_.size());
  models::Batch batch{{models::kPositionIds, positions.reshape({count, 1})}};
  images_.place_rows(ids_, batch);
  if (places_.axes.has_images()) {
    batch[models::kAxisPlaces] = places_.axes.on_device(device_);
  }
  batch[models::kTokens] = on_device(device_, ids_).reshape({count, 1});
  return batch;
}

/// One sequence at a time: its positions see each other.
void StepRunner::encode(const SequenceStep& sequence) {
  const kernels::CachedPiece piece{.rows = static_cast<Index>(sequence.encoder_tokens.size()),
                                   .blocks = sequence.encoder_blocks};
  ids_.assign(sequence.encoder_tokens.begin(), sequence.encoder_tokens.end());
  places_.positions.resize(ids_.size());
  std::iota(places_.positions.begin(), places_.positions.end(), 0);
  const autograd::CachedPass pass{.encodes = true,
                                  .cache = cache_,
                                  .states = states_,
                                  .weights = weights(),
                                  .pieces = std::span(&piece, 1),
                                  .positions = on_device(device_, places_.positions),
                                  .table = table_of(std::span(&piece, 1), true)};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  model_.encode(context, batch_of_rows(pass.positions));
}

/// Copies of blocks and states come before the plan's rows, which may write where they were.
void StepRunner::copy_places(const StepPlan& plan) {
  for (const PlaceCopy& copy : plan.block_copies) {  // both lie at one rank
    if (sharers() == 1 || copy.from % sharers() == sharers_->rank()) {
      cache_.copy_block(copy.from / sharers(), copy.to / sharers());
    }
  }
  for (const PlaceCopy& copy : plan.state_copies) {
    states_.copy(copy.from, copy.to);
  }
}

Var StepRunner::run(const StepPlan& plan, const Var& input) {
  copy_places(plan);
  for (const SequenceStep& sequence : plan.sequences) {
    if (!sequence.encoder_tokens.empty()) {
      encode(sequence);
    }
  }
  drafted_.clear();
  if (heads_) {
    heads_->draft(plan, drafted_);
  }
  collect(plan.sequences);
  if (ids_.empty()) {
    return {};
  }
  if (sharers() > 1) {
    take_own_blocks();
    take_own_rows();
  }
  prepare_cache();
  std::vector<kernels::CachedPiece> chunked;
  if (const auto& chunk = model_.config().attention_chunk_size) {
    chunked = pieces_of_chunks(pieces_, *chunk, shape_.block_size);
  }
  const autograd::CachedPass pass{.cache = cache_,
                                  .states = states_,
                                  .weights = weights(),
                                  .pieces = pieces_,
                                  .encoded = encoded_,
                                  .chunked = chunked,
                                  .positions = on_device(device_, places_.positions),
                                  .table = table_of(pieces_, true),
                                  .encoded_table = table_of(encoded_, false),
                                  .chunked_table = table_of(chunked, true),
                                  .adapted = adapters_.rows,
                                  .known = adapters_.known};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  const Var hidden = model_.hidden(context, batch_of_rows(pass.positions), input);
  if (heads_) {
    heads_->learn(plan, drafted_, hidden.value);
  }
  return hidden;
}

/// Rows in the order of the plan; only those that are wanted go through the output layer.
std::span<const float> StepRunner::logits(const Var& hidden) {
  if (wanted_.empty()) {
    return {};
  }
  const autograd::CachedPass pass{
      .cache = cache_, .states = states_, .weights = weights(), .pieces = {}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  const Tensor all_rows =
      sharers() > 1 ? ops::join_first(context, hidden.value, *sharers_) : hidden.value;
  const Tensor rows =
      ops::take_rows(context, ops::fold_rows(all_rows), on_device(device_, wanted_));
  return on_host(numbers_of(context, rows));
}

/// The output layer's numbers of rows [t, h] in fp32, which is what is drawn from.
Tensor StepRunner::numbers_of(autograd::Context& context, const Tensor& rows) {
  const Tensor all =
      model_
          .output(context, autograd::constant(rows.reshape({rows.shape()[0], 1, rows.shape()[1]})))
          .value;
  if (all.dtype() == DType::f32) {
    return all;
  }
  const Tensor numbers = context.empty(all.shape(), DType::f32);
  context.launch(kernels::Cast{.x = all.view(), .y = numbers.view()});
  return numbers;
}

std::span<const float> StepRunner::on_host(const Tensor& logits) {
  logits_ = tensor::to_host(device_, logits);
  return {logits_.data<float>(), static_cast<std::size_t>(logits_.numel())};
}

/// The pass of a recorded step: it reads what changes from step to step in the device's memory
/// alone, and neither waits nor copies.
Tensor StepRunner::decode(const DecodeGraphs::Rows& rows) {
  const autograd::CachedPass pass{.cache = cache_,
                                  .states = states_,
                                  .weights = weights(),
                                  .pieces = rows.pieces,
                                  .chunked = rows.chunked,
                                  .positions = rows.positions,
                                  .table = rows.table,
                                  .chunked_table = rows.chunked_table};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  const Index count = rows.ids.numel();
  const models::Batch batch{{models::kPositionIds, rows.positions.reshape({count, 1})},
                            {models::kTokens, rows.ids.reshape({count, 1})}};
  return numbers_of(context, ops::fold_rows(model_.hidden(context, batch, {}).value));
}

std::span<const float> StepRunner::step(const StepPlan& plan) {
  if (!graphs_ || !DecodeGraphs::serves(plan)) {
    return logits(run(plan));
  }
  copy_places(plan);
  drafted_.clear();
  const Tensor all = graphs_->run(plan, [this](const auto& rows) { return decode(rows); });
  return on_host(all.slice(0, 0, static_cast<Index>(plan.sequences.size())));
}

}  // namespace mpitron::inference
