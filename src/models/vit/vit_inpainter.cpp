// Paints masked patches by a linear layer over each position. The loss counts masked pixels only.
#include "models/vit/vit_inpainter.h"

#include "models/vit/image_quality.h"
#include "models/vit/vit_batch.h"
#include "ops/elementwise/cast.h"
#include "ops/linear/linear.h"
#include "ops/loss/row_error.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "tensor/host_copy.h"

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

/// A number that is told and not trained.
Objective told(Context& context, double value) {
  const tensor::Tensor number = tensor::empty_on_host(context.device, {1}, DType::f32);
  number.data<float>()[0] = static_cast<float>(value);
  return {.losses = autograd::constant(tensor::to_device(context.device, number)),
          .mask = {},
          .count = 1};
}

}  // namespace

VitInpainter::VitInpainter(const config::ModelConfig& config, device::Device& device, Share share)
    : Model(config, device, std::move(share), NoWords{}), backbone_(builder("backbone."), part()) {
  if (part().has_output) {
    const Index width = config.vision.patch_width();
    const nn::Builder decoder = builder("linear_decoder.");
    weight_ = &decoder.parameter("weight", {width, config.hidden_size}, {}, {});
    bias_ = decoder.bias("bias", width, true);
  }
}

std::vector<ObjectiveTraits> VitInpainter::objective_traits() const {
  std::vector<ObjectiveTraits> traits = {{.name = "loss", .mean_of_means = true},
                                         {.name = "psnr", .mean_of_means = true}};
  if (config().vision.image_height >= kSsimWindow) {
    traits.push_back({.name = "ssim", .mean_of_means = true});
  }
  return traits;
}

Batch VitInpainter::batch(const HostMicrobatch& microbatch, const SequenceSlice& /*slice*/) const {
  return vit_batch(device(), microbatch, config().vision);
}

std::span<const std::string_view> VitInpainter::batch_fields() const {
  return vit_fields();
}

Var VitInpainter::hidden(Context& context, const Batch& batch, const Var& input) const {
  return backbone_.forward(context, batch, input);
}

Var VitInpainter::logits(Context& context, const Batch& batch, const Var& input) const {
  Var x = hidden(context, batch, input);
  if (tensor_parallel().cuts_sequence()) {
    x = ops::replicate_from_sp(context, x, *groups().tensor);
  }
  return ops::linear(context, x, *weight_, bias_);
}

std::vector<Objective> VitInpainter::objectives(Context& context, const Batch& batch,
                                                const Var& input) const {
  const Var painted = logits(context, batch, input);
  const double pixels = static_cast<double>(config().vision.patch * config().vision.patch);
  // Masked patches are counted, the loss is a mean over masked pixels.
  std::vector<Objective> result = {
      {.losses = ops::row_error(context, painted, batch[kTargetPatches], 1 / pixels),
       .mask = batch[kLossMask],
       .count = batch.loss_tokens}};
  const tensor::Tensor seen = ops::converted(context, painted.value, DType::f32);
  const ImageQuality quality =
      image_quality({.painted = tensor::to_host(device(), seen),
                     .target = tensor::to_host(device(), batch[kTargetPatches]),
                     .mask = tensor::to_host(device(), batch[kLossMask])},
                    config().vision);
  result.push_back(told(context, quality.psnr));
  if (quality.ssim) {
    result.push_back(told(context, *quality.ssim));
  }
  return result;
}

}  // namespace mpitron::models
