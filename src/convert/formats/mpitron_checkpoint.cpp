#include "convert/formats/mpitron_checkpoint.h"

#include <algorithm>

#include "checkpoint/folders/folder.h"
#include "checkpoint/folders/verify.h"
#include "checkpoint/format/file.h"
#include "checkpoint/format/posix_file.h"
#include "convert/formats/format.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// This program's own checkpoints (checkpoint.h5, docs/checkpoint-format.md) as a source and a
// target of conversions: only the data sets below model/, and what the header says of the model.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCheckpointFile = "checkpoint.h5", *kModel = "model/";
/// Key of the header's text with the family that the model came from: the configuration does not
/// say it, and the way back needs it.
constexpr const char* kModelType = "hugging_face/model_type";
using checkpoint::kVocabularySize;

/// Returns the file of a checkpoint, given as the file, its folder, or the folder with the tracker.
fs::path file_of(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return path;
  }
  return (fs::exists(path / kCheckpointFile) ? path : iteration_folder(path)) / kCheckpointFile;
}

/// A conversion must not carry damaged weights into a format without hashes.
void check_bytes(const checkpoint::File& file) {
  const checkpoint::Verification result = checkpoint::verify(file);
  if (!result.damaged.empty()) {
    throw_data("{}: damaged: {}", file.path().string(), result.damaged.front().sentence());
  }
}

ModelDescription description_of(const checkpoint::Header& header, const std::string& source) {
  ModelDescription result = from_configuration(header.configuration, source);
  result.files = header.files;
  result.iteration = header.iteration > 0 ? header.iteration : -1;
  result.consumed_train_samples = header.consumed_train_samples;
  if (const auto type = header.texts.find(kModelType); type != header.texts.end()) {
    result.model_type = type->second;
  }
  const auto size = header.integers.find(kVocabularySize);
  if (result.vocab_size == 0 && size != header.integers.end()) {
    result.vocab_size = size->second;
  }
  return result;
}

checkpoint::Header header_of(const ModelDescription& description, const std::string& build) {
  checkpoint::Header header{.iteration = std::max<Index>(description.iteration, 0),
                            .consumed_train_samples = description.consumed_train_samples,
                            .configuration = to_configuration(description),
                            .layout = "{}",
                            .build = build,
                            .integers = {},
                            .reals = {},
                            .texts = {},
                            .files = description.files};
  header.integers[kVocabularySize] = description.stored_vocab_size();
  if (!description.model_type.empty()) {
    header.texts[kModelType] = description.model_type;
  }
  return header;
}

}  // namespace

MpitronCheckpoint::MpitronCheckpoint(const fs::path& path)
    : file_(file_of(path)), stored_(file_.storage()) {
  check_bytes(file_);
  description_ = description_of(file_.header(), file_.path().string());
  for (const checkpoint::DataSet& set : file_.data_sets()) {
    if (set.name.starts_with(kModel)) {
      tensors_.push_back({set.name.substr(std::string_view(kModel).size()), set.shape, set.dtype});
    }
  }
  if (tensors_.empty()) {
    throw_data("{}: no data sets below {}", file_.path().string(), kModel);
  }
}

const std::string* MpitronCheckpoint::text(const std::string& name) const {
  const auto found = file_.header().texts.find(name);
  return found != file_.header().texts.end() ? &found->second : nullptr;
}

HostTensor MpitronCheckpoint::read(const std::string& name) {
  const checkpoint::DataSet* set = file_.find(kModel + name);
  if (set == nullptr) {
    throw_data("{}: no data set {}{}", file_.path().string(), kModel, name);
  }
  HostTensor tensor({name, set->shape, set->dtype});
  stored_.read(set->offset, tensor.data(), set->bytes());
  return tensor;
}

bool is_mpitron_checkpoint(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return path.extension() == ".h5";
  }
  return fs::exists(path / kCheckpointFile) ||
         (has_tracker(path) && fs::exists(iteration_folder(path) / kCheckpointFile));
}

fs::path write_mpitron_checkpoint(const fs::path& root, const ModelDescription& description,
                                  TensorSource& source, const std::string& build,
                                  const Progress& progress) {
  const checkpoint::Folder folder(root);
  if (fs::exists(folder.file(description.iteration))) {
    throw_data("--to {}: {} is there already; give another folder", root.string(),
               folder.file(description.iteration).string());
  }
  folder.begin(description.iteration);
  const fs::path path = folder.unfinished_file(description.iteration);
  std::vector<checkpoint::DataSet> sets;
  for (const TensorInfo& info : source.tensors()) {
    sets.push_back({.name = kModel + info.name, .shape = info.shape, .dtype = info.dtype});
  }
  sets = checkpoint::create_file(path, header_of(description, build), std::move(sets));
  // Written in the order of the file, for its blocks to be written one after the other.
  std::ranges::sort(sets, {}, &checkpoint::DataSet::offset);
  const Index total = source.bytes();
  Index done = 0;
  std::vector<checkpoint::Extent> extents;
  {
    checkpoint::PosixFile file(path, checkpoint::PosixFile::Mode::modify);
    for (const checkpoint::DataSet& set : sets) {
      const std::string name = set.name.substr(std::string_view(kModel).size());
      const HostTensor tensor = source.read(name);
      const auto bytes = tensor.bytes();
      MPITRON_CHECK(static_cast<Index>(bytes.size()) == set.bytes(), set.name);
      file.write(set.offset, bytes.data(), set.bytes());
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      extents.push_back({set.offset, set.bytes(), hash128(text)});
      done += set.bytes();
      progress(done, total, name);
    }
  }
  checkpoint::seal_file(path, std::move(extents));
  folder.commit(description.iteration);
  return folder.file(description.iteration);
}

}  // namespace mpitron::convert
