#include "data/masked_lm/sentence_index.h"

#include <cmath>
#include <random>
#include <utility>

#include "utils/check.h"
#include "utils/error.h"

// Runs of sentences that fill a sample, cut shorter at random now and then, over as many epochs as
// it takes; the order is Megatron's.

namespace mpitron::data {
namespace {

/// The reference's LONG_SENTENCE_LEN.
constexpr Index kLongSentence = 512;

/// Draws how many tokens the next sample wants: with the C++ library's mt19937, as the reference's
/// helper does, and not numpy's.
class Targets {
 public:
  Targets(Index seed, Index max_tokens, double short_probability)
      : random_(static_cast<std::uint32_t>(seed)),
        max_tokens_(max_tokens),
        ratio_(short_probability > 0.0 ? std::lround(1.0 / short_probability) : 0) {}

  Index next() {
    if (ratio_ == 0) {
      return max_tokens_;
    }
    const auto draw = static_cast<Index>(random_());
    return draw % ratio_ == 0 ? 2 + draw % (max_tokens_ - 1) : max_tokens_;
  }

 private:
  std::mt19937 random_;
  Index max_tokens_;
  Index ratio_;  // one of so many is short
};

/// Returns whether a document gives samples: it has enough sentences, and none that is too long
/// beside others.
bool is_used(const SentenceIndexRequest& request, Index first, Index end) {
  if (end - first < request.min_sentences || end == first) {
    return false;
  }
  bool has_long = false;
  for (Index i = first; i < end; ++i) {
    has_long = has_long || request.lengths[i] > kLongSentence;
  }
  return end - first == 1 || !has_long;
}

/// Cuts a document into runs that reach their target; a last sentence alone joins the run before.
template <class T>
void add_document(const SentenceIndexRequest& request, Index first, Index end, Targets& targets,
                  std::vector<T>& rows) {
  Index target = targets.next();
  Index start = first;
  Index tokens = 0;
  for (Index i = first; i < end; ++i) {
    tokens += request.lengths[i];
    const Index remaining = end - 1 - i;
    const bool enough = tokens >= target && remaining > 1 && i + 1 - start >= request.min_sentences;
    if (enough || remaining == 0) {
      rows.insert(rows.end(),
                  {static_cast<T>(start), static_cast<T>(i + 1), static_cast<T>(target)});
      start = i + 1;
      tokens = 0;
      target = targets.next();  // after the last row too
    }
  }
}

/// Shuffles rows with the 64-bit generator of the next seed, as the reference.
template <class T>
void shuffle_rows(Index seed, std::vector<T>& rows) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) + 1);
  for (std::size_t i = rows.size() / 3; i-- > 1;) {
    const std::size_t j = random() % (i + 1);
    for (std::size_t k = 0; k < 3; ++k) {
      std::swap(rows[3 * i + k], rows[3 * j + k]);
    }
  }
}

}  // namespace

template <class T>
std::vector<T> build_sentence_index(const SentenceIndexRequest& request) {
  MPITRON_CHECK(request.max_tokens > 1, request.max_tokens);
  Targets targets(request.seed, request.max_tokens, request.short_probability);
  std::vector<T> rows;
  while (static_cast<Index>(rows.size() / 3) < request.num_samples) {
    const std::size_t before = rows.size();
    for (Index d = request.begin; d < request.end; ++d) {
      const Index first = request.documents[d];
      const Index end = request.documents[d + 1];
      if (is_used(request, first, end)) {
        add_document(request, first, end, targets, rows);
      }
    }
    if (rows.size() == before) {
      throw_usage(
          "no sample in {} documents: each needs at least {} sentences (several, as the "
          "preprocessing option --split-sentences makes them), none above {} tokens; give --split "
          "a larger share, or ask for no samples of it",
          request.end - request.begin, request.min_sentences, kLongSentence);
    }
  }
  shuffle_rows(request.seed, rows);
  return rows;
}

template std::vector<std::uint32_t> build_sentence_index(const SentenceIndexRequest&);
template std::vector<std::int64_t> build_sentence_index(const SentenceIndexRequest&);

}  // namespace mpitron::data
