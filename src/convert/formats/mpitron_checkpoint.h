#pragma once
#include <filesystem>
#include <string>

#include "checkpoint/format/file.h"
#include "convert/description/model_description.h"
#include "convert/formats/tensor_source.h"

namespace mpitron::convert {

/// The model in a checkpoint of this program. Optimizer states are left where they are.
class MpitronCheckpoint : public TensorSource {
 public:
  /// Opens checkpoint.h5, its folder, or a folder of checkpoints, whose tracker chooses. All bytes
  /// are compared with their hashes first. Error(data).
  explicit MpitronCheckpoint(const std::filesystem::path& path);

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override;

  /// Returns the description in the header. ModelReader, which has the tensors of every format
  /// under our names, replaces its type and size of the vocabulary by those of the words' matrix.
  const ModelDescription& description() const { return description_; }
  /// Returns a text of the header; null where it has none of this name.
  const std::string* text(const std::string& name) const;
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  checkpoint::File file_;
  checkpoint::StoredBytes stored_;
  std::vector<TensorInfo> tensors_;
  ModelDescription description_;
};

/// Returns whether `path` is one that MpitronCheckpoint would look into.
bool is_mpitron_checkpoint(const std::filesystem::path& path);

/// Writes all tensors of `source` as a checkpoint below `root`: iter_0000123/ or, without
/// iteration, release/; then the tracker. `build`: fingerprint of the program. Returns the path of
/// the file. A checkpoint of the same iteration is refused.
std::filesystem::path write_mpitron_checkpoint(const std::filesystem::path& root,
                                               const ModelDescription& description,
                                               TensorSource& source, const std::string& build,
                                               const Progress& progress);

}  // namespace mpitron::convert
