#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/text_task.h"
#include "train/batches/microbatch.h"
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
class RecordedTexts {
 public:
  RecordedTexts(const std::filesystem::path& folder, const config::TextHead& head);

  /// Texts [first, first + count), of which a sample has several; `validation`: of those that are
  /// never learned.
  HostMicrobatch rows(Index first, Index count, bool validation = false) const;

 private:
  struct Columns {
    std::vector<std::int64_t> tokens, types, padding_mask, labels;
  };
  config::TextHead head_;
  Index length_ = 0;
  Columns learned_, validation_;
  std::vector<float> ones_;
};

}  // namespace mpitron::train
