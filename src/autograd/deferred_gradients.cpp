// Plays gradients of weights that were put off, in the order of their passes, so that deferring
// changes no bit.
#include "autograd/deferred_gradients.h"

#include <algorithm>

#include "autograd/context.h"
#include "utils/check.h"

namespace mpitron::autograd {

void DeferredGradients::add(std::span<Parameter* const> parameters, Addition addition) {
  for (const Parameter* parameter : parameters) {
    MPITRON_CHECK(takes(*parameter), parameter->name);
  }
  entries_.push_back(
      {.parameters = {parameters.begin(), parameters.end()}, .addition = std::move(addition)});
}

bool DeferredGradients::release_later(const Parameter& parameter, bool last_microbatch) {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    const auto place = std::ranges::find(entry->parameters, &parameter);
    if (place == entry->parameters.end()) {
      continue;
    }
    if (std::ranges::find(entry->released, &parameter) != entry->released.end()) {
      return false;
    }
    entry->released.push_back(*place);
    entry->last_microbatch = last_microbatch;
    return true;
  }
  return false;
}

void DeferredGradients::play(Context context, std::size_t keep) {
  context.recorder.deferred = nullptr;
  while (entries_.size() > keep) {
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    entry.addition(context);
    context.recorder.last_microbatch = entry.last_microbatch;
    for (Parameter* parameter : entry.released) {
      release(context, *parameter);
    }
  }
}

}  // namespace mpitron::autograd
