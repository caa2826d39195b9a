#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "config/run_config.h"
#include "models/model.h"
#include "utils/numbers/random_key.h"

namespace mpitron::train {

/// What the microbatches of a run hold beside tokens, positions, labels and their mask.
struct MicrobatchParts {
  bool attention_mask = false;  // [b, s, s]
  bool padding = false;         // hidden from every query
  bool token_types = false;
  bool sentence_order = false;
  Index decoder_length = 0;                                   // d, of an encoder-decoder; else 0
  std::optional<config::VisionConfig> images = std::nullopt;  // instead of tokens
  std::optional<config::VlmConfig> vlm = std::nullopt;        // images between tokens
  std::optional<config::TextHead> head = std::nullopt;        // labels of whole texts

  /// Masks concern stages that neither embed nor have the output, too.
  bool masks() const { return attention_mask || padding; }
};
MicrobatchParts microbatch_parts(const config::RunConfig& config);

/// A microbatch as the data layer hands it out: rows are samples. A rank that does not read data
/// knows only its position and size.
struct HostMicrobatch {
  Index samples = 0;                             // b
  Index sequence_length = 0;                     // s
  std::span<const std::int64_t> tokens;          // [b, s]
  std::span<const std::int64_t> labels;          // [b, s]; of an encoder-decoder [b, d]
  std::span<const std::int64_t> position_ids;    // [b, s]; empty: 0, 1, 2, ...
  std::span<const float> loss_mask;              // like labels
  std::span<const std::uint8_t> attention_mask;  // [b, s, s], 1 = hidden; empty: none is
  Index first_sample = 0;                        // global index of row 0
  // Padded samples (BERT, T5); padding masks are 1 for a token.
  std::span<const std::int64_t> padding_mask = {};          // [b, s]
  std::span<const std::int64_t> token_types = {};           // [b, s]
  std::span<const std::int64_t> sentence_order = {};        // [b], 1: the parts are swapped
  std::span<const std::int64_t> decoder_tokens = {};        // [b, d]
  std::span<const std::int64_t> decoder_padding_mask = {};  // [b, d]
  // Labelled texts, of which so many are a sample; labels, scores and loss_mask are [b / choices]
  Index choices = 0;                               // 0: labels are of positions
  std::span<const float> scores = {};              // of a head that says a number
  std::span<const std::int64_t> last_tokens = {};  // [b], of a decoder: the positions that are read
  // Images, whose labels and loss_mask are [b]
  std::span<const float> pixels = {};            // [b, 3, height, width]
  std::span<const float> patch_mask = {};        // [b, n], 1 = masked; to inpaint only
  const config::VisionConfig* vision = nullptr;  // how they are cut
  // Images between tokens, which are [b, t] as are labels and loss_mask; pixels are of all tiles
  std::span<const std::int64_t> images_per_row = {};   // [b]
  std::span<const std::int64_t> tiles_per_image = {};  // in the order of the rows
  const config::VlmConfig* vlm = nullptr;
};

/// The same on the device, sequence first; of each sequence, what this rank has of it.
struct DeviceMicrobatch {
  Index samples = 0;          // b
  Index sequence_length = 0;  // s, of this rank
  Index whole_length = 0;     // of the sequences: the columns of attention_mask
  SequenceMap positions;      // global ones of s
  models::Batch batch = {};
  Index first_sample = 0;
  const StepNumbers* replayed = nullptr;  // autograd::SamplePosition
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
