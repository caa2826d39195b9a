#include "train/checkpointing/checkpoint_state.h"

#include <string_view>

namespace mpitron::train {
namespace {

constexpr std::string_view kModel = "model/";
constexpr std::string_view kMasters = "optimizer/fp32_param/";

}  // namespace

void StateToSave::tensor(const tensor::ShardedTensor& tensor) {
  if (own_ || !tensor.saved_elsewhere) {
    tensors_.push_back(tensor);
  }
}

/// Training in fp32 keeps no masters beside its parameters, training in half precision does:
/// whoever has only one of the two finds the other's.
void StateToLoad::tensor(const tensor::ShardedTensor& tensor) {
  std::vector<std::string> sources{tensor.name};
  if (tensor.name.starts_with(kMasters)) {
    sources.push_back(std::string(kModel) + tensor.name.substr(kMasters.size()));
  } else if (with_masters_ && tensor.name.starts_with(kModel) && tensor.value.dtype == DType::f32) {
    sources.insert(sources.begin(), std::string(kMasters) + tensor.name.substr(kModel.size()));
  }
  tensors_.push_back({tensor, std::move(sources)});
}

bool StateToLoad::replaced(const checkpoint::File& file, const std::string& data_set) const {
  return with_masters_ && data_set.starts_with(kModel) &&
         file.find(std::string(kMasters) + data_set.substr(kModel.size())) != nullptr;
}

template <class T>
void StateToLoad::take(const std::map<std::string, T>& from, const std::string& name, T& value) {
  const auto found = from.find(name);
  if (found == from.end()) {
    missing_values_.push_back(name);
  } else {
    value = found->second;
  }
}

void StateToLoad::number(const std::string& name, Index& value) {
  take(header_.integers, name, value);
}

void StateToLoad::number(const std::string& name, double& value) {
  take(header_.reals, name, value);
}

void StateToLoad::text(const std::string& name, std::string& value) {
  take(header_.texts, name, value);
}

}  // namespace mpitron::train
