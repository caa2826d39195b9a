#pragma once
#include <span>
#include <string_view>

namespace mpitron::config {

/// The kinds of models, each with a word of --model.
enum class ModelKind { gpt, mamba, bert, t5, vit, vlm };

/// Kinds of samples that models learn from; `train` has a row for each that says how it is read.
enum class SampleKind {
  texts,           // running text, cut anywhere
  sentence_pairs,  // padded; some tokens masked, the parts in order or not
  masked_spans,    // padded; spans of one sequence are to be said by another
  images,          // of a folder
  image_texts,     // texts with images between their tokens
  labelled_texts,  // whole texts, of which a head says something; of no family alone
};

/// Facts on a kind of models that flags, rules and layers need.
struct ModelFamily {
  ModelKind kind;
  const char* name;   // of --model
  const char* title;  // in messages
  SampleKind samples;
  bool decoder_only = false;     // no position sees those behind it, and text is continued
  bool encoder_decoder = false;  // behind the encoder's layers come as many of a decoder
  bool by_letters = false;       // a pattern says what each layer is

  /// Returns whether samples end before their sequence does.
  bool padded() const {
    return samples == SampleKind::sentence_pairs || samples == SampleKind::masked_spans;
  }
  bool generates() const { return decoder_only || encoder_decoder; }
  /// False for models of images, which have no vocabulary.
  bool has_words() const { return samples != SampleKind::images; }
};

/// The table, with a row for each kind in its order.
std::span<const ModelFamily> model_families();
const ModelFamily& family_of(ModelKind kind);
/// Returns the family of a word of --model; an unknown word is left to the rules, and is GPT until
/// then.
const ModelFamily& family_of(std::string_view name);

}  // namespace mpitron::config
