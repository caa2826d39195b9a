#include "kernels/linear/moment_scale.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

void run(device::ReferenceStream&, const MomentScale& k) {
  const Reader x(k.x), old(k.moments);
  const Writer moments(k.moments), y(k.y);
  const Index lines = k.x.size(k.columns ? 1 : 0), length = k.x.size(k.columns ? 0 : 1);
  for (Index line = 0; line < lines; ++line) {
    const auto at = [&](Index i) { return k.columns ? x(i, line) : x(line, i); };
    double squares = 0;
    for (Index i = 0; i < length; ++i) {
      squares += at(i) * at(i);
    }
    const double moment = k.beta * old(line) + (1 - k.beta) * squares / static_cast<double>(length);
    moments.set(moment, line);
    const double root = std::sqrt(std::max(moment, k.eps));
    for (Index i = 0; i < length; ++i) {
      k.columns ? y.set(at(i) / root, i, line) : y.set(at(i) / root, line, i);
    }
  }
}

}  // namespace mpitron::kernels
