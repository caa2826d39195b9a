#pragma once
#include <cstdint>
#include <span>

#include "models/model.h"

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

/// The same on the device, sequence first; of each sequence, what this rank has of it.
struct DeviceMicrobatch {
  Index samples = 0;          // b
  Index sequence_length = 0;  // s, of this rank
  Index whole_length = 0;     // of the sequences: the columns of attention_mask
  SequenceMap positions;      // global ones of s
  models::Batch batch = {};
  Index first_sample = 0;
};

/// A rank's place in its context parallel group.
struct ContextPlace {
  Index ranks = 1, rank = 0;
};

/// Transposes to [s, b] and moves to the device what this rank has of the sequences: its zigzag
/// slice; of an attention mask those rows.
DeviceMicrobatch upload(device::Device& device, const HostMicrobatch& microbatch,
                        const ContextPlace& place = {});

}  // namespace mpitron::train
