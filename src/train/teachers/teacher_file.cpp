// Maps a teacher's file into memory: arrays are read where they lie on the disk, since a file may
// be larger than the memory and a rank needs only its rows.
#include "train/teachers/teacher_file.h"

#include <algorithm>

#include "io/hdf5/hdf5_file.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

const io::TableFields kKeyFields = {"key"};
constexpr std::string_view kTables[] = {"rows"};

}  // namespace

TeacherFile::Layout TeacherFile::create(const std::filesystem::path& path,
                                        std::span<const std::uint64_t> keys, Index seq_length,
                                        Index words) {
  io::Hdf5File file(path, io::Hdf5File::Mode::create);
  file.write_table("rows", kKeyFields, keys);
  const Shape shape{static_cast<Index>(keys.size()), seq_length, words};
  const Layout layout{
      .ids = file.create_data_set({.name = "ids", .shape = shape, .dtype = DType::i32}),
      .log_probs = file.create_data_set({.name = "log_probs", .shape = shape})};
  file.close();
  return layout;
}

TeacherFile::TeacherFile(const std::filesystem::path& path, Index seq_length)
    : file_(path), seq_length_(seq_length) {
  const io::Hdf5File file(path, io::Hdf5File::Mode::read);
  const std::vector<io::DataSet> arrays = file.data_sets(kTables);
  const auto array = [&](const char* name) -> const io::DataSet& {
    const auto found = std::ranges::find(arrays, name, &io::DataSet::name);
    if (found == arrays.end() || found->shape.rank() != 3) {
      throw_data("--teacher-file {}: has no array \"{}\"; --teacher-output writes such files",
                 path.string(), name);
    }
    return *found;
  };
  const io::DataSet &ids = array("ids"), &log_probs = array("log_probs");
  if (ids.dtype != DType::i32 || log_probs.dtype != DType::f32 || log_probs.shape != ids.shape ||
      std::max(ids.offset + ids.bytes(), log_probs.offset + log_probs.bytes()) >
          std::ssize(file_.bytes())) {
    throw_data("--teacher-file {}: its arrays do not fit together; is it damaged?", path.string());
  }
  if (ids.shape[1] != seq_length) {
    throw_data("--teacher-file {}: holds samples of {} tokens, --seq-length is {}", path.string(),
               ids.shape[1], seq_length);
  }
  words_ = ids.shape[2];
  ids_ = reinterpret_cast<const std::int32_t*>(file_.bytes().data() + ids.offset);
  log_probs_ = reinterpret_cast<const float*>(file_.bytes().data() + log_probs.offset);
  for (const std::uint64_t key : file.read_table("rows", kKeyFields)) {
    rows_.emplace(key, static_cast<Index>(rows_.size()));
  }
  if (std::ssize(rows_) != ids.shape[0]) {
    throw_data("--teacher-file {}: has {} keys for {} samples; is it damaged?", path.string(),
               rows_.size(), ids.shape[0]);
  }
}

std::optional<Index> TeacherFile::find(std::uint64_t key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? std::nullopt : std::optional(row->second);
}

}  // namespace mpitron::train
