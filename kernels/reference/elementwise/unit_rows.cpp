#include "kernels/elementwise/unit_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/rows.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

void run(device::ReferenceStream&, const UnitRowsForward& k) {
  const Reader x(k.x), gain(k.gain);
  const Writer y(k.y), norm(k.norm);
  const Index h = k.x.size(-1);
  for (Index t = 0; t < row_count(k.x); ++t) {
    double squares = 0;
    for (Index j = 0; j < h; ++j) {
      squares += x(t, j) * x(t, j);
    }
    const double length = std::sqrt(squares);
    const double factor = (gain ? gain(t) : 1) / std::max(length, static_cast<double>(k.eps));
    for (Index j = 0; j < h; ++j) {
      y.set(factor * x(t, j), t, j);
    }
    norm.set(length, t);
  }
}

void run(device::ReferenceStream&, const UnitRowsBackward& k) {
  const Reader x(k.x), dy(k.dy), gain(k.gain), norm(k.norm);
  const Writer dx(k.dx), dgain(k.dgain);
  const Index h = k.x.size(-1);
  for (Index t = 0; t < row_count(k.x); ++t) {
    const bool constant = norm(t) <= static_cast<double>(k.eps);
    const double length = constant ? static_cast<double>(k.eps) : norm(t);
    double along = 0;
    for (Index j = 0; j < h; ++j) {
      along += dy(t, j) * x(t, j) / length;
    }
    const double factor = (gain ? gain(t) : 1) / length;
    for (Index j = 0; j < h; ++j) {
      const double turned = dy(t, j) - (constant ? 0 : along * x(t, j) / length);
      dx.set(factor * turned + (k.accumulate ? dx(t, j) : 0), t, j);
    }
    if (dgain) {
      dgain.set(along + (k.accumulate ? dgain(t) : 0), t);
    }
  }
}

}  // namespace mpitron::kernels
