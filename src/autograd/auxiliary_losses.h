#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace mpitron::autograd {

/// Named rows of numbers of layers, summed over the microbatches of a step: what is told of
/// auxiliary losses (one number for a layer) and of the tokens of experts.
class LayerSums {
 public:
  /// `layer` is 1-based and global (a depth of multi-token prediction counts from 1 as well).
  void add(std::string_view name, Index layer, std::span<const double> row);
  void add(std::string_view name, Index layer, double value) { add(name, layer, {&value, 1}); }
  /// A number on the device, fp64 [1]: where the host cannot read it there, `read` adds it.
  void add(device::Device& device, std::string_view name, Index layer, const tensor::Tensor& value);
  /// Counts one more row and returns the mean of all rows since the step began.
  std::vector<double> running_mean(std::string_view name, Index layer, std::span<const double> row);
  /// The largest of each number of the rows since the step began; numbers that nobody gave are the
  /// smallest that there is.
  void raise(std::string_view name, Index layer, std::span<const double> row);
  std::vector<double> largest(std::string_view name, Index layers, Index width) const;
  /// Waits for the device and adds what it knew: once a step.
  void read(device::Device& device);
  /// [layers, width], 0 where nothing was added.
  std::vector<double> of(std::string_view name, Index layers, Index width = 1) const;
  void clear();

 private:
  using Rows = std::map<Index, std::vector<double>>;  // of layers
  struct Unread {
    std::string name;
    Index layer;
  };
  std::map<std::string, Rows, std::less<>> sums_, largest_;
  std::map<std::pair<std::string, Index>, Index> counted_;  // rows of running means
  std::vector<Unread> unread_;
  std::vector<tensor::Tensor> unread_values_;
};

/// What a pass over one microbatch tells layers that have losses of their own, beside the model's
/// main one: the gradient that a unit of such a loss gets, and where its value is summed. Nothing
/// is added in an evaluation, nor in the first pass of a recomputed block.
struct AuxiliaryLosses {
  /// Of a mean over all tokens of the microbatch, whichever ranks hold them (router losses; each
  /// rank adds its part of the gradient): loss scale / (microbatches x data parallel replicas).
  /// With per-token loss the whole step is divided by its tokens later: times the microbatch's.
  double microbatch_seed = 0;
  /// Seed of a mean over this rank's tokens, or of a token's loss with per-token loss: the main
  /// loss's.
  double token_seed = 0;
  bool per_token_loss = false;
  LayerSums* sums = nullptr;
};

}  // namespace mpitron::autograd
