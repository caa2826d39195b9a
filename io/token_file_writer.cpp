#include "io/token_file_writer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "utils/error.h"

namespace mpitron::io {
namespace {

/// False when a value changes on the way to the narrower type.
template <class To, class From>
bool narrow(std::span<const From> tokens, std::byte* out) {
  bool fits = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const To value = static_cast<To>(tokens[i]);
    fits &= static_cast<std::int64_t>(value) == static_cast<std::int64_t>(tokens[i]);
    std::memcpy(out + i * sizeof(To), &value, sizeof(To));
  }
  return fits;
}

template <class From>
bool narrow(TokenType type, std::span<const From> tokens, std::byte* out) {
  switch (type) {
    case TokenType::u8:
      return narrow<std::uint8_t>(tokens, out);
    case TokenType::i8:
      return narrow<std::int8_t>(tokens, out);
    case TokenType::i16:
      return narrow<std::int16_t>(tokens, out);
    case TokenType::i32:
      return narrow<std::int32_t>(tokens, out);
    case TokenType::i64:
      return narrow<std::int64_t>(tokens, out);
    case TokenType::u16:
      return narrow<std::uint16_t>(tokens, out);
    case TokenType::f32:
    case TokenType::f64:
      break;  // features are appended from parts, never written as tokens
  }
  return false;
}

}  // namespace

TokenFileWriter::TokenFileWriter(const std::string& prefix, TokenType type, Modes modes)
    : prefix_(prefix), type_(type), modes_(modes), bin_(prefix + ".bin"), idx_(prefix + ".idx") {}

template <class T>
void TokenFileWriter::add_tokens(std::span<const T> tokens, int mode) {
  scratch_.resize(std::max(scratch_.size(), tokens.size() * size_of(type_)));
  if (!narrow(type_, tokens, scratch_.data())) {
    const auto [low, high] = std::minmax_element(tokens.begin(), tokens.end());
    throw_data("{}.bin: token ids from {} to {} do not fit the type {}", prefix_, *low, *high,
               to_string(type_));
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
  // An index of an earlier corpus under this name must not meet the new tokens.
  std::filesystem::remove(prefix_ + ".idx");
  bin_.commit();
  idx_.commit();
}

}  // namespace mpitron::io
