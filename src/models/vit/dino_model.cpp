// Trains DINO's student and moves its teacher. The teacher runs without gradient and its weights
// follow the student's after each update; the centre is averaged over all replicas.
#include "models/vit/dino_model.h"

#include "models/vit/dino_batch.h"
#include "models/vit/dino_schedule.h"
#include "models/vit/vit_batch.h"
#include "ops/elementwise/reshape.h"
#include "ops/loss/soft_targets.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "tensor/host_copy.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

namespace {

constexpr double kStudentTemperature = 0.1;
constexpr double kCentreMomentum = 0.9;
constexpr std::uint64_t kLocalCrops = 0x4C4F43414C;  // of the seed of their dropout

/// Returns the context of the student's pass over so many crops of each image.
Context with_crops(Context context, Index crops, std::uint64_t seed) {
  context.seed ^= seed;
  context.position.first_sample *= crops;
  return context;
}

}  // namespace

DinoModel::DinoModel(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share), NoWords{}),
      student_(builder("student.backbone."), part()),
      teacher_(builder("teacher.backbone."), part()),
      student_head_(builder("student.head."), *config.vision.dino),
      teacher_head_(builder("teacher.head."), *config.vision.dino),
      centre_(builder("teacher.dino_loss.").buffer("center", config.vision.dino->outputs)) {
  constexpr std::string_view kTeacher = "teacher.";
  for (autograd::Parameter& parameter : parameters()) {
    if (parameter.name.starts_with(kTeacher)) {
      parameter.role.frozen = true;
      parameter.role.average_of =
          parameters().find("student." + parameter.name.substr(kTeacher.size()));
    }
  }
}

Batch DinoModel::batch(const HostMicrobatch& microbatch, const SequenceSlice& /*slice*/) const {
  return dino_batch(device(), microbatch, config().vision);
}

std::span<const std::string_view> DinoModel::batch_fields() const {
  return dino_fields();
}

Var DinoModel::features(Context& context, const VitBackbone& backbone, const Batch& images) const {
  Var x = backbone.forward(context, images, {});
  if (tensor_parallel().cuts_sequence()) {
    x = ops::replicate_from_sp(context, x, *groups().tensor);
  }
  x = ops::take_rows(context, x, 0, 1);
  return ops::reshape(context, x, {x.shape()[1], x.shape()[2]});
}

Var DinoModel::hidden(Context& context, const Batch& batch, const Var& /*input*/) const {
  Context large = with_crops(context, 2, 0);
  Var all = features(large, student_, batch);
  if (const Index locals = config().vision.dino->local_crops; locals > 0) {
    Context small = with_crops(context, locals, kLocalCrops);
    const Batch crops{{kPatches, batch[kLocalPatches]}, {kPositionIds, batch[kLocalPositions]}};
    all = ops::join_rows(context, all, features(small, student_, crops));
  }
  return student_head_.forward(context, all);
}

Var DinoModel::logits(Context& context, const Batch& batch, const Var& /*input*/) const {
  const Var rows =
      batch[kTeacherRows] ? hidden(context, batch) : features(context, teacher_, batch);
  return ops::reshape(context, rows, {1, rows.shape()[0], rows.shape()[1]});
}

Tensor DinoModel::taught(Context& context, const Batch& batch) const {
  Context quiet{.device = context.device,
                .mode = autograd::Mode::evaluate,
                .seed = context.seed,
                .iteration = context.iteration,
                .position = context.position};
  return teacher_head_.forward(quiet, features(quiet, teacher_, batch)).value;
}

std::vector<Objective> DinoModel::objectives(Context& context, const Batch& batch,
                                             const Var& /*input*/) const {
  const Tensor outputs = taught(context, batch);
  const double temperature =
      teacher_temperature(*config().vision.dino, static_cast<Index>(context.iteration) - 1);
  const Tensor probabilities = ops::sharp_softmax(context, outputs, running_centre_, temperature);
  const Var said = hidden(context, batch);
  const Var losses = ops::soft_cross_entropy(context, said, {probabilities, batch[kTeacherRows]},
                                             kStudentTemperature);
  if (context.training()) {
    ops::move_centre(context, running_centre_, outputs, *groups().data, kCentreMomentum);
  }
  return {{.losses = losses, .mask = batch[kLossMask], .count = batch.loss_tokens}};
}

void DinoModel::begin_step(Index iteration) {
  const bool held = last_layer_is_held(*config().vision.dino, iteration - 1);
  for (autograd::Parameter& parameter : parameters()) {
    parameter.role.held = held && parameter.name.starts_with("student.head.last_layer.");
  }
  running_centre_ = Tensor::empty(device(), centre_.value.shape(), DType::f32);
  tensor::copy_bytes(device(), centre_.value, running_centre_);
}

void DinoModel::end_step() {
  tensor::copy_bytes(device(), running_centre_, centre_.value);
}

double DinoModel::average_momentum(Index iteration) const {
  return teacher_momentum(*config().vision.dino, iteration - 1);
}

}  // namespace mpitron::models
