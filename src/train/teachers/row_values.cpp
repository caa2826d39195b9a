// Stores numbers of rows sorted by key, so that the same rows make the same file whatever the
// layout that computed them.
#include "train/teachers/row_values.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "checkpoint/format/posix_file.h"
#include "io/hdf5/hdf5_file.h"
#include "utils/text/hash.h"

namespace mpitron::train {
namespace {

const io::TableFields kRowFields = {"key", "value"};

template <class T>
std::string_view bytes_of(std::span<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

std::uint64_t RowValues::key_of(std::span<const std::int64_t> tokens,
                                std::span<const float> weights) {
  return hash64(bytes_of(weights), hash64(bytes_of(tokens)));
}

double RowValues::of(std::uint64_t key) const {
  const auto value = values_.find(key);
  return value == values_.end() ? 0 : value->second;
}

void RowValues::read(const std::filesystem::path& path) {
  const io::Hdf5File file(path, io::Hdf5File::Mode::read);
  const std::vector<std::uint64_t> words = file.read_table("rows", kRowFields);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    values_[words[i]] = std::bit_cast<double>(words[i + 1]);
  }
}

void RowValues::write(const std::filesystem::path& path) const {
  std::vector<std::pair<std::uint64_t, double>> rows(values_.begin(), values_.end());
  std::ranges::sort(rows);
  std::vector<std::uint64_t> words;
  for (const auto& [key, value] : rows) {
    words.insert(words.end(), {key, std::bit_cast<std::uint64_t>(value)});
  }
  const std::filesystem::path part = path.string() + ".part";
  {
    io::Hdf5File file(part, io::Hdf5File::Mode::create);
    file.write_table("rows", kRowFields, words);
    file.close();
  }
  checkpoint::PosixFile(part, checkpoint::PosixFile::Mode::modify).sync();
  checkpoint::move_into_place(part, path);
}

}  // namespace mpitron::train
