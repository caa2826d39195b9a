// Shards layer by layer: a layer's gradients are reduced and scattered after its backward pass;
// where parameters are sharded too, they are gathered before its pass and dropped after it. Gathers
// run ahead of the layer that computes, by one layer or by as many elements as an option allows.
#include "parallel/fully_sharded.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "parallel/flat_memory.h"

namespace mpitron::parallel {
namespace {

constexpr std::size_t kKeptBuffers = 2;  // one layer runs, the next one comes

/// The part of x that belongs to this member of the group.
Tensor part_of(const Tensor& x, const comm::Group& group) {
  const Index numel = x.numel() / group.size();
  return x.slice(0, group.rank() * numel, (group.rank() + 1) * numel);
}

/// Units outside the layers have no layer's number.
Index unit_number(const Parameter& parameter) {
  return parameter.placement.shared_over_stages ? -1 : parameter.placement.unit;
}

}  // namespace

FullySharded::FullySharded(device::Device& device, const std::vector<Parameter*>& parameters,
                           const DataParallelOptions& options, ReplicaGroups groups)
    : device_(device), options_(options), groups_(std::move(groups)) {
  for (Parameter* const parameter : parameters) {
    Unit& unit = units_[unit_number(*parameter)];
    unit.parameters.push_back(parameter);
    unit_of_[parameter] = &unit;
    parameter->sink.rounds = rounds_gradient(*parameter, options.gradients);
  }
  for (auto& [number, unit] : units_) {
    unit.outside_layers = number <= 0;
    make_unit(unit);
    largest_layer_ = std::max(largest_layer_, number > 0 ? unit.layout.numel() : 0);
  }
  for (Parameter* const parameter : parameters) {
    add_piece(*parameter);
  }
}

Tensor FullySharded::own_part(const Tensor& whole) const {
  return part_of(whole, *groups_.shard);
}

Tensor FullySharded::buffer(Index numel, DType dtype) const {
  const Tensor memory = Tensor::empty(device_.buffers(), {numel}, dtype);
  groups_.expect(memory);
  return memory;
}

Tensor FullySharded::updated_part(const Tensor& own) const {
  return options_.replicas_share ? part_of(own, *groups_.replicas) : own;
}

/// A layer's parameters side by side, of which this rank keeps an equal part; it has the whole only
/// while it runs the layer.
void FullySharded::make_unit(Unit& unit) {
  unit.dtype = unit.parameters.front()->value.dtype();
  std::vector<LayoutItem> items;
  for (const Parameter* parameter : unit.parameters) {
    MPITRON_CHECK(parameter->value.dtype() == unit.dtype, parameter->name);
    items.push_back({.numel = parameter->value.numel()});
    unit.shapes.push_back(parameter->value.shape());
  }
  const Index parts =
      groups_.shard->size() * (options_.replicas_share ? groups_.replicas->size() : 1);
  unit.layout = lay_out_buckets(items, {.shards = parts});
  unit.values = buffer(unit.layout.numel(), unit.dtype);
  fill_zero(device_, unit.values);
  move_values(device_, unit.parameters, unit.layout, unit.values);
  unit.attached = true;
  unit.own_values = own_part(unit.values);
  unit.own_gradients = buffer(unit.own_values.numel(), options_.gradients.main_grad_dtype);
  fill_zero(device_, unit.own_gradients);
  if (!keeps_values()) {
    const Tensor own = buffer(unit.own_values.numel(), unit.dtype);
    copy(device_, unit.own_values, own);
    unit.own_values = own;
    release(unit);
  }
}

/// Adds the piece of a parameter that lies in the part which is updated here.
void FullySharded::add_piece(Parameter& parameter) {
  const Unit& unit = *unit_of_.at(&parameter);
  const auto place = std::ranges::find(unit.parameters, &parameter) - unit.parameters.begin();
  const auto i = static_cast<std::size_t>(place);
  const Tensor values = updated_part(unit.own_values);
  const Tensor gradients = updated_part(unit.own_gradients);
  const Index first =
      groups_.shard->rank() * unit.own_values.numel() + distance(unit.own_values, values);
  const Index start = unit.layout.offsets[i] - first;  // of the parameter, in what is updated here
  const Index begin = std::max<Index>(start, 0);
  const Index end = std::min(start + unit.shapes[i].numel(), values.numel());
  if (begin < end) {
    pieces_.push_back({.parameter = &parameter,
                       .begin = begin - start,
                       .value = values.slice(0, begin, end),
                       .main_grad = gradients.slice(0, begin, end),
                       .buffer = unit_number(parameter),
                       .counted = options_.replicas_share || groups_.counts()});
  }
}

/// Starts to gather a layer. Where buffers are kept (--fsdp-double-buffer), layers take turns in
/// two of them.
void FullySharded::start_gather(Unit& unit) {
  if (!unit.values) {
    if (options_.keep_gather_buffers && !unit.outside_layers) {
      unit.buffer = take_buffer(unit.dtype);
      unit.values = unit.buffer.slice(0, 0, unit.layout.numel());
    } else {
      unit.values = buffer(unit.layout.numel(), unit.dtype);
    }
    unit.gathering = groups_.shard->all_gather(unit.own_values, unit.values);
  }
}

/// Parameters become views of the gathered memory.
void FullySharded::attach(Unit& unit) {
  start_gather(unit);
  unit.gathering.wait();
  if (unit.attached) {
    return;
  }
  for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
    const Index begin = unit.layout.offsets[i], end = begin + unit.shapes[i].numel();
    unit.parameters[i]->value = unit.values.slice(0, begin, end).reshape(unit.shapes[i]);
  }
  unit.attached = true;
}

void FullySharded::release(Unit& unit) {
  if (keeps_values() || !unit.values) {
    return;
  }
  unit.gathering.wait();
  for (Parameter* parameter : unit.parameters) {
    parameter->value = {};
  }
  unit.values = {};
  unit.attached = false;
  std::vector<Tensor>& spare = spare_buffers_[unit.dtype];
  if (unit.buffer && spare.size() < kKeptBuffers) {
    spare.push_back(unit.buffer);
  }
  unit.buffer = {};
}

Tensor FullySharded::take_buffer(DType dtype) {
  std::vector<Tensor>& spare = spare_buffers_[dtype];
  if (spare.empty()) {
    return buffer(largest_layer_, dtype);
  }
  Tensor buffer = std::move(spare.back());
  spare.pop_back();
  return buffer;
}

/// Memory between parameters is zero, because sums run over it as well.
void FullySharded::start_gradients(Unit& unit) {
  unit.gradients = buffer(unit.layout.numel(), options_.gradients.main_grad_dtype);
  const std::vector<std::size_t>& items = unit.layout.buckets.front().items;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::size_t i = items[k];
    const Index begin = unit.layout.offsets[i], end = begin + unit.shapes[i].numel();
    const Index next =
        k + 1 < items.size() ? unit.layout.offsets[items[k + 1]] : unit.layout.numel();
    if (next > end) {
      fill_zero(device_, unit.gradients.slice(0, end, next));
    }
    Parameter& parameter = *unit.parameters[i];
    parameter.sink.main_grad = unit.gradients.slice(0, begin, end).reshape(unit.shapes[i]);
    parameter.sink.written = false;
    parameter.sink.sent = false;
  }
}

/// A gradient that nobody wrote counts as zeros.
void FullySharded::start_reduction(Unit& unit) {
  for (Parameter* parameter : unit.parameters) {
    if (!parameter->sink.written) {
      fill_zero(device_, parameter->sink.main_grad);
    }
    parameter->sink.sent = true;
    parameter->sink.main_grad = {};
  }
  unit.reduction = groups_.shard->reduce_scatter(unit.gradients, own_part(unit.gradients));
  unit.reducing = true;
}

/// The sums of microbatches are added up in this rank's part.
void FullySharded::finish_reduction(Unit& unit) {
  if (!unit.reducing) {
    return;
  }
  unit.reduction.wait();
  const Tensor sum = own_part(unit.gradients);
  if (std::exchange(unit.has_gradients, true)) {
    device::launch(device_.stream(), kernels::Add{.a = unit.own_gradients.view(),
                                                  .b = sum.view(),
                                                  .y = unit.own_gradients.view()});
  } else {
    copy(device_, sum, unit.own_gradients);
  }
  unit.gradients = {};
  unit.reducing = false;
}

Index FullySharded::neighbour(Index number, Index direction) const {
  if (direction > 0) {
    const auto behind = units_.upper_bound(number);
    return behind != units_.end() ? behind->first : 0;
  }
  const auto at = units_.find(number);
  return at != units_.begin() ? std::prev(at)->first : 0;
}

/// The last layer to have whole while `number` runs and the next ones follow in `direction`.
Index FullySharded::last_ahead(Index number, Index direction) const {
  Index whole = units_.at(number).layout.numel();
  const Index wanted = options_.gathered_elements.value_or(whole + 1);  // one layer ahead
  for (Index next = neighbour(number, direction); next > 0 && whole < wanted;
       next = neighbour(next, direction)) {
    number = next;
    whole += units_.at(next).layout.numel();
  }
  return number;
}

/// Has this layer whole and gathers those that come next, as many as allowed; what lies behind is
/// released.
void FullySharded::enter(Index number, autograd::Pass pass) {
  if (!units_.contains(number)) {
    return;
  }
  Unit& unit = units_.at(number);
  const Index direction = pass_ == autograd::Pass::backward ? -1 : 1;  // also of what it replays
  const Index last = number > 0 ? last_ahead(number, direction) : number;
  for (auto& [other, held] : units_) {
    const bool ahead = (other - number) * direction > 0 && (last - other) * direction >= 0;
    if (other != number && !held.outside_layers && !ahead) {
      release(held);
    }
  }
  attach(unit);
  for (Index next = number; next != last;) {
    next = neighbour(next, direction);
    start_gather(units_.at(next));
  }
  if (pass == autograd::Pass::backward) {
    for (auto& [other, reduced] : units_) {
      finish_reduction(reduced);
    }
    start_gradients(unit);
  }
}

void FullySharded::leave(Index number, autograd::Pass pass) {
  if (pass == autograd::Pass::backward && units_.contains(number)) {
    Unit& unit = units_.at(number);
    start_reduction(unit);
    if (!options_.overlap_grad_reduce) {
      finish_reduction(unit);
    }
  }
}

void FullySharded::before_use(Parameter& parameter) {
  Unit& unit = *unit_of_.at(&parameter);
  attach(unit);
  if (in_step_ && unit.outside_layers && !unit.gradients) {
    start_gradients(unit);
  }
}

void FullySharded::begin_step() {
  in_step_ = true;
  for (auto& [number, unit] : units_) {
    unit.has_gradients = false;
  }
}

void FullySharded::begin_pass(autograd::Pass pass) {
  pass_ = pass;
  for (auto& [number, unit] : units_) {
    finish_reduction(unit);
  }
}

/// Sums the own parts over the replicas of shards, or shares these out again between them.
void FullySharded::finish_step() {
  in_step_ = false;
  for (auto& [number, unit] : units_) {
    if (unit.outside_layers && unit.gradients) {
      start_reduction(unit);
    }
  }
  for (auto& [number, unit] : units_) {
    finish_reduction(unit);
    unit.gathering.wait();  // the update may write now
    release(unit);
    if (!unit.has_gradients) {
      fill_zero(device_, unit.own_gradients);
    }
    unit.reduction =
        options_.replicas_share
            ? groups_.replicas->reduce_scatter(unit.own_gradients, updated_part(unit.own_gradients))
            : groups_.replicas->all_reduce(unit.own_gradients);
  }
  for (auto& [number, unit] : units_) {
    unit.reduction.wait();
  }
}

/// Makes parameters whole after an update; where values are kept in parts, layers are gathered when
/// they run instead.
void FullySharded::gather_parameters() {
  if (options_.replicas_share) {
    for (auto& [number, unit] : units_) {
      unit.gathering = groups_.replicas->all_gather(updated_part(unit.own_values), unit.own_values);
    }
    for (auto& [number, unit] : units_) {
      unit.gathering.wait();
    }
  }
  if (!keeps_values()) {
    return;  // the parts are the parameters
  }
  for (auto& [number, unit] : units_) {
    unit.gathering = groups_.shard->all_gather(unit.own_values, unit.values);
  }
  if (!options_.overlap_param_gather) {
    make_whole();
  }
}

void FullySharded::make_whole() {
  for (auto& [number, unit] : units_) {
    attach(unit);
  }
}

}  // namespace mpitron::parallel
