#include "io/tokens/token_file_writer.h"

#include <algorithm>
#include <limits>

#include "io/tokens/token_index_writer.h"
#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::io {

TokenFileWriter::TokenFileWriter(const std::string& prefix, TokenType type, Modes modes)
    : prefix_(prefix), type_(type), modes_(modes), bin_(prefix + ".bin") {}

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
  for (const std::int64_t end : block.document_ends()) {
    documents_.push_back(offset + end);
  }
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

void TokenFileWriter::commit() {
  if (documents_.back() != sequence_count()) {
    end_document();  // sequences after the last end_document belong to a last document
  }
  TokenIndexWriter index(prefix_, type_, sequence_count(), document_count());
  index.add_lengths(lengths_);
  index.add_pointers(lengths_);
  index.add_documents(documents_);
  index.add_modes(mode_of_sequence_);
  bin_.sync();
  index.commit([&] { bin_.commit(); });
}

}  // namespace mpitron::io
