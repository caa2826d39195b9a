#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/text_task.h"
#include "train/parity/recorded_batches.h"
#include "train/parity/recorded_vision.h"

namespace mpitron::train {

/// Whether a folder holds a recorded run of a head over an encoder (losses.json names it).
bool is_recorded_head(const std::filesystem::path& folder);

/// Such runs tell sizes instead of flags ("dims" of losses.json); this says which flags they stand
/// for. Error(data) where one is missing.
std::vector<std::string> head_flags(const std::filesystem::path& losses_path);

/// [b, classes or choices], as one position.
RecordedLogits head_logits(const io::SafetensorsFile::Tensor& recorded);

/// Labelled texts of a recorded run.
class RecordedHeadTexts final : public RecordedBatches {
 public:
  /// `prefix`: of the names of columns; "valid_": those that are never learned.
  RecordedHeadTexts(const std::filesystem::path& folder, const config::TextHead& head,
                    const std::string& prefix);
  /// Rows are texts, of which a sample has several.
  HostMicrobatch rows(Index first, Index count) override;

 private:
  Index choices_;
  Index texts_ = 0;                                          // n
  std::vector<std::int64_t> tokens_, types_, padding_mask_;  // [n, s]
  std::vector<std::int64_t> labels_;                         // [n / choices]
  std::vector<float> ones_;                                  // likewise
};

}  // namespace mpitron::train
