#include "corpus/dataset_report.h"

#include <algorithm>
#include <bit>

#include "data/preprocess/json_text.h"
#include "utils/error.h"

// Figures of a tokenised corpus by its index alone, however large it is; and the tokens of one
// document.

namespace mpitron::corpus {
namespace {

constexpr Index kBarWidth = 50;

/// Returns the tokens of each document, over its sequences.
std::vector<Index> document_lengths(const io::TokenFile& corpus) {
  std::vector<Index> lengths(static_cast<std::size_t>(corpus.document_count()));
  for (Index d = 0; d < corpus.document_count(); ++d) {
    for (Index s = corpus.document_begin(d); s < corpus.document_begin(d + 1); ++s) {
      lengths[static_cast<std::size_t>(d)] += corpus.length(s);
    }
  }
  return lengths;
}

/// Counts documents in buckets by powers of two; empty ones in between stay in the list.
std::vector<LengthBucket> histogram_of(const std::vector<Index>& sorted) {
  std::vector<LengthBucket> histogram;
  for (const Index length : sorted) {
    const auto from = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(length)));
    while (histogram.empty() || histogram.back().from < from) {
      const Index next = histogram.empty() ? from : 2 * histogram.back().from;
      histogram.push_back({next, 2 * next, 0});
    }
    ++histogram.back().documents;
  }
  return histogram;
}

}  // namespace

/// Reads the index alone, not the tokens.
DatasetReport inspect_dataset(const io::TokenFile& corpus) {
  corpus.verify();
  DatasetReport report;
  report.prefix = corpus.prefix();
  report.type = io::to_string(corpus.type());
  report.tokenizer_hash = corpus.tokenizer_hash();
  report.documents = corpus.document_count();
  report.sequences = corpus.sequence_count();
  std::vector<Index> lengths = document_lengths(corpus);
  for (const Index length : lengths) {
    report.tokens += length;
  }
  report.bytes = report.tokens * static_cast<Index>(io::size_of(corpus.type()));
  report.empty_documents = std::erase(lengths, 0);
  if (!lengths.empty()) {
    std::ranges::sort(lengths);
    report.shortest = lengths.front();
    report.longest = lengths.back();
    report.median = lengths[lengths.size() / 2];
    report.percentile_90 = lengths[lengths.size() * 9 / 10];
    report.histogram = histogram_of(lengths);
  }
  return report;
}

/// Reads a document's sequences one behind the other.
std::vector<std::int64_t> document_tokens(const io::TokenFile& corpus, Index document) {
  if (document < 0 || document >= corpus.document_count()) {
    throw_usage("--document {}: {} has documents 0 to {}", document, corpus.prefix(),
                corpus.document_count() - 1);
  }
  corpus.verify();
  std::vector<std::int64_t> tokens;
  for (Index s = corpus.document_begin(document); s < corpus.document_begin(document + 1); ++s) {
    const std::size_t before = tokens.size();
    tokens.resize(before + static_cast<std::size_t>(corpus.length(s)));
    corpus.read(s, 0, std::span(tokens).subspan(before));
  }
  return tokens;
}

/// Writes counts, quantiles and a histogram for people.
std::string to_text(const DatasetReport& report) {
  std::string text =
      fmt::format("{}: {} documents ({} empty), {} sequences, {} tokens of {} ({:.1f} MB)\n",
                  report.prefix, report.documents, report.empty_documents, report.sequences,
                  report.tokens, report.type, static_cast<double>(report.bytes) * 1e-6);
  if (!report.tokenizer_hash.empty()) {
    text += fmt::format("made with the tokenizer of fingerprint {}\n", report.tokenizer_hash);
  }
  const Index filled = report.documents - report.empty_documents;
  if (filled == 0) {
    return text;
  }
  text += fmt::format("tokens of a document: {} to {}, mean {:.1f}, median {}, 90 % below {}",
                      report.shortest, report.longest,
                      static_cast<double>(report.tokens) / static_cast<double>(filled),
                      report.median, report.percentile_90 + 1);
  Index most = 1;
  for (const LengthBucket& bucket : report.histogram) {
    most = std::max(most, bucket.documents);
  }
  for (const LengthBucket& bucket : report.histogram) {
    // Bars are rounded up: a bucket that is not empty shows.
    const Index width = (bucket.documents * kBarWidth + most - 1) / most;
    std::string bar;
    for (Index i = 0; i < width; ++i) {
      bar += "█";
    }
    text += fmt::format("\n{:>10} - {:<10} {:>10}  {}", bucket.from, bucket.to - 1,
                        bucket.documents, bar);
  }
  return text;
}

/// Writes the figures for scripts.
std::string to_json(const DatasetReport& report) {
  std::string buckets;
  for (const LengthBucket& bucket : report.histogram) {
    buckets += fmt::format(R"({}{{"from":{},"to":{},"documents":{}}})", buckets.empty() ? "" : ",",
                           bucket.from, bucket.to, bucket.documents);
  }
  return fmt::format(
      R"({{"prefix":{},"type":"{}","tokenizer_fingerprint":{},"documents":{},"empty_documents":{},"sequences":{},"tokens":{},)"
      R"("bytes":{},"shortest":{},"longest":{},"median":{},"percentile_90":{},"histogram":[{}]}})",
      data::quote_json(report.prefix), report.type,
      report.tokenizer_hash.empty() ? "null" : data::quote_json(report.tokenizer_hash),
      report.documents, report.empty_documents, report.sequences, report.tokens, report.bytes,
      report.shortest, report.longest, report.median, report.percentile_90, buckets);
}

}  // namespace mpitron::corpus
