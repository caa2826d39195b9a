#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/gpt/gpt_sample.h"
#include "utils/numbers/shape.h"

// The interface of data sets of tokens: samples by number, and where in the corpora they come from.

namespace mpitron::data {

class SequenceSource;

/// Tokens of a sample that lie next to each other in a corpus.
struct SamplePiece {
  const SequenceSource* source = nullptr;  // lives as long as the data set
  Index sequence = 0;
  Index offset = 0;  // of the first token in the sequence
  Index tokens = 0;
};

/// The part that a number of samples takes from one corpus.
struct SourceShare {
  std::string name;
  Index sequences = 0;  // of this split
  Index tokens = 0;     // of them, in one epoch
  Index epochs = 0;     // that the index holds
  Index samples = 0;    // that the index holds
  Index used = 0;       // samples
  Index used_tokens = 0;
};

/// Samples of tokens in the order training consumes them. Reading from several threads is safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Number of samples.
  virtual Index size() const = 0;
  /// Fills `tokens` (sequence length, one more with the extra token); what the corpus lacks is
  /// padded.
  virtual void read(Index sample, std::span<std::int64_t> tokens) const = 0;
  /// Fills a row of a batch: what `read` gives, as the options make inputs, labels and masks of it.
  /// `text` is scratch of `options.text_length()` tokens.
  virtual void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                        const GptSample& row) const {
    read(sample, text);
    make_gpt_sample(text, options, row);
  }
  /// Returns the JSON text that identifies the data set (Megatron's unique description).
  virtual const std::string& description() const = 0;

  /// Appends the places where the tokens of a sample come from, in order, without padding. Data
  /// sets without a corpus append nothing, here and below.
  virtual void trace(Index /*sample*/, std::vector<SamplePiece>& /*pieces*/) const {}
  /// Appends the samples, in any order, that hold tokens of sequences [begin, end) of the corpus of
  /// this name.
  virtual void find(const std::string& /*name*/, Index /*begin*/, Index /*end*/,
                    std::vector<Index>& /*samples*/) const {}
  /// Appends the shares that the first `samples` samples take from each corpus.
  virtual void add_shares(Index /*samples*/, std::vector<SourceShare>& /*shares*/) const {}
};

}  // namespace mpitron::data
