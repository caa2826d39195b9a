#pragma once
#include <optional>
#include <vector>

#include "train/batches/microbatch.h"

namespace mpitron::train {

/// An endless corpus for runs that compare layouts: its samples follow from their numbers and have
/// all columns that a model may read. Where they are padded, some are more than others. The parts
/// are swapped in one of four: with one of two, the gradients of the two classes would be nothing
/// but rounding. Of pairs of answers, each is one half. Images are smooth, with their own class and
/// mask; texts have none, one or two of them, where they may in two texts of one row.
class MadeUpCorpus {
 public:
  explicit MadeUpCorpus(const config::ModelConfig& model);

  /// Samples [first, first + count); valid until the next call.
  HostMicrobatch rows(Index first, Index count);

 private:
  void add(Index sample);
  void add_image(Index sample);
  void add_conversation(Index sample);
  void add_pixels(Index image, Index numbers);
  std::int64_t word(Index sample, Index i) const {
    return (7 * sample + 5 * i + i * i) % vocabulary_;
  }

  config::ModelFamily family_;
  Index length_, labels_length_, vocabulary_;
  std::vector<std::int64_t> tokens_, labels_, padding_, types_, order_;
  std::vector<std::int64_t> decoder_, decoder_padding_;
  std::vector<float> mask_;
  config::VisionConfig vision_;
  std::optional<config::VlmConfig> vlm_;
  /// Of images, and where they stand in texts.
  struct Seen {
    std::vector<float> pixels, patch_mask;
    std::vector<std::int64_t> images, tiles, segments;
  } seen_;
  bool pairs_of_answers_, teacher_;
  /// Numbers that other models are made up to have said.
  struct Said {
    std::vector<float> margins, pairs, log_probs;
    std::vector<std::int64_t> words;
  } said_;
};

}  // namespace mpitron::train
