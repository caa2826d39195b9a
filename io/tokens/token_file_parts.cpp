#include "io/tokens/token_file_parts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "io/tokens/growing_file.h"
#include "io/tokens/token_index_writer.h"
#include "utils/check.h"
#include "utils/error.h"

// A corpus on its way: tokens go to `.part` files at known lengths, which the journal notes. After
// a kill the files are cut back to what was noted, and writing goes on there.

namespace mpitron::io {
namespace {

/// Index files that a killed run had not finished, under the names that AtomicFile gives.
void remove_unfinished_index(const std::filesystem::path& index) {
  const std::string begin = index.filename().string() + ".";
  std::error_code ignored;
  for (std::filesystem::directory_iterator
           at(index.parent_path().empty() ? "." : index.parent_path(), ignored),
       end;
       at != end; at.increment(ignored)) {
    const std::string name = at->path().filename();
    if (name.starts_with(begin) && name.ends_with(".tmp")) {
      std::filesystem::remove(at->path(), ignored);
    }
  }
}

}  // namespace

TokenFileParts::TokenFileParts(const std::string& prefix, TokenType type, const TokenExtent& extent)
    : prefix_(prefix),
      type_(type),
      extent_(extent),
      bin_(std::make_unique<GrowingFile>(prefix + ".bin.part", prefix + ".bin",
                                         extent.tokens * static_cast<Index>(size_of(type)))),
      lengths_(std::make_unique<GrowingFile>(prefix + ".lengths.part", prefix + ".idx",
                                             extent.sequences * 4)),
      documents_(std::make_unique<GrowingFile>(prefix + ".documents.part", prefix + ".idx",
                                               extent.documents * 8)) {
  remove_unfinished_index(prefix + ".idx");
}

TokenFileParts::~TokenFileParts() = default;
TokenFileParts::TokenFileParts(TokenFileParts&&) noexcept = default;

bool TokenFileParts::exist(const std::string& prefix, TokenType type, const TokenExtent& extent) {
  const auto holds = [&](const char* end, Index bytes) {
    std::error_code failed;
    const auto held = std::filesystem::file_size(prefix + end, failed);
    return !failed && static_cast<Index>(held) >= bytes;
  };
  return holds(".bin.part", extent.tokens * static_cast<Index>(size_of(type))) &&
         holds(".lengths.part", extent.sequences * 4) &&
         holds(".documents.part", extent.documents * 8);
}

void TokenFileParts::append(const TokenBlock& block) {
  MPITRON_CHECK(block.type() == type_, prefix_);
  bin_->write(block.bytes().data(), block.bytes().size());
  lengths_->write(block.sequence_lengths().data(), block.sequence_lengths().size_bytes());
  for (const std::int64_t end : block.document_ends()) {
    const std::int64_t sequences = extent_.sequences + end;
    documents_->write(&sequences, sizeof sequences);
  }
  extent_.tokens += block.token_count();
  extent_.sequences += std::ssize(block.sequence_lengths());
  extent_.documents += std::ssize(block.document_ends());
}

void TokenFileParts::append(const TokenFile& corpus) {
  if (corpus.type() != type_ || corpus.has_modes()) {
    throw_data("{}: {}{} cannot be merged with {}; all parts need one type and no modes",
               corpus.prefix(), to_string(corpus.type()), corpus.has_modes() ? " with modes" : "",
               to_string(type_));
  }
  corpus.verify();
  for (Index i = 0; i < corpus.sequence_count(); ++i) {
    const std::span<const std::byte> bytes = corpus.raw(i);
    const std::int32_t length = corpus.length(i);
    bin_->write(bytes.data(), bytes.size());
    lengths_->write(&length, sizeof length);
    extent_.tokens += length;
  }
  for (Index i = 1; i <= corpus.document_count(); ++i) {
    const std::int64_t end = extent_.sequences + corpus.document_begin(i);
    documents_->write(&end, sizeof end);
  }
  extent_.sequences += corpus.sequence_count();
  extent_.documents += corpus.document_count();
}

void TokenFileParts::append(TokenFileParts& other) {
  MPITRON_CHECK(other.type_ == type_, prefix_);
  const auto copy = [](GrowingFile& from, GrowingFile& to) {
    from.for_each_piece<std::byte>(
        [&](std::span<const std::byte> piece) { to.write(piece.data(), piece.size()); });
  };
  copy(*other.bin_, *bin_);
  copy(*other.lengths_, *lengths_);
  other.documents_->for_each_piece<std::int64_t>([&](std::span<const std::int64_t> piece) {
    for (const std::int64_t sequences : piece) {
      const std::int64_t end = extent_.sequences + sequences;
      documents_->write(&end, sizeof end);
    }
  });
  extent_.tokens += other.extent_.tokens;
  extent_.sequences += other.extent_.sequences;
  extent_.documents += other.extent_.documents;
}

void TokenFileParts::sync() {
  bin_->sync();
  lengths_->sync();
  documents_->sync();
}

void TokenFileParts::commit() {
  sync();
  TokenIndexWriter index(prefix_, type_, extent_.sequences, extent_.documents);
  lengths_->for_each_piece<std::int32_t>(
      [&](std::span<const std::int32_t> piece) { index.add_lengths(piece); });
  lengths_->for_each_piece<std::int32_t>(
      [&](std::span<const std::int32_t> piece) { index.add_pointers(piece); });
  constexpr std::array<std::int64_t, 1> kFirst = {0};
  index.add_documents(kFirst);
  documents_->for_each_piece<std::int64_t>(
      [&](std::span<const std::int64_t> piece) { index.add_documents(piece); });
  index.commit([&] { bin_->rename_to(prefix_ + ".bin"); });
  lengths_->remove();
  documents_->remove();
}

void TokenFileParts::discard() {
  bin_->remove();
  lengths_->remove();
  documents_->remove();
}

}  // namespace mpitron::io
