#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "config/parse/parse.h"
#include "config/values/option_help.h"
#include "data/gpt/sequence_source.h"
#include "io/logs/json_text.h"
#include "train/batches/sample_schedule.h"
#include "train/batches/training_data.h"
#include "utils/log.h"

// `mpitron data trace`: from an iteration to the documents it reads, with their bytes on disk, or
// from a document to the iterations that read it. Both follow from flags alone: the sample order is
// a function of seed, sizes and layout, so no run is asked.

namespace mpitron::cli {
namespace {

using data::SamplePiece;
using train::ScheduledSample;

constexpr const char* kTraceHelp =
    "usage: mpitron data trace OPTIONS --iteration K [--rank R] [--json]\n"
    "       mpitron data trace OPTIONS --document PREFIX:N [--json]\n\n"
    "Says which documents an iteration of training reads, with their bytes on disk (of\n"
    "data-parallel rank R alone, if given), or which iterations read document N (from 0 on) of a\n"
    "corpus of --data-path.\n";

/// Returns the number; Error(usage) names the flag.
Index number_of(const std::string& flag, const std::string& text) {
  Index value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) {
    throw_usage("{} {}: expected a whole number", flag, text);
  }
  return value;
}

/// The text and JSON forms of a sample and of a piece; the JSON of a sample stays open for its
/// pieces.
std::string line(const ScheduledSample& use) {
  return fmt::format("iteration {} rank {} microbatch {} sample {}", use.iteration,
                     use.data_parallel_rank, use.microbatch, use.sample);
}

std::string to_json(const ScheduledSample& use) {
  return fmt::format(R"({{"iteration": {}, "rank": {}, "microbatch": {}, "sample": {})",
                     use.iteration, use.data_parallel_rank, use.microbatch, use.sample);
}

std::string line(const SamplePiece& piece) {
  const auto place = piece.source->place(piece.sequence, piece.offset, piece.tokens);
  return fmt::format("  {} document {} sequence {} tokens [{}, {}){}", piece.source->name(),
                     piece.source->document_of(piece.sequence), piece.sequence, piece.offset,
                     piece.offset + piece.tokens,
                     place ? fmt::format(" = bytes [{}, {}) of {}", place->begin,
                                         place->begin + place->bytes, place->file)
                           : "");
}

std::string to_json(const SamplePiece& piece) {
  const auto place = piece.source->place(piece.sequence, piece.offset, piece.tokens);
  return fmt::format(
      R"({{"corpus": {}, "document": {}, "sequence": {}, "first_token": {}, "tokens": {}{}}})",
      io::json_string(piece.source->name()), piece.source->document_of(piece.sequence),
      piece.sequence, piece.offset, piece.tokens,
      place ? fmt::format(R"(, "file": {}, "first_byte": {}, "bytes": {})",
                          io::json_string(place->file), place->begin, place->bytes)
            : "");
}

/// Prints each sample with its pieces in their order, as lines or as one JSON object.
void print_iteration(const data::Dataset& dataset, const std::vector<ScheduledSample>& samples,
                     bool json) {
  std::string text;
  std::vector<SamplePiece> pieces;
  for (const ScheduledSample& use : samples) {
    pieces.clear();
    dataset.trace(use.sample, pieces);
    if (!json) {
      log::print(line(use));
    }
    std::string list;
    for (const SamplePiece& piece : pieces) {
      if (json) {
        list += (list.empty() ? "" : ", ") + to_json(piece);
      } else {
        log::print(line(piece));
      }
    }
    text += fmt::format("{}{}, \"pieces\": [{}]}}", text.empty() ? "" : ", ", to_json(use), list);
  }
  if (json) {
    log::print(fmt::format(R"({{"samples": [{}]}})", text));
  }
}

/// Returns the samples that hold `document` ("PREFIX:N"), sorted. Error(usage) for a corpus that
/// training does not read or a document that it does not have.
std::vector<Index> samples_of(const data::GptDataRequest& request, const data::Dataset& dataset,
                              const std::string& document) {
  const std::size_t colon = document.rfind(':');
  if (colon == std::string::npos) {
    throw_usage("--document {}: expected PREFIX:N, the name of a corpus and a document of it",
                document);
  }
  const std::string name = document.substr(0, colon);
  const Index n = number_of("--document", document.substr(colon + 1));
  const data::Blend& blend =
      request.blend.prefixes.empty() ? request.per_split[data::Split::train] : request.blend;
  if (std::find(blend.prefixes.begin(), blend.prefixes.end(), name) == blend.prefixes.end()) {
    throw_usage("--document {}: no corpus of that name; training reads {}", document,
                fmt::format("{}", fmt::join(blend.prefixes, ", ")));
  }
  const data::CorpusSource corpus(name, io::BinAccess::mapped);
  if (n < 0 || n >= corpus.document_count()) {
    throw_usage("--document {}: the corpus has the documents 0 to {}", document,
                corpus.document_count() - 1);
  }
  std::vector<Index> samples;
  const auto [begin, end] = corpus.sequences_of(n);
  dataset.find(name, begin, end, samples);
  std::sort(samples.begin(), samples.end());
  return samples;
}

/// Prints when the samples of a document are read: each epoch reads them anew, so that uses may be
/// more than samples.
void print_uses(const std::vector<ScheduledSample>& uses, Index samples, bool json) {
  std::string list;
  for (const ScheduledSample& use : uses) {
    if (json) {
      list += (list.empty() ? "" : ", ") + to_json(use) + "}";
    } else {
      log::print(line(use));
    }
  }
  if (json) {
    log::print(fmt::format(R"({{"samples": {}, "uses": [{}]}})", samples, list));
  } else {
    log::print(fmt::format("{} samples hold the document; training uses them {} times", samples,
                           uses.size()));
  }
}

}  // namespace

/// The command's own words are taken out first; all others are options of the run.
int data_trace(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kTraceHelp + *help);
    return static_cast<int>(ExitCode::success);
  }
  Arguments flags = arguments;
  const bool json = take_flag(flags, "--json");
  const auto iteration = take_value(flags, "--iteration");
  const auto document = take_value(flags, "--document");
  const auto rank = take_value(flags, "--rank");
  if (iteration.has_value() == document.has_value()) {
    throw_usage("data trace: give one of --iteration K and --document PREFIX:N\n{}", kTraceHelp);
  }
  const config::RunConfig config = config::parse_run_config(flags);
  if (config.data.sft) {
    throw_usage(
        "data trace: --sft needs none: sample k is conversation k modulo the conversations of its "
        "split, which `mpitron data report` counts");
  }
  const auto tokenizer = train::make_run_tokenizer(config.data);
  const data::GptDataRequest request = train::make_data_request(config, *tokenizer);
  const data::GptData sets = data::make_gpt_data(request);
  if (sets.train == nullptr) {
    throw_usage("data trace: the run has no training data; give --data-path");
  }
  const train::SampleSchedule schedule(config, sets.train->size());
  if (document) {
    const std::vector<Index> samples = samples_of(request, *sets.train, *document);
    print_uses(schedule.uses([&](Index sample) {
      return std::binary_search(samples.begin(), samples.end(), sample);
    }),
               static_cast<Index>(samples.size()), json);
    return static_cast<int>(ExitCode::success);
  }
  std::vector<ScheduledSample> samples = schedule.at(number_of("--iteration", *iteration));
  if (rank) {
    const Index only = number_of("--rank", *rank);
    if (only < 0 || only >= config.parallel.data_parallel_size) {
      throw_usage("--rank {}: the data-parallel ranks of the run are 0 to {}", only,
                  config.parallel.data_parallel_size - 1);
    }
    std::erase_if(samples,
                  [&](const ScheduledSample& use) { return use.data_parallel_rank != only; });
  }
  print_iteration(*sets.train, samples, json);
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
