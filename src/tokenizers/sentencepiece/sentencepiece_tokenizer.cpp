#include "tokenizers/sentencepiece/sentencepiece_tokenizer.h"

#include <algorithm>

#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// Megatron's SentencePiece tokenizers: markers that are added behind the model's pieces, found in
// texts by one search, and pieces between them.

namespace mpitron::tokenizers {
namespace {

std::optional<TokenId> if_any(TokenId id) {
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const std::filesystem::path& model_file, Kind kind,
                                               Index extra_ids)
    : model_file_(model_file),
      kind_(kind),
      extra_ids_(extra_ids),
      pieces_(load_sentencepiece_model(model_file)),
      fingerprint_(hash128_hex(
          fmt::format("{} {} {}", name(), extra_ids, hash128_hex(read_file(model_file))))) {
  const SentencePieceModel& model = pieces_.model();
  if (kind == Kind::plain) {
    add_markers();
    return;
  }
  special_ = {.bos = if_any(model.bos), .eos = if_any(model.eos), .pad = if_any(model.pad)};
  if (model.eos < 0 || (kind == Kind::llama2 && model.bos < 0)) {
    throw_data(
        "--tokenizer-model {}: has no piece for the {} of a text, which --tokenizer-type {} needs; "
        "SentencePieceTokenizer adds its own",
        model_file.string(), model.eos < 0 ? "end (</s>)" : "begin (<s>)", name());
  }
  eod_ = model.eos;
}

/// Takes the id of the piece with this text, or adds one behind the vocabulary.
TokenId SentencePieceTokenizer::add_marker(const std::string& text) {
  const auto& pieces = pieces_.model().pieces;
  const auto known = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const auto& piece) { return piece.text == text; });
  const TokenId id = static_cast<TokenId>(known == pieces.end() ? pieces_.size() + added_++
                                                                : known - pieces.begin());
  markers_.push_back({text, id});
  return id;
}

TokenId SentencePieceTokenizer::add_marker(TokenId of_model, const char* otherwise) {
  return add_marker(of_model < 0 ? otherwise
                                 : pieces_.model().pieces[static_cast<std::size_t>(of_model)].text);
}

/// The order is Megatron's: it decides about ids.
void SentencePieceTokenizer::add_markers() {
  const SentencePieceModel& model = pieces_.model();
  special_.cls = add_marker("<CLS>");
  special_.sep = add_marker("<SEP>");
  eod_ = add_marker("<EOD>");
  special_.mask = add_marker("<MASK>");
  special_.pad = add_marker(model.pad, "<PAD>");
  special_.bos = add_marker(model.bos, "<BOS>");
  special_.eos = add_marker(model.eos, "<EOS>");
  for (Index i = 0; i < extra_ids_; ++i) {
    special_.sentinels.push_back(add_marker(fmt::format("<extra_id_{}>", i)));
  }
  std::vector<std::string> texts;
  for (const Marker& marker : markers_) {
    texts.push_back(marker.text);
  }
  finder_.emplace(texts, MarkerFinder::Tie::first_listed);
}

std::string_view SentencePieceTokenizer::name() const {
  constexpr std::string_view kNames[] = {"SentencePieceTokenizer", "GPTSentencePieceTokenizer",
                                         "Llama2Tokenizer"};
  return kNames[static_cast<std::size_t>(kind_)];
}

TokenizerIdentity SentencePieceTokenizer::identity() const {
  return {"_" + std::string(name()),
          {model_file_.string()},
          {{"vocab_extra_ids", std::to_string(extra_ids_)}}};
}

std::unique_ptr<Tokenizer::Cache> SentencePieceTokenizer::make_cache() const {
  return std::make_unique<SentencePiece::Cache>();
}

void SentencePieceTokenizer::encode(std::string_view text, Cache& cache, TokenIds& ids) const {
  if (kind_ == Kind::llama2) {
    ids.push_back(*special_.bos);
  }
  encode_part(text, cache, ids);
}

void SentencePieceTokenizer::encode_part(std::string_view text, Cache& cache, TokenIds& ids) const {
  auto& words = static_cast<SentencePiece::Cache&>(cache);
  std::size_t at = 0;
  while (finder_) {
    const std::optional<MarkerFinder::Hit> hit = finder_->next(text, at);
    if (!hit) {
      break;
    }
    pieces_.encode(text.substr(at, hit->at - at), words, ids);
    ids.push_back(markers_[hit->marker].id);
    at = hit->at + hit->bytes;
  }
  pieces_.encode(text.substr(at), words, ids);
}

/// Writes markers with blanks around them, as the reference does.
std::string SentencePieceTokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  std::size_t first = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check_token_id(ids[i], vocab_size());
    const auto marker = std::find_if(markers_.begin(), markers_.end(),
                                     [&](const Marker& m) { return m.id == ids[i]; });
    if (marker != markers_.end()) {
      text += pieces_.decode(ids.subspan(first, i - first)) + ' ' + marker->text + ' ';
      first = i + 1;
    }
  }
  return text + pieces_.decode(ids.subspan(first));
}

}  // namespace mpitron::tokenizers
