#pragma once
#include <cstdint>
#include <span>

#include "models/gpt_model.h"

namespace mpitron::train {

/// A microbatch as the data layer hands it out: rows are samples. A rank that does not read data
/// knows only its position and size.
struct HostMicrobatch {
  Index samples = 0;                             // b
  Index sequence_length = 0;                     // s
  std::span<const std::int64_t> tokens;          // [b, s]
  std::span<const std::int64_t> labels;          // [b, s]
  std::span<const std::int64_t> position_ids;    // [b, s]
  std::span<const float> loss_mask;              // [b, s]
  std::span<const std::uint8_t> attention_mask;  // [b, s, s], 1 = hidden; empty: causal
  Index first_sample = 0;                        // global index of row 0
};

/// The same on the device, sequence first.
struct DeviceMicrobatch {
  Index samples = 0;          // b
  Index sequence_length = 0;  // s
  models::GptBatch batch;
  tensor::Tensor loss_mask;  // [s, b], fp32
  double loss_tokens = 0;    // sum of the mask
  Index first_sample = 0;
};

/// Transposes to [s, b] and moves to the device.
DeviceMicrobatch upload(device::Device& device, const HostMicrobatch& microbatch);

}  // namespace mpitron::train
