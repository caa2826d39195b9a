#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convert/formats/tensor_source.h"
#include "io/arrays/safetensors.h"

namespace mpitron::convert {

/// The weights of a folder in Hugging Face's layout: model.safetensors, or several files with
/// model.safetensors.index.json. Memory mapped. Error(data) for a file that is missing, is outside
/// the folder, or does not hold what the index says; also for tensors that are not floating point.
class HuggingFaceFolder : public TensorSource {
 public:
  explicit HuggingFaceFolder(const std::filesystem::path& folder);

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override;

 private:
  void add_file(const std::filesystem::path& path);
  void check_index(const std::map<std::string, std::string>& file_of) const;

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<io::SafetensorsFile>> files_;
  std::map<std::string, const io::SafetensorsFile::Tensor*> found_;
  std::map<std::string, std::string> in_file_;  // tensor -> name of its file
  std::vector<TensorInfo> tensors_;
  std::span<const std::byte> last_;  // read before
};

/// Returns the files beside the weights that describe tokenizer and generation, by name.
/// config.json is not among them; very large files are left out.
std::map<std::string, std::string> read_companions(const std::filesystem::path& folder);

/// Writes all tensors of `source` in its order as safetensors files of at most `bytes_per_file`
/// (one tensor may be larger), with an index where there is more than one file. Old weights in the
/// folder are refused.
void write_hugging_face_weights(const std::filesystem::path& folder, TensorSource& source,
                                Index bytes_per_file, const Progress& progress);

/// Gives the memory behind a part of a mapped file back: it stays readable, from the file again.
void forget_pages(std::span<const std::byte> mapped);

/// Names of the file with all weights, and of the index where there are several.
inline constexpr const char *kSingle = "model.safetensors",
                            *kIndex = "model.safetensors.index.json";

}  // namespace mpitron::convert
