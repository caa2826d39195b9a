#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/formats/format.h"
#include "convert/formats/tensor_source.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {

/// A model in any format, as ours: description and tensors. Not copied or moved: views lie over
/// views.
class ModelReader {
 public:
  /// A format and how its tensors are to be read.
  struct Settings {
    Format format = Format::mpitron;
    std::string model_type;  // overrides what the files say; empty: theirs
    Index make_vocab_size_divisible_by = 128;
    std::optional<DType> dtype;  // every tensor in this type
    bool strict = true;          // tensors without counterpart are an error
  };
  /// Opens the model; tensors are read on demand. Error(data) for tensors and a configuration that
  /// do not fit, all of them listed.
  ModelReader(const std::filesystem::path& path, const Settings& settings);
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;

  const ModelDescription& description() const { return description_; }
  /// The tensors under our names, in the type of the settings.
  TensorSource& ours() { return translated_ ? *translated_ : stored(); }
  /// The tensors as the files have them, in the type of the settings: under their names, if there
  /// is a table.
  TensorSource& stored() { return cast_ ? *cast_ : *files_; }
  /// The family's table of names; none for formats that have our names.
  const std::optional<NameTable>& table() const { return table_; }
  /// Tensors of the files that are not used, rightly: no weights, or repetitions.
  const std::vector<std::string>& ignored() const { return ignored_; }
  /// Tensors without a counterpart here; an error unless the settings are not strict.
  const std::vector<std::string>& unmapped() const { return unmapped_; }

 private:
  template <class Source>
  void open(const std::filesystem::path& path);
  void open_hugging_face(const std::filesystem::path& path, const Settings& settings);
  void translate(const std::filesystem::path& path, bool strict);
  void check_own_names(const std::filesystem::path& path, bool strict);

  ModelDescription description_;
  std::unique_ptr<TensorSource> files_, cast_, translated_;
  std::optional<NameTable> table_;
  std::vector<std::string> ignored_, unmapped_;
};

}  // namespace mpitron::convert
