#pragma once
#include <filesystem>

#include "config/vision_config.h"
#include "train/parity/recorded_batches.h"

namespace mpitron::train {

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

}  // namespace mpitron::train
