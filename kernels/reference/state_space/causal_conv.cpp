#include "kernels/state_space/causal_conv.h"

#include "kernels/reference/common/activation_math.h"
#include "kernels/reference/common/elements.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::sigmoid;
using reference::Writer;

namespace {

/// One channel of one sample.
struct Channel {
  const Reader &x, &weight, &bias;
  const DocumentStarts& starts;
  Index sample, channel, width;

  /// Of those that see a position of the document.
  Index first_tap(Index i) const { return std::max<Index>(0, starts(i, sample) + width - 1 - i); }
  /// The sum of the last `width` inputs, this one among them; zeros before the sequence.
  double before_activation(Index i) const {
    double sum = bias ? bias(channel) : 0;
    for (Index k = first_tap(i); k < width; ++k) {
      sum += weight(channel, 0, k) * x(i - width + 1 + k, sample, channel);
    }
    return sum;
  }
};

}  // namespace

/// Every channel has its own filter.
void run(device::ReferenceStream&, const CausalConvForward& k) {
  const Reader x(k.x), weight(k.weight), bias(k.bias);
  const DocumentStarts starts(k.starts);
  const Writer y(k.y);
  for (Index i = 0; i < k.x.size(0); ++i) {
    for (Index sample = 0; sample < k.x.size(1); ++sample) {
      for (Index c = 0; c < k.x.size(2); ++c) {
        const double sum =
            Channel{x, weight, bias, starts, sample, c, k.weight.size(2)}.before_activation(i);
        y.set(sum * sigmoid(sum), i, sample, c);
      }
    }
  }
}

/// Through the activation first, whose input is computed again.
void run(device::ReferenceStream&, const CausalConvBackward& k) {
  const Reader x(k.x), dy(k.dy), weight(k.weight), bias(k.bias);
  const DocumentStarts starts(k.starts);
  const Writer dx(k.dx), dweight(k.dweight), dbias(k.dbias);
  const Index s = k.x.size(0), width = k.weight.size(2);
  for (Index c = 0; c < k.x.size(2); ++c) {
    std::vector<double> to_weight(static_cast<std::size_t>(width), 0);
    double to_bias = 0;
    for (Index sample = 0; sample < k.x.size(1); ++sample) {
      const Channel channel{x, weight, bias, starts, sample, c, width};
      std::vector<double> to_x(static_cast<std::size_t>(s), 0);
      for (Index i = 0; i < s; ++i) {
        const double sum = channel.before_activation(i), open = sigmoid(sum);
        const double gradient = dy(i, sample, c) * open * (1 + sum * (1 - open));
        to_bias += gradient;
        for (Index at = channel.first_tap(i); at < width; ++at) {
          const Index j = i - width + 1 + at;
          to_weight[static_cast<std::size_t>(at)] += gradient * x(j, sample, c);
          to_x[static_cast<std::size_t>(j)] += gradient * weight(c, 0, at);
        }
      }
      for (Index i = 0; i < s; ++i) {
        dx.set(to_x[static_cast<std::size_t>(i)], i, sample, c);
      }
    }
    for (Index at = 0; at < width; ++at) {
      const double before = k.accumulate_weight ? dweight(c, 0, at) : 0;
      dweight.set(before + to_weight[static_cast<std::size_t>(at)], c, 0, at);
    }
    if (dbias) {
      dbias.set((k.accumulate_bias ? dbias(c) : 0) + to_bias, c);
    }
  }
}

}  // namespace mpitron::kernels
