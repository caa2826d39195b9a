#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "io/tokens/token_file.h"
#include "io/tokens/token_hdf5.h"
#include "utils/error.h"

// Opens a token file: its index, its tokens, what its header says; and finds those that may be
// meant.

namespace mpitron::io {
namespace {

constexpr Index kHeaderBytes =
    34;  // magic, version u64, type u8, sequences u64, document indices u64

/// What to do where `prefix` names no corpus.
std::string advice_on(const std::string& prefix) {
  const std::vector<std::string> similar = similar_corpora(prefix);
  if (similar.empty() && std::filesystem::is_regular_file(prefix)) {
    return fmt::format("`mpitron preprocess --input {}` makes a corpus of a text", prefix);
  }
  return fmt::format("a corpus is named by what its .bin and .idx share{}{}",
                     similar.empty() ? "" : ", such as ", fmt::join(similar, " or "));
}

}  // namespace

TokenFile::TokenFile(const std::string& prefix, BinAccess access) : prefix_(prefix) {
  const std::string beside = prefix + ".h5";
  if (prefix.ends_with(".h5")) {
    idx_path_ = bin_path_ = prefix;
    open_hdf5();
  } else if (!std::filesystem::exists(prefix + ".idx") && std::filesystem::exists(beside)) {
    idx_path_ = bin_path_ = beside;
    open_hdf5();
  } else {
    idx_path_ = prefix + ".idx";
    bin_path_ = prefix + ".bin";
    open_index();
  }
  if (documents_[0] != 0 || documents_[document_count()] != sequence_count()) {
    throw_data("{}: byte {}: expected document indices from 0 to {}, found {} to {}", idx_path_,
               index_byte(documents_, 0), sequence_count(), documents_[0],
               documents_[document_count()]);
  }
  open_bin(access);
  if (const Index n = sequence_count(); n > 0) {
    byte_offset(n - 1, 0, lengths_[n - 1]);  // finds a truncated .bin without a walk over the index
  }
}

void TokenFile::open_index() {
  if (!std::filesystem::exists(idx_path_)) {
    throw_data("{}: there is no such file; {}", idx_path_, advice_on(prefix_));
  }
  idx_ = MappedFile(idx_path_);
  read_header();
}

void TokenFile::open_hdf5() {
  idx_ = MappedFile(idx_path_);
  const TokenHdf5 layout = read_token_hdf5(idx_);
  const auto part = [&](const ByteRange& range) { return idx_.bytes().data() + range.begin; };
  const Index n = layout.lengths.bytes / 4;
  type_ = layout.type;
  tokenizer_hash_ = layout.tokenizer_hash;
  lengths_ = {part(layout.lengths), n};
  pointers_ = {part(layout.offsets), n};
  documents_ = {part(layout.documents), layout.documents.bytes / 8};
  modes_ = {part(layout.modes), layout.modes.bytes};
  pointer_unit_ = static_cast<Index>(size_of(type_));
  bin_begin_ = layout.tokens.begin;
  bin_bytes_ = layout.tokens.bytes;
}

void TokenFile::open_bin(BinAccess access) {
  const bool is_hdf5 = idx_path_ == bin_path_;
  if (access == BinAccess::mapped) {
    bin_ = is_hdf5 ? MappedFile() : MappedFile(bin_path_);
    bin_bytes_ = is_hdf5 ? bin_bytes_ : static_cast<Index>(bin_.bytes().size());
    tokens_ =
        (is_hdf5 ? idx_ : bin_)
            .bytes()
            .subspan(static_cast<std::size_t>(bin_begin_), static_cast<std::size_t>(bin_bytes_));
    return;
  }
  descriptor_ = Descriptor(::open(bin_path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (descriptor_.get() < 0 || ::fstat(descriptor_.get(), &info) != 0) {
    throw_data("{}: cannot open: {}", bin_path_, std::strerror(errno));
  }
  bin_bytes_ = is_hdf5 ? bin_bytes_ : static_cast<Index>(info.st_size);
}

template <class T>
Index TokenFile::index_byte(const PackedArray<T>& array, Index i) const {
  return array.bytes().data() - idx_.bytes().data() + i * static_cast<Index>(sizeof(T));
}

void TokenFile::read_header() {
  const std::string& path = idx_path_;
  const std::byte* data = idx_.bytes().data();
  const Index size = static_cast<Index>(idx_.bytes().size());
  if (size < kHeaderBytes) {
    throw_data("{}: {} bytes, but the header alone has {}: the file is truncated", path, size,
               kHeaderBytes);
  }
  if (idx_.text().substr(0, kTokenIndexMagic.size()) != kTokenIndexMagic) {
    throw_data("{}: byte 0: expected the magic MMIDIDX; this is no token index", path);
  }
  const auto field = [&](Index offset) { return PackedArray<std::uint64_t>(data + offset, 1)[0]; };
  if (const std::uint64_t version = field(9); version != kTokenIndexVersion) {
    throw_data("{}: byte 9: expected version {}, found {}", path, kTokenIndexVersion, version);
  }
  const int code = std::to_integer<int>(data[17]);
  if (code < 1 || code > 8) {
    throw_data("{}: byte 17: expected a type code from 1 to 8, found {}", path, code);
  }
  type_ = static_cast<TokenType>(code);
  const std::uint64_t sequences = field(18);
  const std::uint64_t documents = field(26);
  const auto body = static_cast<std::uint64_t>(size - kHeaderBytes);
  // The division keeps hostile counts from overflowing the products below.
  const bool plausible = documents >= 1 && sequences <= body / 12 && documents <= body / 8;
  const std::uint64_t arrays = plausible ? 12 * sequences + 8 * documents : 0;
  if (!plausible || (body != arrays && body != arrays + sequences)) {
    throw_data(
        "{}: bytes 18-33: {} sequences and {} document indices (at least 1) do not fit a file of "
        "{} bytes: truncated or corrupt",
        path, sequences, documents, size);
  }
  const Index n = static_cast<Index>(sequences);
  const Index d = static_cast<Index>(documents);
  lengths_ = {data + kHeaderBytes, n};
  pointers_ = {data + kHeaderBytes + 4 * n, n};
  documents_ = {data + kHeaderBytes + 12 * n, d};
  modes_ = {data + kHeaderBytes + 12 * n + 8 * d, body == arrays ? 0 : n};
}

namespace fs = std::filesystem;

std::vector<std::string> similar_corpora(const std::string& prefix) {
  const fs::path path(prefix);
  if (path.extension() == ".bin" || path.extension() == ".idx") {
    const std::string shorter = prefix.substr(0, prefix.size() - 4);
    if (fs::exists(shorter + ".idx")) {
      return {shorter};
    }
  }
  constexpr std::size_t kMost = 3;
  const std::string begin = path.filename();
  std::vector<std::string> found;
  std::error_code absent;  // no such folder: nothing is similar
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".idx" && name.starts_with(begin)) {
      found.push_back(path.parent_path() / name);
    }
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), kMost));
  return found;
}

}  // namespace mpitron::io
