#pragma once
#include <filesystem>

#include "config/model_family.h"
#include "train/parity/recorded_batches.h"

namespace mpitron::train {

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
