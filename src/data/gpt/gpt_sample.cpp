#include "data/gpt/gpt_sample.h"

#include <algorithm>
#include <numeric>

#include "utils/check.h"

// From the tokens of a sample to a row of a batch: labels, loss mask, positions and attention mask
// by Megatron's options.

namespace mpitron::data {
namespace {

/// Lets row i see keys from `start` to i. `start` moves behind every eod when the mask is reset.
void fill_attention_mask(const GptSampleOptions& options, const GptSample& out) {
  const auto s = static_cast<std::size_t>(options.seq_length);
  std::size_t start = 0;
  for (std::size_t i = 0; i < s; ++i) {
    const auto row = out.attention_mask.subspan(i * s, s);
    std::fill_n(row.begin(), start, std::uint8_t{1});
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(start),
              row.begin() + static_cast<std::ptrdiff_t>(i + 1), std::uint8_t{0});
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(i + 1), row.end(), std::uint8_t{1});
    if (options.reset_attention_mask && out.tokens[i] == options.eod) {
      start = i + 1;
    }
  }
}

/// Counts positions; with --reset-position-ids every document counts from 0, and the end of a
/// document belongs to it.
void fill_position_ids(const GptSampleOptions& options, const GptSample& out) {
  if (!options.reset_position_ids) {
    std::iota(out.position_ids.begin(), out.position_ids.end(), std::int64_t{0});
    return;
  }
  std::int64_t position = 0;
  for (std::size_t i = 0; i < out.tokens.size(); ++i) {
    out.position_ids[i] = position++;
    if (out.tokens[i] == options.eod) {
      position = 0;
    }
  }
}

/// Writes the loss mask, and the token 0 for padding, which ends no document. Plain pointers and
/// values: the compiler makes vectors of them.
void mask_padding(const GptSampleOptions& options, const GptSample& out) {
  const std::size_t s = out.tokens.size();
  std::int64_t* const tokens = out.tokens.data();
  std::int64_t* const labels = out.labels.data();
  float* const mask = out.loss_mask.data();
  const std::int64_t pad = options.pad;
  const std::int64_t eod = options.eod;
  const bool mask_eod = options.eod_mask_loss;
  for (std::size_t i = 0; i < s; ++i) {
    const std::int64_t token = tokens[i];
    const std::int64_t label = labels[i];
    mask[i] = (mask_eod & (token == eod)) | (label == pad) ? 0.0f : 1.0f;
    tokens[i] = token == pad ? 0 : token;
    labels[i] = label == pad ? 0 : label;
  }
}

}  // namespace

/// Fills a row; labels are the tokens one later.
void make_gpt_sample(std::span<const std::int64_t> text, const GptSampleOptions& options,
                     const GptSample& out) {
  const auto s = static_cast<std::size_t>(options.seq_length);
  MPITRON_CHECK(text.size() == static_cast<std::size_t>(options.text_length()), text.size());
  std::copy_n(text.begin(), s, out.tokens.begin());
  std::copy(text.begin() + 1, text.end(), out.labels.begin());
  if (!options.add_extra_token) {
    out.labels[s - 1] = options.pad;  // the last input has no successor
  }
  fill_position_ids(options, out);
  if (options.create_attention_mask) {
    fill_attention_mask(options, out);
  }
  mask_padding(options, out);  // ends of documents are found above
}

/// Lets a document see nothing of those before it, and count from 0.
void separate_documents(std::span<const Index> begins, const GptSample& out) {
  const std::size_t s = out.tokens.size();
  for (std::size_t document = 0; document < begins.size(); ++document) {
    const auto begin = static_cast<std::size_t>(begins[document]);
    const std::size_t end =
        document + 1 < begins.size() ? static_cast<std::size_t>(begins[document + 1]) : s;
    std::iota(out.position_ids.begin() + static_cast<std::ptrdiff_t>(begin),
              out.position_ids.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
    for (std::size_t i = begin; i < end && !out.attention_mask.empty(); ++i) {
      std::ranges::fill(out.attention_mask.subspan(i * s, begin), std::uint8_t{1});
    }
  }
}

/// Compares as unsigned numbers, so that a negative id is larger than any vocabulary.
std::uint64_t largest_token(std::span<const std::int64_t> tokens) {
  std::uint64_t largest = 0;
  for (const std::int64_t token : tokens) {
    largest = std::max(largest, static_cast<std::uint64_t>(token));
  }
  return largest;
}

}  // namespace mpitron::data
