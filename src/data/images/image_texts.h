#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/vision_config.h"
#include "data/gpt/dataset.h"
#include "data/gpt/sft_packing.h"
#include "data/images/bad_samples.h"
#include "data/images/image_conversations.h"

namespace mpitron::data {

/// Ids of a text and which of them are learned (1) or only read (0).
struct MarkedTokens {
  std::vector<std::int64_t> ids;
  std::vector<float> learned;

  void add(std::int64_t id, bool is_learned) {
    ids.push_back(id);
    learned.push_back(is_learned ? 1.f : 0.f);
  }
};

/// Texts with images as a model takes them.
class ImageTextDataset final : public Dataset {
 public:
  struct Options {
    config::VlmConfig vlm;
    std::int64_t pad = 0;       // behind the text
    Index most_bad_images = 0;  // samples that are replaced before a run ends
    Index seq_length = 0;       // positions of a row; where several texts share one
    /// Ids of a conversation, kImageToken for each image; may be called from several threads.
    std::function<MarkedTokens(const ImageConversation&)> encode;
    /// Ids in front of tile 1, 2, ...; the last one's are the thumbnail's. Empty: no tags.
    std::vector<std::vector<std::int64_t>> tile_tags = {};
  };
  /// Looks at all texts where they share rows (`vlm.packing_window`): Error(data) with the name of
  /// one that is longer than a row.
  ImageTextDataset(std::unique_ptr<ConversationList> conversations, const Options& options);

  Index size() const override { return rows_ ? rows_->size() : conversations_->size(); }
  /// Writes the tokens of the text, as `read_sample` has them.
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  const std::string& description() const override { return description_; }
  const ConversationList& conversations() const { return *conversations_; }

  /// A sample: tokens and their followers, of `vlm.text_length`. Tiles are resized and normalised
  /// as the tower wants them.
  struct Sample {
    std::vector<std::int64_t> tokens, labels;  // [t]
    std::vector<float> loss_mask;              // [t]
    std::vector<float> tiles;                  // [tiles, 3, tile, tile]
    std::vector<Index> tiles_per_image;        // of each kImageToken
    std::vector<std::int64_t> segments;        // [t], which text; where several share a row
  };
  /// Reads a sample. Error(data) where an image cannot be decoded and no other may take its place,
  /// or the text is cut in front of an image.
  void read_sample(Index sample, Sample& result) const;

 private:
  /// Fills the rest of the row.
  void finish(Sample& sample) const;
  /// Appends a text and its tiles. Error(data) where an image cannot be decoded.
  void add_text(Index sample, Sample& result) const;
  /// Appends the tiles of all images, one behind the other; returns of each image how many.
  std::vector<Index> add_tiles(Index sample, Sample& result) const;
  MarkedTokens with_tags(const MarkedTokens& text, std::vector<Index>& tiles_per_image) const;
  void add_tokens(MarkedTokens text, Sample& result) const;
  /// Returns the positions that a text takes in the merged row.
  Index positions_of(Index sample) const;
  Sample read_packed(Index row) const;

  std::unique_ptr<ConversationList> conversations_;
  Options options_;
  std::string description_;
  std::optional<PackedRows> rows_;
  mutable BadSamples bad_;
};

}  // namespace mpitron::data
