#include "plan/time/layer_time.h"
#include "plan/time/product_time.h"

// Time of what stands behind the layers: the products that end in scores of words, and their loss.

namespace mpitron::plan {
namespace {

/// Adds a product of 16 bits and its two of the backward pass.
void add_plain_product(const Setting& setting, const Product& p, LayerTime& time) {
  const auto seconds = [&](double m, double n, double k) {
    return setting.stack.products * product_time(setting.machine, {m, n, k, 1, Precision::bf16});
  };
  time.forward.products += seconds(p.m, p.n, p.k);
  time.backward.products += seconds(p.m, p.k, p.n) + seconds(p.k, p.n, p.m);
}

}  // namespace

/// Adds the product with the vocabulary and, as an estimate, the bytes that the loss moves for a
/// score in the forward and the backward pass.
LayerTime head_time(const Setting& setting) {
  const Job& job = setting.job;
  const double vocabulary = job.vocabulary() / job.tensor();
  const double memory = setting.machine.memory_bandwidth * setting.machine.memory_share;
  LayerTime time;
  add_plain_product(setting, {job.tokens(), vocabulary, job.hidden()}, time);
  time.forward.elementwise = 10 * job.tokens() * vocabulary / memory;
  time.backward.elementwise = 6 * job.tokens() * vocabulary / memory;
  return time;
}

LayerTime depth_time(const Setting& setting) {
  const Job& job = setting.job;
  LayerTime time = head_time(setting);
  add_plain_product(setting, {job.tokens(), job.hidden() / job.tensor(), 2 * job.hidden()}, time);
  return time;
}

}  // namespace mpitron::plan
