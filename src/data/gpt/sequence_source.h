#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Bytes of a file that hold tokens.
struct BytePlace {
  std::string file;
  Index begin = 0;
  Index bytes = 0;
};

/// Sequences of tokens: a corpus on disk, or a generated one. Reading from several threads is safe.
class SequenceSource {
 public:
  virtual ~SequenceSource() = default;
  /// The prefix of a corpus, as the user gave it.
  virtual const std::string& name() const = 0;
  /// Tokens of every sequence.
  virtual const io::PackedArray<std::int32_t>& lengths() const = 0;
  /// Reads the tokens from `offset` on that `out` has room for; they lie within the sequence.
  virtual void read(Index sequence, Index offset, std::span<std::int64_t> out) const = 0;
  /// Number of documents; a document is the sequences [begin, end). Generated ones have one each.
  virtual Index document_count() const { return lengths().size(); }
  virtual std::pair<Index, Index> sequences_of(Index document) const {
    return {document, document + 1};
  }
  virtual Index document_of(Index sequence) const { return sequence; }
  /// Returns where tokens lie on disk; nothing for generated ones.
  virtual std::optional<BytePlace> place(Index /*sequence*/, Index /*offset*/,
                                         Index /*tokens*/) const {
    return std::nullopt;
  }
  /// Checks what only a walk over everything can check; called before indices are built.
  virtual void verify() const {}
};

/// A corpus of .bin and .idx files.
class CorpusSource final : public SequenceSource {
 public:
  CorpusSource(const std::string& prefix, io::BinAccess access) : file_(prefix, access) {}
  const std::string& name() const override { return file_.prefix(); }
  const io::PackedArray<std::int32_t>& lengths() const override { return file_.lengths(); }
  void read(Index sequence, Index offset, std::span<std::int64_t> out) const override {
    file_.read(sequence, offset, out);
  }
  Index document_count() const override { return file_.document_count(); }
  std::pair<Index, Index> sequences_of(Index document) const override {
    return {file_.document_begin(document), file_.document_begin(document + 1)};
  }
  Index document_of(Index sequence) const override;
  std::optional<BytePlace> place(Index sequence, Index offset, Index tokens) const override;
  void verify() const override { file_.verify(); }
  const io::TokenFile& file() const { return file_; }

 private:
  io::TokenFile file_;
};

/// Megatron's mock corpus: 100000 sequences of 1 to 4095 tokens 1, 2, 3, ..., eod. Where the
/// reference would leave the vocabulary (`vocab_size` > 0), counting starts again at 0.
class MockSource final : public SequenceSource {
 public:
  MockSource(std::int64_t eod, Index vocab_size);
  const std::string& name() const override { return name_; }
  const io::PackedArray<std::int32_t>& lengths() const override { return lengths_; }
  void read(Index sequence, Index offset, std::span<std::int64_t> out) const override;

 private:
  std::string name_ = "--mock-data";
  std::int64_t eod_;
  Index vocab_size_;
  std::vector<std::int32_t> values_;
  io::PackedArray<std::int32_t> lengths_;
};

}  // namespace mpitron::data
