#include "train/parity/small_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

// The runs of a comparison of layouts: a small one in place of the user's, and the same on one
// rank.

namespace mpitron::train {
namespace {

constexpr Index kVocabulary = 96;
constexpr Index kHeadDimension = 8;
constexpr Index kPatch = 4, kPatches = 16, kPatchesOfCrop = 4;

Index rounded_up(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

/// Schedules that change with every iteration, and a last layer that is held in the first one at
/// most. Small crops have fewer patches than an image where tensor ranks can share them. The head
/// is wide: weights of 0.02 would leave rows close to zero in a narrow one, and to bring them to
/// unit length would magnify roundings.
config::DinoConfig scaled_down(config::DinoConfig dino, Index tensor) {
  const bool smaller = (kPatches - kPatchesOfCrop) % tensor == 0;
  dino.local_size = (smaller ? 2 : 4) * kPatch;
  dino.local_crops = std::min<Index>(dino.local_crops, 3);
  dino.head_hidden_size = 512;
  dino.bottleneck_size = 64;
  dino.outputs = 24;
  dino.iterations_per_epoch = 1;
  dino.iterations = kParityIterations;
  dino.frozen_epochs = std::min(dino.frozen_epochs, 1.);
  dino.temperature_epochs = std::min<Index>(dino.temperature_epochs, 2);
  return dino;
}

/// Images of 16 patches, with as many class tokens as tensor ranks can share together with them.
config::VisionConfig scaled_down(config::VisionConfig vision, Index tensor) {
  vision.patch = kPatch;
  vision.image_height = vision.image_width = 4 * kPatch;
  vision.class_tokens = vision.class_tokens > 0 ? rounded_up(24, tensor) - kPatches : 0;
  vision.classes = std::min<Index>(vision.classes, 10);
  if (vision.dino) {
    vision.dino = scaled_down(*vision.dino, tensor);
  }
  return vision;
}

/// Tiles of four patches, or sixteen that are pooled or merged to four, and texts that leave room
/// for two of them.
config::VlmConfig scaled_down(config::VlmConfig vlm, Index tensor, Index seq_length) {
  vlm.patch = 4;
  vlm.tile = vlm.projector == config::ProjectorKind::pooled || vlm.pixel_shuffle ? 16 : 8;
  vlm.pooled_positions = 4;
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

/// Keeps two replicas, or as many as hold one of all experts.
void keep_few_replicas(config::ParallelConfig& p) {
  const Index model =
      p.tensor_model_parallel_size * p.pipeline_model_parallel_size * p.context_parallel_size;
  const Index experts =
      p.expert_tensor_parallel_size * p.expert_model_parallel_size * p.pipeline_model_parallel_size;
  p.data_parallel_size =
      std::min<Index>(p.data_parallel_size, 2 * std::lcm(model, experts) / model);
  p.num_distributed_optimizer_instances =
      std::min(p.num_distributed_optimizer_instances, p.data_parallel_size);
  p.world_size = model * p.data_parallel_size;
}

void make_small(config::ModelConfig& m, const config::ParallelConfig& p) {
  const Index tensor = p.tensor_model_parallel_size;
  m.kv_channels = kHeadDimension;
  m.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDimension));
  m.hidden_size = rounded_up(64, tensor);
  if (!m.mrope_section.empty()) {
    m.mrope_section = {kHeadDimension / 2 - 2, 1, 1};
  }
  m.ffn_hidden_size = rounded_up(128, tensor);
  m.seq_length = rounded_up(16, 2 * tensor * p.context_parallel_size);
  if (m.family().encoder_decoder) {
    m.decoder_seq_length = rounded_up(8, tensor);
  }
  if (!m.family().has_words()) {
    m.vision = scaled_down(m.vision, tensor);
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
}

}  // namespace

config::RunConfig small_run(config::RunConfig run) {
  keep_few_replicas(run.parallel);
  make_small(run.model, run.parallel);

  config::TrainingConfig& t = run.training;
  t.seq_length = run.model.seq_length;
  t.micro_batch_size = 1;
  // A group of microbatches for every chunk's turn, and more than one.
  t.global_batch_size =
      run.parallel.data_parallel_size * 2 * run.parallel.microbatch_group_size_per_vp_stage;
  t.train_iters = kParityIterations;
  t.rampup_batch_size.reset();

  config::OptimizerConfig& o = run.optimizer;
  o = config::OptimizerConfig{.optimizer = config::OptimizerKind::sgd, .clip_grad = o.clip_grad};
  o.lr = 0.1;
  o.lr_decay_style = config::LrDecayStyle::constant;
  o.lr_decay_steps = o.wd_incr_steps = t.global_batch_size * kParityIterations;
  o.accumulate_allreduce_grads_in_fp32 = true;
  return run;
}

config::RunConfig on_one_rank(config::RunConfig run) {
  if (run.model.vision.dino) {
    run.training.micro_batch_size *= run.parallel.data_parallel_size;
  }
  run.parallel = config::ParallelConfig{};
  run.model.tp_comm_overlap = run.model.distribute_saved_activations = false;
  return run;
}

}  // namespace mpitron::train
