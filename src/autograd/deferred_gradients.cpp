#include "autograd/deferred_gradients.h"

#include <algorithm>

#include "autograd/context.h"
#include "utils/check.h"

namespace mpitron::autograd {

void DeferredGradients::add(Parameter& parameter, Addition addition) {
  MPITRON_CHECK(takes(parameter), parameter.name);
  entries_.push_back({.parameter = &parameter, .addition = std::move(addition)});
}

bool DeferredGradients::release_later(const Parameter& parameter, bool last_microbatch) {
  const auto last = std::find_if(entries_.rbegin(), entries_.rend(),
                                 [&](const Entry& entry) { return entry.parameter == &parameter; });
  if (last == entries_.rend() || last->releases) {
    return false;
  }
  last->releases = true;
  last->last_microbatch = last_microbatch;
  return true;
}

void DeferredGradients::play(Context context, std::size_t keep) {
  context.deferred = nullptr;
  while (entries_.size() > keep) {
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    entry.addition(context);
    if (entry.releases) {
      context.last_microbatch = entry.last_microbatch;
      release(context, *entry.parameter);
    }
  }
}

}  // namespace mpitron::autograd
