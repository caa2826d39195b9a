#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/gpt/dataset.h"
#include "data/labelled/labelled_texts.h"

namespace mpitron::data {

/// The tokens of the texts of one sample: rows of an encoder's length each.
struct LabelledRows {
  std::vector<std::int64_t> tokens, token_types, padding_mask;  // [choices, s]
  std::vector<std::int64_t> last_tokens;                        // [choices], their positions
  double label = 0;
};

/// Labelled texts as tokens. An encoder gets [CLS] A [SEP] B [SEP], types 0 up to the first [SEP]
/// and 1 behind it. A decoder gets A eod B eod, whose last position says what is asked. Longer ones
/// are cut at their end, which the last token then replaces.
class LabelledDataset final : public Dataset {
 public:
  struct Options {
    Index length = 0;            // s
    Index choices = 1;           // texts of a sample
    Index longest_choice = 128;  // tokens of a choice's first text, as the reference has it
    bool encoder = true;
    std::int64_t cls = 0, sep = 0, pad = 0;  // of an encoder
    std::int64_t eod = 0;                    // of a decoder
    /// Ids of a text; may be called from several threads.
    std::function<std::vector<std::int64_t>(std::string_view)> encode;
  };
  LabelledDataset(std::string description, std::vector<LabelledText> texts, Options options);

  Index size() const override { return static_cast<Index>(texts_.size()); }
  /// Writes the tokens of the first text.
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  const std::string& description() const override { return description_; }

  const Options& options() const { return options_; }
  const LabelledText& text(Index sample) const { return texts_[static_cast<std::size_t>(sample)]; }
  /// Replaces `rows` by those of a sample.
  void read_sample(Index sample, LabelledRows& rows) const;

 private:
  void write_pair(const TextPair& pair, LabelledRows& rows) const;

  std::string description_;
  std::vector<LabelledText> texts_;
  Options options_;
};

}  // namespace mpitron::data
