#pragma once

namespace mpitron::checkpoint {

/// An integer of a header: tokens of the run's tokenizer, or those that a converted model had rows
/// for; the table's other rows are padding.
inline constexpr const char* kVocabularySize = "model/vocabulary_size";

}  // namespace mpitron::checkpoint
