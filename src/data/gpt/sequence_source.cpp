#include "data/gpt/sequence_source.h"

#include "data/index/numpy_random.h"

// Sources of sequences: corpora on disk, and the reference's mock corpus, which numpy's generator
// with seed 0 gives its lengths.

namespace mpitron::data {
namespace {

constexpr std::size_t kMockSequences = 100000;
constexpr std::int64_t kMockMaxLength = 4096;

}  // namespace

Index CorpusSource::document_of(Index sequence) const {
  Index low = 0;
  Index high = file_.document_count() - 1;
  while (low < high) {  // the last document that begins at or before the sequence
    const Index middle = low + (high - low + 1) / 2;
    if (file_.document_begin(middle) <= sequence) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

std::optional<BytePlace> CorpusSource::place(Index sequence, Index offset, Index tokens) const {
  const auto width = static_cast<Index>(io::size_of(file_.type()));
  return BytePlace{file_.token_path(), file_.byte_position(sequence) + offset * width,
                   tokens * width};
}

MockSource::MockSource(std::int64_t eod, Index vocab_size)
    : eod_(eod), vocab_size_(vocab_size), values_(kMockSequences) {
  Pcg64 random(0);
  for (std::int32_t& length : values_) {
    length = static_cast<std::int32_t>(random.integer(1, kMockMaxLength));
  }
  lengths_ = {std::as_bytes(std::span(values_)).data(), static_cast<Index>(values_.size())};
}

void MockSource::read(Index sequence, Index offset, std::span<std::int64_t> out) const {
  const Index last = lengths_[sequence] - 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Index position = offset + static_cast<Index>(i);
    const Index token = position + 1;
    out[i] = position == last ? eod_ : vocab_size_ > 0 ? token % vocab_size_ : token;
  }
}

}  // namespace mpitron::data
