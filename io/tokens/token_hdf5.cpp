#include "io/tokens/token_hdf5.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

#include "io/hdf5/hdf5_file.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

namespace mpitron::io {
namespace {

constexpr std::string_view kMagic = "MPITOKEN";
constexpr std::uint64_t kVersion = 1;
constexpr const char* kFormat = "mpitron tokens";
constexpr std::array kNames{"tokens", "lengths", "offsets", "documents", "modes"};
constexpr std::size_t kArrays = kNames.size();

using Ranges = std::array<ByteRange, kArrays>;  // in the order of kNames

// The seal as it lies in the file: little-endian words, as every supported machine has them.
struct Seal {
  std::array<char, 8> magic{};
  std::uint64_t version = kVersion, hdf5_bytes = 0;
  Ranges arrays;
  std::uint64_t metadata_high = 0, metadata_low = 0;
  std::uint64_t check = 0;  // XXH3 of all before
};
static_assert(sizeof(Seal) == 128);

std::uint64_t check_of(const Seal& seal) {
  return hash64({reinterpret_cast<const char*>(&seal), offsetof(Seal, check)});
}

DType dtype_of_tokens(TokenType type) {
  constexpr std::array kTypes{DType::u8,  DType::u8,  DType::i8,  DType::i16, DType::i32,
                              DType::i64, DType::f64, DType::f32, DType::u16};
  return kTypes[static_cast<std::size_t>(type)];
}

/// Calls body(range) for the arrays in the order of the file.
template <class Body>
void in_file_order(const Ranges& ranges, Body&& body) {
  std::array<std::size_t, kArrays> order{0, 1, 2, 3, 4};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranges[a].begin < ranges[b].begin; });
  for (const std::size_t i : order) {
    body(i, ranges[i]);
  }
}

/// Hash of everything that is in no array; nothing where arrays overlap or lie outside. One without
/// bytes lies anywhere inside.
std::optional<Hash128> hash_metadata(std::string_view text, const Ranges& ranges) {
  Hasher128 hasher;
  Index position = 0;
  bool in_order = true;
  const auto size = static_cast<Index>(text.size());
  in_file_order(ranges, [&](std::size_t, const ByteRange& range) {
    in_order = in_order && range.bytes >= 0 && range.begin >= (range.bytes > 0 ? position : 0) &&
               range.begin <= size && range.bytes <= size - range.begin;
    if (in_order && range.bytes > 0) {
      hasher.update(text.substr(static_cast<std::size_t>(position),
                                static_cast<std::size_t>(range.begin - position)));
      position = range.begin + range.bytes;
    }
  });
  hasher.update(text.substr(static_cast<std::size_t>(position)));
  return in_order ? std::optional(hasher.digest()) : std::nullopt;
}

Seal read_seal(const MappedFile& file) {
  const std::string path = file.path().string();
  const std::string_view text = file.text();
  Seal seal;
  if (text.size() >= sizeof(Seal)) {
    std::memcpy(&seal, text.data() + text.size() - sizeof(Seal), sizeof(Seal));
  }
  const Index end = static_cast<Index>(text.size()) - static_cast<Index>(sizeof(Seal));
  if (std::string_view(seal.magic.data(), seal.magic.size()) != kMagic) {
    throw_data(
        "{}: byte {}: expected the seal of a corpus, found none: truncated, or not written by "
        "mpitron dataset convert",
        path, std::max(end, Index{0}));
  }
  if (seal.check != check_of(seal)) {
    throw_data("{}: byte {}: the seal does not fit its own hash: it is damaged", path, end);
  }
  if (seal.version != kVersion) {
    throw_data("{}: byte {}: expected version {}, found {}", path, end + 8, kVersion, seal.version);
  }
  if (seal.hdf5_bytes != static_cast<std::uint64_t>(end)) {
    throw_data("{}: expected {} bytes before the seal, found {}: truncated or joined", path,
               seal.hdf5_bytes, end);
  }
  const auto hash = hash_metadata(text.substr(0, static_cast<std::size_t>(end)), seal.arrays);
  if (!hash || *hash != Hash128{seal.metadata_high, seal.metadata_low}) {
    throw_data("{}: what describes the arrays is damaged (its hash is another)", path);
  }
  return seal;
}

TokenType token_type_of(DType dtype, const std::string& path) {
  for (int code = 1; code <= 8; ++code) {
    if (dtype_of_tokens(static_cast<TokenType>(code)) == dtype) {
      return static_cast<TokenType>(code);
    }
  }
  throw_data("{}: the data set tokens has the type {}, which no corpus has", path, name_of(dtype));
}

/// What HDF5 says, in the order of kNames.
std::vector<DataSet> ask_hdf5(const std::string& path, std::string& tokenizer_hash) {
  const Hdf5File hdf5(path, Hdf5File::Mode::read);
  const std::vector<DataSet> found = hdf5.data_sets({});
  std::vector<DataSet> ordered(kArrays);
  for (const DataSet& data_set : found) {
    const auto name = std::find(kNames.begin(), kNames.end(), data_set.name);
    if (name != kNames.end() && data_set.shape.rank() == 1) {
      ordered[static_cast<std::size_t>(name - kNames.begin())] = data_set;
    }
  }
  const Attributes attributes = hdf5.attributes("/");
  if (const auto hash = attributes.find("tokenizer_hash"); hash != attributes.end()) {
    const auto* text = std::get_if<std::string>(&hash->second);
    tokenizer_hash = text != nullptr ? *text : "";
  }
  return ordered;
}

/// Data sets of a corpus, without their places.
std::vector<DataSet> data_sets_of(const TokenFile& corpus) {
  Index tokens = 0;
  for (Index i = 0; i < corpus.sequence_count(); ++i) {
    tokens += corpus.length(i);
  }
  const Index n = corpus.sequence_count();
  const Index modes = corpus.has_modes() ? n : 0;
  return {{.name = "tokens", .shape = {tokens}, .dtype = dtype_of_tokens(corpus.type())},
          {.name = "lengths", .shape = {n}, .dtype = DType::i32},
          {.name = "offsets", .shape = {n}, .dtype = DType::i64},
          {.name = "documents", .shape = {corpus.document_count() + 1}, .dtype = DType::i64},
          {.name = "modes", .shape = {modes}, .dtype = DType::i8}};
}

/// A name for a file that goes away with this.
class PassingName {
 public:
  explicit PassingName(std::filesystem::path path) : path_(std::move(path)) {}
  ~PassingName() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PassingName(const PassingName&) = delete;
  PassingName& operator=(const PassingName&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file that HDF5 made, with holes where the arrays belong.
class Skeleton {
 public:
  Skeleton(const TokenFile& corpus, const std::filesystem::path& path, const std::string& hash)
      : name_(path.string() + ".skeleton." + std::to_string(::getpid())) {
    Hdf5File hdf5(name_.path(), Hdf5File::Mode::create);
    const std::vector<DataSet> data_sets = data_sets_of(corpus);
    for (std::size_t i = 0; i < kArrays; ++i) {
      ranges_[i] = {hdf5.create_data_set(data_sets[i]), data_sets[i].bytes()};
    }
    hdf5.set_attributes("/", {{"format", std::string(kFormat)},
                              {"schema_version", static_cast<Index>(kVersion)},
                              {"token_type", std::string(to_string(corpus.type()))},
                              {"tokenizer_hash", hash}});
    hdf5.close();
  }

  const std::filesystem::path& path() const { return name_.path(); }
  const Ranges& ranges() const { return ranges_; }

 private:
  PassingName name_;
  Ranges ranges_;
};

void write_array(const TokenFile& corpus, std::string_view name, AtomicFile& file) {
  const auto put = [&](std::span<const std::byte> bytes) {
    file.write(bytes.data(), bytes.size());
  };
  const Index n = corpus.sequence_count();
  if (name == "lengths") {
    put(corpus.lengths().bytes());
  } else if (name == "documents") {
    put(corpus.documents().bytes());
  }
  Index offset = 0;
  for (Index i = 0; i < n; ++i) {
    if (name == "tokens") {
      put(corpus.raw(i));
    } else if (name == "offsets") {
      file.write(&offset, sizeof(offset));
      offset += corpus.length(i);
    } else if (name == "modes" && corpus.has_modes()) {
      const auto mode = static_cast<std::int8_t>(corpus.mode(i));
      file.write(&mode, sizeof(mode));
    }
  }
}

}  // namespace

TokenHdf5 read_token_hdf5(const MappedFile& file) {
  const std::string path = file.path().string();
  const Seal seal = read_seal(file);
  TokenHdf5 result;
  const std::vector<DataSet> found = ask_hdf5(path, result.tokenizer_hash);
  result.type = token_type_of(found[0].dtype, path);
  const Index n = found[1].shape.numel();
  const std::array kTypes{found[0].dtype, DType::i32, DType::i64, DType::i64, DType::i8};
  for (std::size_t i = 0; i < kArrays; ++i) {
    const bool right_size =
        i == 0 || (i == 3 ? found[i].shape.numel() >= 1
                          : found[i].shape.numel() == n || (i == 4 && found[i].shape.numel() == 0));
    if (found[i].name != kNames[i] || found[i].dtype != kTypes[i] || !right_size ||
        found[i].bytes() != seal.arrays[i].bytes ||
        (found[i].bytes() > 0 && found[i].offset != seal.arrays[i].begin)) {
      throw_data("{}: the data set {} is missing, or not what the seal says: {} of {} at byte {}",
                 path, kNames[i], to_string(found[i].shape), name_of(found[i].dtype),
                 found[i].offset);
    }
  }
  result.tokens = seal.arrays[0];
  result.lengths = seal.arrays[1];
  result.offsets = seal.arrays[2];
  result.documents = seal.arrays[3];
  result.modes = seal.arrays[4];
  return result;
}

void write_token_hdf5(const TokenFile& corpus, const std::filesystem::path& path,
                      const std::string& tokenizer_hash) {
  corpus.verify();
  const Skeleton skeleton(corpus, path, tokenizer_hash);
  const MappedFile frame(skeleton.path());
  AtomicFile file(path);
  std::size_t position = 0;
  in_file_order(skeleton.ranges(), [&](std::size_t i, const ByteRange& range) {
    if (range.bytes > 0) {
      const auto begin = static_cast<std::size_t>(range.begin);
      MPITRON_CHECK(begin >= position, begin, position);
      file.write(frame.text().substr(position, begin - position));
      write_array(corpus, kNames[i], file);
      position = begin + static_cast<std::size_t>(range.bytes);
    }
  });
  const std::size_t end = frame.text().size();
  file.write(frame.text().substr(position));
  const auto hash = hash_metadata(frame.text(), skeleton.ranges());
  MPITRON_CHECK(hash.has_value(), path.string());
  Seal seal;
  std::copy(kMagic.begin(), kMagic.end(), seal.magic.begin());
  seal.hdf5_bytes = end;
  seal.arrays = skeleton.ranges();
  seal.metadata_high = hash->high;
  seal.metadata_low = hash->low;
  seal.check = check_of(seal);
  file.write(&seal, sizeof(seal));
  file.commit();
}

}  // namespace mpitron::io
