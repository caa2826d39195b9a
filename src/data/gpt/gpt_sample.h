#pragma once
#include <cstdint>
#include <span>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Options by which tokens become inputs, labels and masks (Megatron's flags of the same names).
struct GptSampleOptions {
  Index seq_length = 0;
  bool add_extra_token = true;
  bool reset_position_ids = false;
  bool reset_attention_mask = false;
  bool inter_document_masking = false;  // by the documents of the index, not by eod
  bool eod_mask_loss = false;
  bool create_attention_mask = false;
  std::int64_t eod = -1;
  std::int64_t pad = -1;  // -1: the tokenizer has none

  Index text_length() const { return seq_length + (add_extra_token ? 1 : 0); }
};

/// The rows of a batch that one sample fills.
struct GptSample {
  std::span<std::int64_t> tokens;        // [s]
  std::span<std::int64_t> labels;        // [s]
  std::span<float> loss_mask;            // [s], 0 or 1
  std::span<std::int64_t> position_ids;  // [s]
  std::span<std::uint8_t>
      attention_mask;  // [s, s], 1 = masked; empty without create_attention_mask
};

/// Fills a row of a batch. `text` holds `options.text_length()` tokens.
void make_gpt_sample(std::span<const std::int64_t> text, const GptSampleOptions& options,
                     const GptSample& out);

/// Separates the documents of a sample, which begin at these positions, in rising order from 0:
/// positions count anew in each, and its tokens see only their own.
void separate_documents(std::span<const Index> begins, const GptSample& out);

/// Returns the largest id as an unsigned number: a negative token is larger than any vocabulary. 0
/// of no tokens.
std::uint64_t largest_token(std::span<const std::int64_t> tokens);

}  // namespace mpitron::data
