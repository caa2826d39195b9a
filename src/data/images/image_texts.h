#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/vision_config.h"
#include "data/gpt/dataset.h"

namespace mpitron::data {

/// Texts with images: JSONL, one a line, {"image": "a.jpg" or a list of them, "conversations":
/// [{"from": "human", "value": "<image>\nHow many?"}, {"from": "gpt", "value": "Three."}]} (LLaVA's
/// form). Paths of images begin at the file's folder.
class ImageTextDataset final : public Dataset {
 public:
  struct Options {
    config::VlmConfig vlm;
    std::int64_t eod = 0;
    /// Ids of a text; may be called from several threads.
    std::function<std::vector<std::int64_t>(std::string_view)> encode;
  };
  /// Error(data) for a file that cannot be read, or with a line that is something else.
  ImageTextDataset(const std::string& path, const Options& options);

  Index size() const override { return static_cast<Index>(samples_.size()); }
  /// The tokens of the text, as `read_sample` has them.
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  const std::string& description() const override { return description_; }

  /// The token that stands for an image.
  static constexpr std::int64_t kImageToken = -200;

  /// A sample: tokens and their followers, of `vlm.text_length`; what is learned is what "gpt" says
  /// and the end behind it. Tiles are resized and normalised as the tower wants them.
  struct Sample {
    std::vector<std::int64_t> tokens, labels;  // [t]
    std::vector<float> loss_mask;              // [t]
    std::vector<float> tiles;                  // [images, 3, tile, tile]
    Index images = 0;
  };
  /// Error(data) where an image cannot be decoded, or the text is cut in front of an image.
  void read_sample(Index sample, Sample& result) const;

 private:
  struct Turn {
    bool learned = false;
    std::string text;
  };
  struct Entry {
    std::vector<std::string> images;
    std::vector<Turn> turns;
    Index line = 0;
  };
  Entry parse(const std::string& line, Index number) const;
  void write_tokens(const Entry& entry, Sample& result) const;

  std::string path_, description_;
  Options options_;
  std::vector<Entry> samples_;
};

}  // namespace mpitron::data
