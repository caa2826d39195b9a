#include "io/tokens/token_index_writer.h"

#include <filesystem>

#include "utils/error.h"

namespace mpitron::io {

TokenIndexWriter::TokenIndexWriter(const std::string& prefix, TokenType type, Index sequences,
                                   Index documents)
    : path_(prefix + ".idx"), file_(path_), token_bytes_(static_cast<Index>(size_of(type))) {
  const auto put = [&](const auto& value) { file_.write(&value, sizeof(value)); };
  file_.write(kTokenIndexMagic);
  put(kTokenIndexVersion);
  put(static_cast<std::uint8_t>(type));
  put(static_cast<std::uint64_t>(sequences));
  put(static_cast<std::uint64_t>(documents + 1));
}

void TokenIndexWriter::add_lengths(std::span<const std::int32_t> lengths) {
  file_.write(lengths.data(), lengths.size_bytes());
}

void TokenIndexWriter::add_pointers(std::span<const std::int32_t> lengths) {
  for (const std::int32_t length : lengths) {
    file_.write(&pointer_, sizeof pointer_);
    pointer_ += length * token_bytes_;
  }
}

void TokenIndexWriter::add_documents(std::span<const std::int64_t> documents) {
  file_.write(documents.data(), documents.size_bytes());
}

void TokenIndexWriter::add_modes(std::span<const std::int8_t> modes) {
  file_.write(modes.data(), modes.size_bytes());
}

void TokenIndexWriter::commit(const std::function<void()>& put_tokens) {
  file_.sync();
  std::error_code failed;
  std::filesystem::remove(path_, failed);
  if (failed) {
    throw_data("{}: cannot replace the earlier index: {}; remove it and run again", path_,
               failed.message());
  }
  put_tokens();
  file_.commit();
}

}  // namespace mpitron::io
