#pragma once
#include <cmath>

#include "autograd/cached_pass.h"
#include "inference/engine_interface.h"
#include "models/gpt/gpt_model.h"
#include "tensor/host_fill.h"
#include "utils/text/hash.h"

namespace mpitron::test {

/// A small model with the low-rank updates number 1 (of all layers), 2 (of some) or 3 (rank 1).
inline config::ModelConfig with_updates(config::ModelConfig config, Index number) {
  using Names = std::vector<std::string>;
  config.lora = config::LoraConfig{
      .rank = 4 - number,
      .alpha = 3,
      .target_modules = number == 2 ? Names{"q_proj", "v_proj", "down_proj", "out_proj"}
                        : config.multi_latent_attention
                            ? Names{"q_a_proj", "q_b_proj", "q_proj", "kv_a_proj_with_mqa",
                                    "kv_b_proj", "o_proj", "up_proj"}
                            : Names{"all-linear"}};
  return config;
}

/// Such a model, or a rank's share of it, whose second factors are not zero; equal on all ranks.
struct UpdatedModel {
  UpdatedModel(const config::ModelConfig& base, device::Device& device, models::Model::Share share,
               Index number)
      : parameters(share.parameters),
        model(with_updates(base, number), device, std::move(share)),
        adapter_number(number) {
    model.initialize();
    for (autograd::Parameter& parameter : *parameters) {
      if (parameter.role.low_rank && parameter.name.ends_with("lora_B.weight")) {
        fill(device, parameter);
      }
    }
  }
  UpdatedModel(const config::ModelConfig& base, device::Device& device, Index number)
      : UpdatedModel(base, device,
                     {.groups = comm::groups_of_one(*comm::make_single_world()),
                      .part = nn::whole_model(base)},
                     number) {}

  inference::AdapterHandle adapter(device::Device& device) const {
    std::map<std::string, autograd::Adapter::Factors> factors;
    for (const autograd::Parameter& parameter : *parameters) {
      if (parameter.role.low_rank) {
        const std::size_t at = parameter.name.find("lora_");
        const std::string module = config::module_name(parameter.name.substr(0, at));
        auto& of_module = factors[module];
        (parameter.name.compare(at, 6, "lora_A") == 0 ? of_module.a : of_module.b) = &parameter;
        of_module.scale = model.config().lora->update_of(module)->scale;
      }
    }
    return std::make_shared<autograd::Adapter>(device, DType::f32, adapter_number, parameters,
                                               std::move(factors));
  }

  std::shared_ptr<autograd::ParameterList> parameters;
  models::GptModel model;
  Index adapter_number;

 private:
  void fill(device::Device& device, autograd::Parameter& parameter) const {
    const tensor::Shard& shard = parameter.placement.shard;
    const Index columns = parameter.value.shape()[1];
    const double phase = static_cast<double>(hash64(parameter.name) % 1000);
    tensor::fill(device, parameter.value, [&](const device::TensorView& to) {
      for (Index i = 0; i < to.numel(); ++i) {
        const Index row = shard.whole() ? i / columns : shard.global(i / columns);
        static_cast<float*>(to.data)[i] = static_cast<float>(
            0.2 * std::sin(phase + 1.7 * static_cast<double>(row * columns + i % columns) +
                           static_cast<double>(adapter_number)));
      }
    });
  }
};

}  // namespace mpitron::test
