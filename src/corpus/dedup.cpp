#include "corpus/dedup.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/ranges.h>

#include "corpus/min_hash.h"
#include "corpus/record.h"
#include "data/index/input_files.h"
#include "data/index/ordered_pipeline.h"
#include "data/preprocess/document_reader.h"
#include "data/preprocess/progress.h"
#include "io/compressed/byte_source.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Finds near-duplicates in three steps: signatures of all documents (one pass), candidates that
// share a band, and their exact similarity from the texts themselves. The first document of a group
// stays.

namespace mpitron::corpus {
namespace {

/// Representatives of a bucket that a document is compared with: a bucket of boilerplate may hold a
/// large part of the corpus, and all pairs of it would never end.
constexpr std::size_t kCompared = 64;

/// The place of a raw document in its file.
struct Place {
  Index offset;
  std::int32_t file;
  std::uint32_t bytes;
};

using Bucket = std::vector<Index>;  // documents with one key, in order

/// The places of all documents, which the passes share.
class Documents {
 public:
  /// Maps the files. They are read twice, so they must be files: a pipe has no second reading.
  explicit Documents(const DedupOptions& options)
      : options_(options), files_(data::find_input_files(options.inputs)) {
    for (const std::string& file : files_) {
      if (file == "-" || !std::filesystem::is_regular_file(file) || io::names_compressed(file)) {
        throw_usage(
            "--input {}: dedup reads documents twice, in any order; give plain files (of a pipe or "
            "compressed data make one first)",
            file);
      }
      mapped_.emplace_back(file);
    }
  }

  std::string_view raw(Index document) const {
    const Place& place = places_[static_cast<std::size_t>(document)];
    return mapped_[static_cast<std::size_t>(place.file)].text().substr(
        static_cast<std::size_t>(place.offset), place.bytes);
  }

  bool json(Index document) const {
    return !data::names_plain_text(
        files_[static_cast<std::size_t>(places_[static_cast<std::size_t>(document)].file)]);
  }

  /// Returns the text of a raw document.
  std::string_view text(Record& record, std::string_view raw, bool json) const {
    if (!json) {
      return raw;
    }
    record.parse(raw);
    return record.required_text(options_.text_key);
  }

  const std::vector<std::string>& files() const { return files_; }
  Index count() const { return std::ssize(places_); }
  void add(const Place& place) { places_.push_back(place); }

 private:
  const DedupOptions& options_;
  std::vector<std::string> files_;
  std::vector<MappedFile> mapped_;
  std::vector<Place> places_;
};

struct SignatureBatch {
  data::DocumentBatch raw;
  std::vector<std::uint64_t> keys;  // [documents, bands]
};

struct Signer {
  explicit Signer(const DedupOptions& options)
      : min_hash(options.seeds, options.bands, options.seed) {}
  MinHash min_hash;
  Record record;
  std::vector<std::uint64_t> shingles;
};

/// Computes the keys of each document's bands: similar ones share at least one with high
/// probability.
void sign(const Documents& documents, const DedupOptions& options, Signer& signer,
          SignatureBatch& batch) {
  const auto bands = static_cast<std::size_t>(options.bands);
  batch.keys.resize(batch.raw.documents.size() * bands);
  for (std::size_t i = 0; i < batch.raw.documents.size(); ++i) {
    const data::RawDocument& document = batch.raw.documents[i];
    try {
      hash_shingles(documents.text(signer.record, document.text, batch.raw.json),
                    static_cast<int>(options.shingle), signer.shingles);
    } catch (const Error& error) {
      throw_data("{}", batch.raw.complaint(document, error.what()));
    }
    signer.min_hash.band_keys(signer.shingles, {&batch.keys[i * bands], bands});
  }
}

void throw_if_stopped(const DedupOptions& options) {
  if (options.stop && options.stop()) {
    throw Error(ExitCode::interrupted_unsaved, "dedup was stopped; nothing was written");
  }
}

/// Passes over the input (1): places and band keys [documents, bands] of all documents.
std::vector<std::uint64_t> sign_all(Documents& documents, const DedupOptions& options,
                                    DedupReport& report) {
  data::DocumentReader reader(documents.files(), data::TextDocuments::paragraphs);
  data::Progress progress("signatures", reader.total_bytes(), 1);
  std::vector<Signer> signers;
  for (int worker = 0; worker < options.workers; ++worker) {
    signers.emplace_back(options);
  }
  std::vector<std::uint64_t> keys;
  data::OrderedPipeline<SignatureBatch>(options.workers)
      .run(
          [&](SignatureBatch& batch) {
            throw_if_stopped(options);
            return reader.next(batch.raw);
          },
          [&](int worker, SignatureBatch& batch) {
            sign(documents, options, signers[static_cast<std::size_t>(worker)], batch);
          },
          [&](SignatureBatch& batch) {
            for (const data::RawDocument& document : batch.raw.documents) {
              documents.add({document.offset, static_cast<std::int32_t>(batch.raw.end.file),
                             static_cast<std::uint32_t>(document.text.size())});
            }
            keys.insert(keys.end(), batch.keys.begin(), batch.keys.end());
            report.bytes += batch.raw.file_bytes;
            progress.update(documents.count(), report.bytes);
          });
  return keys;
}

/// Finds documents that share a key in some band (2); a set of documents counts once.
std::vector<Bucket> find_buckets(const std::vector<std::uint64_t>& keys, Index documents,
                                 Index bands) {
  std::vector<Bucket> buckets;
  std::vector<std::pair<std::uint64_t, Index>> band(static_cast<std::size_t>(documents));
  for (Index b = 0; b < bands; ++b) {
    for (Index d = 0; d < documents; ++d) {
      band[static_cast<std::size_t>(d)] = {keys[static_cast<std::size_t>(d * bands + b)], d};
    }
    std::ranges::sort(band);
    for (std::size_t begin = 0, end = 0; begin < band.size(); begin = end) {
      end = begin + 1;
      while (end < band.size() && band[end].first == band[begin].first) {
        ++end;
      }
      if (end - begin > 1) {
        Bucket& bucket = buckets.emplace_back();
        for (std::size_t i = begin; i < end; ++i) {
          bucket.push_back(band[i].second);
        }
      }
    }
  }
  std::ranges::sort(buckets);
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

struct Comparison {
  Index bucket = 0;
  Index compared = 0;
  std::vector<std::pair<Index, Index>> similar;
};

/// Compares the documents of buckets, on one thread.
class Comparer {
 public:
  Comparer(const Documents& documents, const DedupOptions& options)
      : documents_(documents), options_(options) {}

  /// Compares each document with the first of the groups in its bucket, not with all before it.
  void compare(const Bucket& bucket, Comparison& comparison) {
    std::vector<std::pair<Index, std::vector<std::uint64_t>>> representatives;
    comparison.compared = 0;
    comparison.similar.clear();
    for (const Index document : bucket) {
      std::vector<std::uint64_t> shingles = shingles_of(document);
      const auto same = std::ranges::find_if(representatives, [&](const auto& representative) {
        ++comparison.compared;
        return jaccard(representative.second, shingles) >= options_.threshold;
      });
      if (same != representatives.end()) {
        comparison.similar.emplace_back(same->first, document);
      } else if (representatives.size() < kCompared) {
        representatives.emplace_back(document, std::move(shingles));
      }
    }
  }

 private:
  /// Makes a document's shingles, anew when they are needed, since all at once may not fit the
  /// memory.
  std::vector<std::uint64_t> shingles_of(Index document) {
    std::vector<std::uint64_t> shingles;
    // The parser reads behind its line, which is copied for that.
    hash_shingles(documents_.text(record_, documents_.raw(document), documents_.json(document)),
                  static_cast<int>(options_.shingle), shingles);
    std::ranges::sort(shingles);
    shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
    return shingles;
  }

  const Documents& documents_;
  const DedupOptions& options_;
  Record record_;
};

/// Joins documents that are truly similar to groups (3).
DuplicateGroups join_similar(const Documents& documents, const std::vector<Bucket>& buckets,
                             const DedupOptions& options, DedupReport& report) {
  DuplicateGroups groups(documents.count());
  std::vector<Comparer> comparers;
  for (int worker = 0; worker < options.workers; ++worker) {
    comparers.emplace_back(documents, options);
  }
  Index next = 0;
  data::OrderedPipeline<Comparison>(options.workers)
      .run(
          [&](Comparison& comparison) {
            throw_if_stopped(options);
            comparison.bucket = next++;
            return comparison.bucket < std::ssize(buckets);
          },
          [&](int worker, Comparison& comparison) {
            comparers[static_cast<std::size_t>(worker)].compare(
                buckets[static_cast<std::size_t>(comparison.bucket)], comparison);
          },
          [&](Comparison& comparison) {
            report.candidates += comparison.compared;
            for (const auto& [a, b] : comparison.similar) {
              groups.join(a, b);
            }
          });
  return groups;
}

/// Writes the first of each group, and the list of groups; both files appear only when all is
/// written.
void write(const Documents& documents, DuplicateGroups& groups, const DedupOptions& options,
           DedupReport& report) {
  AtomicFile output(options.output);
  for (Index document = 0; document < documents.count(); ++document) {
    if (groups.first(document) != document) {
      ++report.removed;
      continue;
    }
    output.write(documents.raw(document));
    output.write(documents.json(document) ? "\n" : "\n\n");
  }
  const auto found = groups.groups();
  report.groups = std::ssize(found);
  output.sync();
  throw_if_stopped(options);
  if (!options.groups.empty()) {
    AtomicFile list(options.groups);
    for (const auto& group : found) {
      list.write(fmt::format("{{\"keep\": {}, \"remove\": [{}]}}\n", group.front(),
                             fmt::join(group.begin() + 1, group.end(), ", ")));
    }
    list.commit();
  }
  output.commit();
}

/// Throws Error(usage) for sizes that make no sense.
void check(const DedupOptions& options) {
  constexpr Index kMostShingle = 32;
  if (options.shingle < 1 || options.shingle > kMostShingle) {
    throw_usage("--shingle {}: allowed are 1 to {} characters", options.shingle, kMostShingle);
  }
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    throw_usage("--jaccard-threshold {}: allowed are numbers above 0 up to 1", options.threshold);
  }
  if (options.groups == options.output) {
    throw_usage("--groups {}: is --output too; name another file", options.groups);
  }
}

}  // namespace

/// Signs all documents, compares those that share a key, writes one of each group.
DedupReport dedup(const DedupOptions& options) {
  check(options);
  const Timer timer;
  DedupReport report;
  Documents documents(options);
  data::refuse_to_replace(documents.files(), "--output", options.output);
  data::refuse_to_replace(documents.files(), "--groups", options.groups);
  std::vector<Bucket> buckets;
  {
    const std::vector<std::uint64_t> keys = sign_all(documents, options, report);
    buckets = find_buckets(keys, documents.count(), options.bands);
  }
  report.documents = documents.count();
  DuplicateGroups groups = join_similar(documents, buckets, options, report);
  write(documents, groups, options, report);
  report.seconds = timer.seconds();
  return report;
}

}  // namespace mpitron::corpus
