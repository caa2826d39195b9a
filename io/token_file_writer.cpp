#include "io/token_file_writer.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::io {
TokenFileWriter::TokenFileWriter(const std::string& prefix, TokenType type, Modes modes)
    : prefix_(prefix), type_(type), modes_(modes), bin_(prefix + ".bin"), idx_(prefix + ".idx") {}

template <class T>
void TokenFileWriter::add_tokens(std::span<const T> tokens, int mode) {
  scratch_.resize(std::max(scratch_.size(), tokens.size() * size_of(type_)));
  try {
    narrow_tokens(type_, tokens, scratch_.data());
  } catch (const Error& error) {
    throw_data("{}.bin: {}", prefix_, error.what());
  }
  bin_.write(scratch_.data(), tokens.size() * size_of(type_));
  add_entry(static_cast<Index>(tokens.size()), mode);
}

void TokenFileWriter::add_entry(Index length, int mode) {
  if (length > std::numeric_limits<std::int32_t>::max()) {
    throw_data("{}.idx: a sequence of {} tokens; the format allows 2^31 - 1", prefix_, length);
  }
  lengths_.push_back(static_cast<std::int32_t>(length));
  if (modes_ == Modes::present) {
    mode_of_sequence_.push_back(static_cast<std::int8_t>(mode));
  }
}

void TokenFileWriter::add_sequence(std::span<const std::int32_t> tokens, int mode) {
  add_tokens(tokens, mode);
}

void TokenFileWriter::add_sequence(std::span<const std::int64_t> tokens, int mode) {
  add_tokens(tokens, mode);
}

void TokenFileWriter::end_document() {
  documents_.push_back(sequence_count());
}

void TokenFileWriter::add_document(std::span<const std::int32_t> tokens,
                                   std::span<const std::int32_t> sequence_lengths) {
  for (const std::int32_t length : sequence_lengths) {
    MPITRON_CHECK(length >= 0 && static_cast<std::size_t>(length) <= tokens.size(), length);
    add_sequence(tokens.first(static_cast<std::size_t>(length)));
    tokens = tokens.subspan(static_cast<std::size_t>(length));
  }
  MPITRON_CHECK(tokens.empty(), tokens.size());
  end_document();
}

void TokenFileWriter::append(const TokenBlock& block) {
  MPITRON_CHECK(block.type() == type_ && modes_ == Modes::absent, prefix_);
  const Index offset = sequence_count();
  bin_.write(block.bytes().data(), block.bytes().size());
  lengths_.insert(lengths_.end(), block.sequence_lengths().begin(), block.sequence_lengths().end());
  for (const std::int64_t end : block.document_ends())
    documents_.push_back(offset + end);
}

void TokenFileWriter::append(const TokenFile& part) {
  if (part.type() != type_ || (part.has_modes() && modes_ == Modes::absent)) {
    throw_data("{}: {}{} cannot be appended to a corpus of {}{}; all parts need one type",
               part.prefix(), to_string(part.type()), part.has_modes() ? " with modes" : "",
               to_string(type_), modes_ == Modes::present ? " with modes" : "");
  }
  part.verify();
  const Index offset = sequence_count();
  for (Index i = 0; i < part.sequence_count(); ++i) {
    const std::span<const std::byte> bytes = part.raw(i);
    bin_.write(bytes.data(), bytes.size());
    add_entry(part.length(i), part.mode(i));
  }
  for (Index i = 1; i <= part.document_count(); ++i) {
    documents_.push_back(offset + part.document_begin(i));
  }
}

void TokenFileWriter::write_index() {
  const auto put = [&](const auto& value) { idx_.write(&value, sizeof(value)); };
  idx_.write(kTokenIndexMagic);
  put(kTokenIndexVersion);
  put(static_cast<std::uint8_t>(type_));
  put(static_cast<std::uint64_t>(lengths_.size()));
  put(static_cast<std::uint64_t>(documents_.size()));
  idx_.write(lengths_.data(), lengths_.size() * sizeof(lengths_[0]));
  std::int64_t pointer = 0;
  for (const std::int32_t length : lengths_) {
    put(pointer);
    pointer += static_cast<std::int64_t>(length) * static_cast<std::int64_t>(size_of(type_));
  }
  idx_.write(documents_.data(), documents_.size() * sizeof(documents_[0]));
  idx_.write(mode_of_sequence_.data(), mode_of_sequence_.size());
}

void TokenFileWriter::commit() {
  if (documents_.back() != sequence_count()) {
    end_document();  // sequences after the last end_document belong to a last document
  }
  write_index();
  // A disk that is full shows here, while the names still belong to the earlier corpus or to none.
  bin_.sync();
  idx_.sync();
  // An index of an earlier corpus under this name must not meet the new tokens.
  std::error_code failed;
  std::filesystem::remove(prefix_ + ".idx", failed);
  if (failed) {
    throw_data("{}.idx: cannot replace the earlier index: {}; remove it and run again", prefix_,
               failed.message());
  }
  bin_.commit();
  idx_.commit();
}

}  // namespace mpitron::io
