#pragma once
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/format/posix_file.h"
#include "checkpoint/write/file_scheme.h"

// A small checkpoint with data sets of every kind, as a run would write it.

namespace mpitron::test {

/// What the sample says besides tensors: every kind of attribute, and texts that are not ASCII.
inline checkpoint::Header sample_header(Index iteration = 7) {
  return {.iteration = iteration,
          .consumed_train_samples = iteration * 512,
          .configuration = R"({"hidden-size": 4, "Straße": "ü"})",
          .layout = R"({"tensor-model-parallel-size": 1})",
          .build = "mpitron test",
          .integers = {{"optimizer/updates", iteration}, {"smallest", INT64_MIN}},
          .reals = {{"loss_scaler/scale", 65536.0}, {"tiny", 5e-324}},
          .texts = {{"opt_param_scheduler", R"({"kind":"cosine"})"}, {"empty", ""}},
          .files = {{"merges.txt", "a b\nc d\n"},
                    {"bytes.bin", std::string("\0\x01\xff\0", 4)},
                    {"empty.txt", ""}}};
}

/// Data sets of every type, rank 0 to 3, one byte and none at all.
inline std::vector<checkpoint::DataSet> sample_data_sets() {
  return {{.name = "model/embedding.word_embeddings.weight", .shape = {37, 4}},
          {.name = "model/decoder.layers.0.mlp.linear_fc1.weight",
           .shape = {8, 4},
           .dtype = DType::bf16},
          {.name = "model/half", .shape = {3}, .dtype = DType::f16},
          {.name = "model/double", .shape = {2, 3, 2}, .dtype = DType::f64},
          {.name = "model/scalar", .shape = {}},
          {.name = "model/none", .shape = {0, 5}},
          {.name = "optimizer/exp_avg/embedding.word_embeddings.weight", .shape = {37, 4}},
          {.name = "data/bytes", .shape = {1}, .dtype = DType::u8},
          {.name = "data/i8", .shape = {3}, .dtype = DType::i8},
          {.name = "data/u16", .shape = {3}, .dtype = DType::u16},
          {.name = "data/i16", .shape = {3}, .dtype = DType::i16},
          {.name = "data/i32", .shape = {3}, .dtype = DType::i32},
          {.name = "data/i64", .shape = {3}, .dtype = DType::i64}};
}

/// Element `i` of every data set of the sample is (i - 2) / 4, or i in a type without fractions.
inline std::string sample_bytes(const checkpoint::DataSet& data_set) {
  std::string bytes(static_cast<std::size_t>(data_set.bytes()), '\0');
  const auto fill = [&]<class T>(T) {
    for (Index i = 0; i < data_set.shape.numel(); ++i) {
      T value{};
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(i);
      } else {
        value = T(static_cast<float>(i - 2) / 4);
      }
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  };
  switch (data_set.dtype) {
    case DType::f32:
      fill(float{});
      break;
    case DType::bf16:
      fill(BFloat16{});
      break;
    case DType::f16:
      fill(Float16{});
      break;
    case DType::f64:
      fill(double{});
      break;
    case DType::u8:
      fill(std::uint8_t{});
      break;
    case DType::i8:
      fill(std::int8_t{});
      break;
    case DType::u16:
      fill(std::uint16_t{});
      break;
    case DType::i16:
      fill(std::int16_t{});
      break;
    case DType::i32:
      fill(std::int32_t{});
      break;
    case DType::i64:
      fill(std::int64_t{});
      break;
  }
  return bytes;
}

/// Writes bytes as two extents (one where it is a single byte) and returns them.
inline std::vector<checkpoint::Extent> write_data(checkpoint::PosixFile& file, Index place,
                                                  std::string_view bytes) {
  std::vector<checkpoint::Extent> extents;
  const std::size_t half = bytes.size() / 2;
  for (const auto& [begin, end] : {std::pair{std::size_t{0}, half}, {half, bytes.size()}}) {
    const std::string_view part = bytes.substr(begin, end - begin);
    if (!part.empty()) {
      const Index offset = place + static_cast<Index>(begin);
      file.write(offset, part.data(), static_cast<Index>(part.size()));
      extents.push_back(
          {.offset = offset, .bytes = static_cast<Index>(part.size()), .hash = hash128(part)});
    }
  }
  return extents;
}

/// A complete checkpoint file of those contents.
inline void write_checkpoint(const std::filesystem::path& path, const checkpoint::Header& header,
                             std::vector<checkpoint::DataSet> data_sets) {
  data_sets = checkpoint::create_file(path, header, std::move(data_sets));
  std::vector<checkpoint::Extent> extents;
  {
    checkpoint::PosixFile file(path, checkpoint::PosixFile::Mode::modify);
    for (const checkpoint::DataSet& data_set : data_sets) {
      const auto more = write_data(file, data_set.offset, sample_bytes(data_set));
      extents.insert(extents.end(), more.begin(), more.end());
    }
  }
  checkpoint::seal_file(path, extents);
}

/// The same with a file for each writer: they take turns in every data set, in parts that begin
/// within rows.
inline void write_checkpoint_per_writer(const std::filesystem::path& path,
                                        const checkpoint::Header& header,
                                        std::vector<checkpoint::DataSet> data_sets,
                                        Index writers = 2) {
  std::sort(data_sets.begin(), data_sets.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const Index parts = 2 * writers;
  std::vector<std::string> closed;
  std::unique_ptr<checkpoint::FileScheme> scheme;
  for (Index writer = writers - 1; writer >= 0; --writer) {
    std::vector<checkpoint::PlacedRange> ranges;
    for (std::size_t i = 0; i < data_sets.size(); ++i) {
      const Index n = data_sets[i].shape.numel();
      const auto size = static_cast<Index>(size_of(data_sets[i].dtype));
      for (Index part = writer; part < parts; part += writers) {
        const Index begin = n * part / parts * size, end = n * (part + 1) / parts * size;
        if (begin < end) {
          ranges.push_back({.data_set = static_cast<Index>(i), .begin = begin, .end = end});
        }
      }
    }
    scheme = checkpoint::make_file_per_writer({path, header, data_sets}, writer, ranges);
    const checkpoint::WriterTarget target = scheme->open(scheme->create());
    std::vector<checkpoint::Extent> extents;
    {
      checkpoint::PosixFile file(target.path, checkpoint::PosixFile::Mode::modify);
      for (const checkpoint::PlacedRange& range : target.ranges) {
        const std::string bytes = sample_bytes(data_sets[static_cast<std::size_t>(range.data_set)]);
        const auto more =
            write_data(file, range.offset,
                       std::string_view(bytes).substr(static_cast<std::size_t>(range.begin),
                                                      static_cast<std::size_t>(range.bytes())));
        extents.insert(extents.end(), more.begin(), more.end());
      }
    }
    closed.push_back(scheme->close(extents));
  }
  scheme->complete(closed);
}

/// A data set as it lies in whatever files.
inline std::string stored_bytes(const checkpoint::File& file, const checkpoint::DataSet& data_set) {
  std::string bytes(static_cast<std::size_t>(data_set.bytes()), '\0');
  checkpoint::StoredBytes(file.storage()).read(data_set.offset, bytes.data(), data_set.bytes());
  return bytes;
}

inline void write_sample(const std::filesystem::path& path, Index iteration = 7) {
  write_checkpoint(path, sample_header(iteration), sample_data_sets());
}

inline void write_sample_per_writer(const std::filesystem::path& path, Index iteration = 7) {
  write_checkpoint_per_writer(path, sample_header(iteration), sample_data_sets());
}

}  // namespace mpitron::test
