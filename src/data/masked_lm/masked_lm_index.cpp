#include "data/masked_lm/masked_lm_index.h"

#include <limits>

#include "data/index/index_cache.h"
#include "data/masked_lm/sentence_index.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// The index of runs of sentences: built, or taken from the cache under the reference's name, and
// checked row by row when it is read.

namespace mpitron::data {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Sentences and documents decide the index; tokens do not.
std::string content_of(const io::TokenFile& corpus) {
  return hash128_hex(text_of(corpus.lengths().bytes())) +
         hash128_hex(text_of(corpus.documents().bytes()));
}

IndexArray build(const io::TokenFile& corpus, const SentenceIndexRequest& request) {
  corpus.verify();
  return corpus.sequence_count() <= std::numeric_limits<std::uint32_t>::max()
             ? IndexArray(build_sentence_index<std::uint32_t>(request))
             : IndexArray(build_sentence_index<std::int64_t>(request));
}

}  // namespace

MaskedLmIndex::MaskedLmIndex(const io::TokenFile& corpus, const MaskedLmIndexOptions& options)
    : description_(describe(options.description)),
      corpus_(corpus.prefix()),
      sentences_(corpus.sequence_count()),
      longest_(options.description.seq_length - options.special_tokens) {
  const GptDescription& description = options.description;
  MPITRON_CHECK(description.num_samples && description.masked_lm && longest_ > 1, longest_);
  const SentenceIndexRequest request{
      .lengths = corpus.lengths(),
      .documents = corpus.documents(),
      .begin = options.begin,
      .end = options.end,
      .num_samples = *description.num_samples,
      .max_tokens = longest_,
      .min_sentences = options.min_sentences,
      .short_probability = description.masked_lm->short_sequence_probability,
      .seed = description.seed};
  const IndexCache cache(
      options.cache_folder, description.class_name + "-" + to_string(description.index_split),
      description_, {.sequences = options.cache_folder.empty() ? "" : content_of(corpus)});
  rows_ = cache.get({"sample_index"}, {{IndexCache::kAnyExtent, 3}},
                    [&] { return std::vector{build(corpus, request)}; })[0];
}

SentenceRun MaskedLmIndex::operator[](Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const SentenceRun run{rows_[3 * sample], rows_[3 * sample + 1], rows_[3 * sample + 2]};
  if (run.begin < 0 || run.begin >= run.end || run.end > sentences_ || run.target < 2 ||
      run.target > longest_) {
    throw_data(
        "{}: the cached index of sample {} points outside the corpus; delete the files of the "
        "index cache (--data-cache-path)",
        corpus_, sample);
  }
  return run;
}

}  // namespace mpitron::data
