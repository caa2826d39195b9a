#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/model_family.h"
#include "config/text_task.h"
#include "config/vision_config.h"
#include "io/arrays/safetensors.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Hands out the batches of a recorded run, whose file is batches.safetensors.
class RecordedBatches {
 public:
  virtual ~RecordedBatches() = default;
  /// Rows [first, first + count); valid until the next call. Error(data) where fewer were recorded.
  virtual HostMicrobatch rows(Index first, Index count) = 0;
};

/// Reads a column of the file, its elements as T.
template <class Stored, class T>
std::vector<T> recorded_column(const io::SafetensorsFile& file, const char* name) {
  const auto stored = file.at(name).as<Stored>();
  std::vector<T> values;
  for (Index i = 0; i < stored.size(); ++i) {
    values.push_back(static_cast<T>(stored[i]));
  }
  return values;
}

/// Cuts rows [first, first + count) out of a column of `rows` rows.
template <class T>
std::span<const T> recorded_rows(const std::vector<T>& column, Index rows, Index first,
                                 Index count) {
  const Index width = static_cast<Index>(column.size()) / rows;
  return std::span(column).subspan(static_cast<std::size_t>(first * width),
                                   static_cast<std::size_t>(count * width));
}

/// Images of a recorded run, with labels or masks; after the last row the first follows.
class RecordedImages final : public RecordedBatches {
 public:
  RecordedImages(const std::filesystem::path& folder, const config::VisionConfig& vision);
  HostMicrobatch rows(Index first, Index count) override;

 private:
  void read_crops(const io::SafetensorsFile& file);

  config::VisionConfig vision_;
  Index recorded_rows_ = 0;
  std::vector<float> pixels_, masks_;
  std::vector<std::int64_t> labels_;
  // of the rows last asked for
  std::vector<float> row_pixels_, row_masks_, weights_;
  std::vector<std::int64_t> row_labels_;
};

/// Returns the flags of a recorded run on images, which tells sizes instead ("dims" of
/// config.json). Error(data) where a size is missing.
std::vector<std::string> vision_flags(const std::filesystem::path& config_path);

/// Returns the name that the reference's image models give a parameter of ours.
std::string vision_name(std::string parameter);

/// Logits or painted images of a recorded microbatch, as the model computes them.
struct RecordedLogits {
  Index samples = 0, length = 0, columns = 0;
  std::vector<float> values;  // [b, s, v]
  Index rows = 0;             // of the microbatch; 0: as many as samples
};
/// Reads logits: [b, classes] as one position, images [b, 3, H, W] as patches; of DINO the
/// student's outputs for all crops, in the order of the model.
RecordedLogits vision_logits(const io::SafetensorsFile& recorded,
                             const config::VisionConfig& vision);

/// Texts with images of a recorded run, consumed in order.
class RecordedConversations final : public RecordedBatches {
 public:
  RecordedConversations(const std::filesystem::path& folder, const config::VlmConfig& vlm,
                        Index seq_length);
  HostMicrobatch rows(Index first, Index count) override;

 private:
  config::VlmConfig vlm_;
  Index seq_length_;
  std::vector<std::int64_t> tokens_, labels_;  // [n, t]
  std::vector<float> loss_mask_;               // [n, t]
  std::vector<std::int64_t> images_per_row_;   // [n]
  std::vector<std::int64_t> tiles_per_image_;
  std::vector<std::int64_t> image_of_tile_;
  std::vector<float> images_;      // [images, 3, H, W]
  std::vector<float> row_pixels_;  // of the rows last asked for
};

/// Tells whether a folder holds a recorded run of a head over an encoder (losses.json names it).
bool is_recorded_head(const std::filesystem::path& folder);

/// Returns the flags of such a run, which tells sizes instead ("dims" of losses.json). Error(data)
/// where one is missing.
std::vector<std::string> head_flags(const std::filesystem::path& losses_path);

/// Reads logits [b, classes or choices], as one position.
RecordedLogits head_logits(const io::SafetensorsFile::Tensor& recorded);

/// Labelled texts of a recorded run.
class RecordedHeadTexts final : public RecordedBatches {
 public:
  /// Reads columns whose names begin with `prefix`; "valid_": those that are never learned.
  RecordedHeadTexts(const std::filesystem::path& folder, const config::TextHead& head,
                    const std::string& prefix);
  /// Returns texts, of which a sample has several where it is a choice among them.
  HostMicrobatch rows(Index first, Index count) override;

 private:
  Index choices_;
  Index texts_ = 0;                                          // n
  std::vector<std::int64_t> tokens_, types_, padding_mask_;  // [n, s]
  std::vector<std::int64_t> labels_;                         // [n / choices]
  std::vector<float> ones_;                                  // likewise
};

/// Texts of a recorded run, cut anywhere or padded.
class RecordedTexts final : public RecordedBatches {
 public:
  RecordedTexts(const std::filesystem::path& folder, config::SampleKind kind);
  HostMicrobatch rows(Index first, Index count) override;

 private:
  void read_running_text(const io::SafetensorsFile& file);

  std::filesystem::path path_;
  Index rows_ = 0;  // n
  // [n, s], of padded texts [n, s or d]; empty what the model does not read.
  std::vector<std::int64_t> tokens_, labels_, padding_mask_, token_types_;
  std::vector<std::int64_t> decoder_tokens_, decoder_padding_mask_, sentence_order_;
  std::vector<float> loss_mask_;
};

}  // namespace mpitron::train
