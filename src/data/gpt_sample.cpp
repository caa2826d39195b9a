#include "data/gpt_sample.h"

#include <algorithm>

#include "utils/check.h"

namespace mpitron::data {
namespace {

/// Row i sees keys from `start` to i. `start` moves behind every eod when the mask is reset.
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

void fill_position_ids(const GptSampleOptions& options, const GptSample& out) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < out.tokens.size(); ++i) {
    out.position_ids[i] = position++;
    if (options.reset_position_ids && out.tokens[i] == options.eod) {
      position = 0;
    }
  }
}

}  // namespace

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
  // Ends of documents are found above, before padding becomes the token 0.
  for (std::size_t i = 0; i < s; ++i) {
    const bool ends = options.eod_mask_loss && out.tokens[i] == options.eod;
    const bool padded = out.labels[i] == options.pad;
    out.loss_mask[i] = ends || padded ? 0.0f : 1.0f;
    out.tokens[i] = out.tokens[i] == options.pad ? 0 : out.tokens[i];
    out.labels[i] = padded ? 0 : out.labels[i];
  }
}

}  // namespace mpitron::data
