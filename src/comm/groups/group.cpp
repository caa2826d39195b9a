// Checks operations and starts them. Shapes are checked here, once for all transports; a group of
// one copies its input and is done.
#include "comm/groups/group.h"

#include <cstring>
#include <numeric>

namespace mpitron::comm {
namespace {

Index sum_of(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index{0});
}

}  // namespace

const char* name_of(CollectiveKind kind) {
  constexpr const char* kNames[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                    "broadcast",  "barrier",        "send",       "receive"};
  return kNames[static_cast<int>(kind)];
}

/// A group of one has nobody to talk to, whatever its transport.
Work Group::run(const Request& request) {
  MPITRON_CHECK(request.input.contiguous() && request.output.contiguous(), name_);
  if (size() == 1) {
    run_alone(request);
    return {};
  }
  return start(request);
}

/// Copies the input to the output where they differ: every collective of one member is that.
void Group::run_alone(const Request& request) {
  const bool copies = request.input.data != nullptr && request.output.data != nullptr &&
                      request.input.data != request.output.data;
  if (copies) {
    std::memcpy(request.output.data, request.input.data,
                static_cast<std::size_t>(request.output.bytes()));
  }
}

Work Group::all_reduce(const TensorView& x, Reduction reduction) {
  return run({.kind = CollectiveKind::all_reduce, .output = x, .reduction = reduction});
}

Work Group::reduce_scatter(const ConstTensorView& x, const TensorView& y) {
  MPITRON_CHECK(x.numel() == y.numel() * size() && x.dtype == y.dtype, x.numel(), y.numel());
  return run({.kind = CollectiveKind::reduce_scatter, .input = x, .output = y});
}

Work Group::all_gather(const ConstTensorView& x, const TensorView& y) {
  MPITRON_CHECK(y.numel() == x.numel() * size() && x.dtype == y.dtype, x.numel(), y.numel());
  return run({.kind = CollectiveKind::all_gather, .input = x, .output = y});
}

Work Group::all_to_all(const ConstTensorView& x, const TensorView& y) {
  MPITRON_CHECK(x.numel() % size() == 0, x.numel(), size());
  const std::vector<Index> counts(ranks_.size(), x.numel() / size());
  return all_to_all(x, y, counts, counts);
}

/// Counts are in elements; the ranks agree on them before, so that no message tells them.
Work Group::all_to_all(const ConstTensorView& x, const TensorView& y,
                       std::vector<Index> input_counts, std::vector<Index> output_counts) {
  MPITRON_CHECK(sum_of(input_counts) == x.numel() && sum_of(output_counts) == y.numel(), name_);
  MPITRON_CHECK(x.dtype == y.dtype && (x.numel() == 0 || x.data != y.data), name_);
  return run({.kind = CollectiveKind::all_to_all,
              .input = x,
              .output = y,
              .input_counts = std::move(input_counts),
              .output_counts = std::move(output_counts)});
}

Work Group::broadcast(const TensorView& x, Index root) {
  return run({.kind = CollectiveKind::broadcast, .output = x, .peer = root});
}

Work Group::send(const ConstTensorView& x, Index to, Index label) {
  MPITRON_CHECK(to >= 0 && to < size() && to != rank_, to, rank_);
  return run({.kind = CollectiveKind::send, .input = x, .peer = to, .label = label});
}

Work Group::receive(const TensorView& x, Index from, Index label) {
  MPITRON_CHECK(from >= 0 && from < size() && from != rank_, from, rank_);
  return run({.kind = CollectiveKind::receive, .output = x, .peer = from, .label = label});
}

void Group::barrier() {
  run({.kind = CollectiveKind::barrier}).wait();
}

double Group::reduce(double value, Reduction reduction) {
  all_reduce({&value, DType::f64, {1}}, reduction).wait();
  return value;
}

void Group::expect(const TensorView&) {}

}  // namespace mpitron::comm
