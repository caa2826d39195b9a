#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/formats/tensor_source.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {

/// Whether a Hugging Face folder holds CLIP or SigLIP, or the image encoder of one alone.
bool is_image_encoder(const std::filesystem::path& folder);

/// The image encoder of such a folder, by the names that it has in a model that sees images; what
/// the folder says of words is left out. Not copied or moved: views lie over views.
class EncoderReader {
 public:
  /// Error(data) where tensors are missing or of another shape than config.json says, or where this
  /// program cannot compute such an encoder.
  explicit EncoderReader(const std::filesystem::path& folder);
  EncoderReader(const EncoderReader&) = delete;
  EncoderReader& operator=(const EncoderReader&) = delete;

  const ModelDescription& description() const { return description_; }
  TensorSource& ours() { return *ours_; }
  TensorSource& stored() { return *files_; }
  /// Options of a run whose encoder has these sizes, and their values.
  std::vector<std::pair<std::string, std::string>> options() const;

 private:
  ModelDescription description_;
  std::unique_ptr<TensorSource> files_;
  NameTable table_;
  std::unique_ptr<TensorSource> ours_;
};

}  // namespace mpitron::convert
