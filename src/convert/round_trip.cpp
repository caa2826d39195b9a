#include "convert/round_trip.h"

#include <algorithm>

#include "convert/translation.h"

// Reads back what was written and compares the hashes of all tensors with those of the source: the
// proof of a conversion, at the price of reading everything once more.

namespace mpitron::convert {
namespace {

/// Returns whether rows stand for words: formats pad the vocabulary to different sizes.
bool has_vocabulary_rows(const std::string& our_name) {
  return our_name.ends_with("embedding.word_embeddings.weight") ||
         our_name.ends_with("output_layer.weight") || our_name.ends_with("output_layer.bias");
}

}  // namespace

Hash128 hash_of(const HostTensor& tensor, Index rows) {
  const Index all = tensor.shape().rank() > 0 ? tensor.shape()[0] : 1;
  const std::size_t size = tensor.bytes().size() / static_cast<std::size_t>(all) *
                           static_cast<std::size_t>(std::min(rows, all));
  return hash128({reinterpret_cast<const char*>(tensor.bytes().data()), size});
}

std::vector<std::string> RoundTrip::different() const {
  std::vector<std::string> names;
  for (const ComparedTensor& tensor : tensors) {
    if (!tensor.equal()) {
      names.push_back(tensor.name);
    }
  }
  return names;
}

RoundTrip check_round_trip(ModelReader& source, ModelReader& output, const Progress& progress) {
  std::unique_ptr<TensorSource> inverse;
  TensorSource* back = &output.ours();
  TensorSource* original = &source.ours();
  if (source.table()) {  // all the way back to what was read
    inverse = to_theirs(output.ours(), *source.table());
    back = inverse.get();
    original = &source.stored();
  }
  const Index words =
      std::min(source.description().stored_vocab_size(), output.description().stored_vocab_size());
  const Index total = back->bytes();
  RoundTrip result;
  for (const TensorInfo& info : back->tensors()) {
    if (source.table() && source.table()->is_unused(info.name)) {
      continue;
    }
    const bool padded = !source.table() && has_vocabulary_rows(info.name);
    const Index rows = padded ? words : info.shape[0];
    // Files of other releases spell names in another way than the output.
    const std::string name =
        source.table() ? find_theirs(*original, *source.table(), info.name)->name : info.name;
    const Hash128 before = hash_of(original->read(name), rows);
    result.tensors.push_back({name, before, hash_of(back->read(info.name), rows)});
    result.bytes += info.bytes();
    progress(result.bytes, total, name);
  }
  return result;
}

}  // namespace mpitron::convert
