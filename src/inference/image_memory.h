#pragma once
#include <deque>
#include <map>

#include "inference/engine_interface.h"
#include "models/base/model.h"
#include "utils/text/hash.h"

namespace mpitron::inference {

/// What a model has made of images, as long as somebody holds them and of the last ones a while
/// longer: rows for the tokens of prompts.
class ImageMemory {
 public:
  ImageMemory(device::Device& device, const models::Model& model)
      : device_(device), model_(model) {}

  /// Of tiles [T, 3, edge, edge]; the same handle for an image that is still known. Error(usage)
  /// where the model sees no images; Error(environment) when all ids were given away.
  SeenImageHandle see(std::span<const float> tiles);
  /// Where ids below 0 are among the rows of a pass: makes them 0 and gives the batch the rows of
  /// their images.
  void place_rows(std::vector<std::int64_t>& ids, models::Batch& batch) const;

 private:
  struct Image : SeenImage {
    Hash128 pixels;
    tensor::Tensor rows;  // [positions, h], on the host
  };
  /// The row of an id; null where the id is a word's.
  const std::byte* row_of(std::int64_t id) const;

  static constexpr std::size_t kKept = 16;
  device::Device& device_;
  const models::Model& model_;
  std::map<TokenId, std::weak_ptr<const Image>> images_;  // by their first id
  std::deque<std::shared_ptr<const Image>> recent_;
  TokenId next_ = -1;
};

}  // namespace mpitron::inference
