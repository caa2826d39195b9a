#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"
#include "models/base/model.h"

namespace mpitron::convert {

/// Scores of the next token behind every position, or of an image's classes: [rows, columns],
/// row-major.
struct Logits {
  Index rows = 0, columns = 0;
  std::vector<float> values;
};

/// Returns reproducible tokens, none of them padding; at most as many as the model has positions.
/// A model of images is asked about one that is always the same, and has no prompt.
std::vector<std::int64_t> make_prompt(Index length, const ModelDescription& description);

/// Returns the whole model on this rank, without values.
std::unique_ptr<models::Model> make_model(const config::ModelConfig& config,
                                          device::Device& device);

/// Returns the whole model with the values of these tensors.
std::unique_ptr<models::Model> load_model(const config::ModelConfig& config, device::Device& device,
                                          TensorSource& ours);

/// Gives a rank's part of a model on `device` the values of these tensors, of which it takes its
/// shards. What has no memory yet gets it. `loaded`: is told of each parameter that has its value.
void load_values(device::Device& device, models::Model& model, TensorSource& ours,
                 const std::function<void(autograd::Parameter&)>& loaded = {});

/// Computes the logits of one sequence (of BERT the masked words'; T5's decoder reads what its
/// encoder reads) over the padded vocabulary, on the host by the model that the tensors make. The
/// whole model is in memory. Kokkos must run (device::HostRuntime).
Logits model_logits(const ModelDescription& description, TensorSource& ours,
                    const std::vector<std::int64_t>& prompt);

/// Returns the largest absolute difference in the first `columns` columns; values that are not
/// finite are infinitely far from everything.
double largest_difference(const Logits& a, const Logits& b, Index columns);

}  // namespace mpitron::convert
