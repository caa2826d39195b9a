// File::serialize and deserialize: metadata on its way from one rank to the others. Both ends are
// the same program, so the form is private: 64-bit words, and texts after their length.
#include <cstring>
#include <type_traits>

#include "checkpoint/format/file.h"

namespace mpitron::checkpoint {
namespace {

/// Appends values to a text. Packer and Unpacker visit the same members in the same order, in
/// visit().
class Packer {
 public:
  static constexpr bool kReads = false;

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) { text_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void operator()(std::string& value) {
    std::uint64_t size = value.size();
    (*this)(size);
    text_ += value;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Takes values from a text.
class Unpacker {
 public:
  static constexpr bool kReads = true;

  explicit Unpacker(std::string_view text) : text_(text) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) { std::memcpy(&value, take(sizeof(value)).data(), sizeof(value)); }
  void operator()(std::string& value) {
    std::uint64_t size = 0;
    (*this)(size);
    value = take(size);
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    MPITRON_CHECK(size <= text_.size(), size, text_.size());
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }

  std::string_view text_;
};

template <class Archive, class T>
void visit(Archive& archive, T& value) {
  archive(value);
}

template <class Archive>
void visit(Archive& archive, DataSet& value) {
  archive(value.name);
  archive(value.shape);
  archive(value.dtype);
  archive(value.offset);
}

template <class Archive>
void visit(Archive& archive, std::filesystem::path& value) {
  std::string text = value.string();
  archive(text);
  value = text;
}

template <class Archive, class T>
void visit(Archive& archive, std::vector<T>& values) {
  std::uint64_t size = values.size();
  archive(size);
  values.resize(size);
  for (T& value : values) {
    visit(archive, value);
  }
}

template <class Archive, class T>
void visit(Archive& archive, std::map<std::string, T>& values) {
  std::uint64_t size = values.size();
  archive(size);
  if constexpr (Archive::kReads) {
    for (std::uint64_t i = 0; i < size; ++i) {
      std::string name;
      archive(name);
      archive(values[name]);
    }
  } else {
    for (auto& [name, value] : values) {
      std::string copy = name;
      archive(copy);
      archive(value);
    }
  }
}

template <class Archive>
void visit(Archive& archive, Header& header) {
  archive(header.schema_version);
  archive(header.iteration);
  archive(header.consumed_train_samples);
  archive(header.configuration);
  archive(header.layout);
  archive(header.build);
  visit(archive, header.integers);
  visit(archive, header.reals);
  visit(archive, header.texts);
  visit(archive, header.files);
}

}  // namespace

std::string File::serialize() const {
  File copy = *this;
  Packer packer;
  visit(packer, copy.path_);
  visit(packer, copy.header_);
  visit(packer, copy.data_sets_);
  visit(packer, copy.extents_);
  visit(packer, copy.storage_.files);
  visit(packer, copy.storage_.ranges);
  return packer.text();
}

File File::deserialize(const std::string& text) {
  File file;
  Unpacker unpacker(text);
  visit(unpacker, file.path_);
  visit(unpacker, file.header_);
  visit(unpacker, file.data_sets_);
  visit(unpacker, file.extents_);
  visit(unpacker, file.storage_.files);
  visit(unpacker, file.storage_.ranges);
  MPITRON_CHECK(unpacker.at_end());
  return file;
}

}  // namespace mpitron::checkpoint
