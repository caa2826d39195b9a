#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/stored_bytes.h"
#include "io/hdf5/hdf5_file.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"
#include "utils/text/hash.h"

namespace mpitron::checkpoint {

/// The schemas that this program writes and reads: one file that all ranks share, and a file for
/// each writer. docs/checkpoint-format.md describes them.
constexpr Index kSharedFileSchema = 1, kFilePerWriterSchema = 2;
constexpr Index kNewestSchema = kFilePerWriterSchema;

/// One global tensor in the file.
using io::DataSet;

/// Everything that a checkpoint says besides tensors: an attribute or a small data set each, which
/// any HDF5 tool shows.
struct Header {
  Index schema_version = kSharedFileSchema;
  Index iteration = 0;
  Index consumed_train_samples = 0;
  std::string configuration;                 // JSON of all options
  std::string layout;                        // JSON: parallel sizes that wrote it; informative
  std::string build;                         // fingerprint of the program that wrote it
  std::map<std::string, Index> integers;     // counters: "optimizer/updates"
  std::map<std::string, double> reals;       // "loss_scaler/scale"
  std::map<std::string, std::string> texts;  // "opt_param_scheduler" (JSON), "tokenizer/type", ...
  std::map<std::string, std::string> files;  // name -> bytes: the tokenizer's files

  bool operator==(const Header&) const = default;
};

/// The extents of a complete file cover every data set exactly once.
using io::Extent;

/// Creates `path` with room for all data sets, marked incomplete; an existing file is replaced.
/// Returns the data sets with their offsets, which are multiples of 4096. No data is written:
/// whoever has it writes it at its offset, from any process. One process calls this.
/// Error(data) names the file.
std::vector<DataSet> create_file(const std::filesystem::path& path, const Header& header,
                                 std::vector<DataSet> data_sets);

/// Writes the hashes of all data and the mark of completeness, and brings the file to the disk. All
/// data must be there. MPITRON_CHECKs that the extents cover the data sets.
void seal_file(const std::filesystem::path& path, std::vector<Extent> extents,
               Index schema_version = kSharedFileSchema);

/// A complete checkpoint as one process reads it: metadata through HDF5 at construction, data by
/// plain reads of its storage, in which data sets and extents have their offsets.
class File {
 public:
  /// Error(data) names the file and what is wrong with it: not HDF5, incomplete (a crash while it
  /// was written), truncated, newer schema, damaged metadata; a writer's file that is not there.
  explicit File(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const Header& header() const { return header_; }
  /// All data sets, by name.
  const std::vector<DataSet>& data_sets() const { return data_sets_; }
  /// All extents, by offset.
  const std::vector<Extent>& extents() const { return extents_; }
  const Storage& storage() const { return storage_; }
  /// Returns whether offsets are those of the one file that all ranks wrote.
  bool shared() const { return header_.schema_version == kSharedFileSchema; }
  /// Returns the data set of this name; null where there is none.
  const DataSet* find(const std::string& name) const;

  /// Pack and unpack the metadata, for ranks that get it from another one instead of opening the
  /// file with HDF5.
  std::string serialize() const;
  static File deserialize(const std::string& text);

 private:
  File() = default;

  std::filesystem::path path_;
  Header header_;
  std::vector<DataSet> data_sets_;
  std::vector<Extent> extents_;
  Storage storage_;
};

/// An integer of a header: tokens of the run's tokenizer, or those that a converted model had rows
/// for; the table's other rows are padding.
inline constexpr const char* kVocabularySize = "model/vocabulary_size";

/// A text of checkpoints of low-rank updates: adapter_config.json of Hugging Face's PEFT.
inline constexpr const char* kAdapterConfig = "low_rank/adapter_config";

}  // namespace mpitron::checkpoint
