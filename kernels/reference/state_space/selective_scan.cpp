#include "kernels/state_space/selective_scan.h"

#include "kernels/elementwise/softplus.h"
#include "kernels/reference/common/elements.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// One head of one sample, position by position.
class Head {
 public:
  Head(const ScanInputs& in, Index sample, Index head)
      : x_(in.x),
        b_(in.b),
        c_(in.c),
        dt_(in.dt),
        starts_(in.starts),
        sample_(sample),
        head_(head),
        group_(head / in.heads_of_group()),
        p_(in.head_dim()),
        n_(in.state_dim()),
        a_(-std::exp(Reader(in.a_log)(head))),
        bias_(Reader(in.dt_bias)(head)) {}

  double x(Index i, Index p) const { return x_(i, sample_, head_ * p_ + p); }
  double b(Index i, Index n) const { return b_(i, sample_, group_ * n_ + n); }
  double c(Index i, Index n) const { return c_(i, sample_, group_ * n_ + n); }
  double raw(Index i) const { return dt_(i, sample_, head_) + bias_; }
  double dt(Index i) const { return softplus(raw(i)); }
  double a() const { return a_; }
  /// Nothing is left of another document.
  double decay(Index i) const { return starts_.begins(i, sample_) ? 0 : std::exp(dt(i) * a_); }
  /// From S_(i-1) to S_i, [n, p].
  void advance(std::vector<double>& state, Index i) const {
    const double keep = decay(i), step = dt(i);
    for (Index at = 0; at < n_ * p_; ++at) {
      double& value = state[static_cast<std::size_t>(at)];
      value = keep * value + step * b(i, at / p_) * x(i, at % p_);
    }
  }

 private:
  Reader x_, b_, c_, dt_;
  DocumentStarts starts_;
  Index sample_, head_, group_, p_, n_;
  double a_, bias_;
};

struct ScanGradients {
  double a = 0, d = 0, bias = 0;
};

/// Gradients of the passes through one head; db and dc add up over the heads of a group.
class BackwardHead {
 public:
  BackwardHead(const SelectiveScanBackward& k, Index sample, Index head)
      : k_(k),
        head_(k.in, sample, head),
        dy_(k.dy),
        sample_(sample),
        number_(head),
        p_(k.in.head_dim()),
        n_(k.in.state_dim()) {}

  /// From the last position to the first, over states kept from a forward pass.
  ScanGradients run(std::vector<double>& db, std::vector<double>& dc) {
    const Index s = k_.in.x.size(0);
    std::vector<std::vector<double>> states(1, std::vector<double>(size(n_ * p_), 0));
    for (Index i = 0; i < s; ++i) {
      states.push_back(states.back());
      head_.advance(states.back(), i);
    }
    ScanGradients sums;
    gradient_.assign(size(n_ * p_), 0);
    for (Index i = s - 1; i >= 0; --i) {
      step(i, states, db, dc, sums);
    }
    sums.a *= head_.a();
    return sums;
  }

 private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  /// One position: what the later ones ask of the state flows into dt, A, B, C, x.
  void step(Index i, const std::vector<std::vector<double>>& states, std::vector<double>& db,
            std::vector<double>& dc, ScanGradients& sums) {
    const double dt = head_.dt(i), keep = head_.decay(i);
    double to_dt = 0, to_decay = 0;
    std::vector<double> to_x(size(p_), 0);
    for (Index n = 0; n < n_; ++n) {
      for (Index p = 0; p < p_; ++p) {
        const std::size_t at = size(n * p_ + p);
        const double g = dy_(i, sample_, number_ * p_ + p);
        gradient_[at] += g * head_.c(i, n);
        dc[size(i * n_ + n)] += g * states[size(i + 1)][at];
        db[size(i * n_ + n)] += dt * gradient_[at] * head_.x(i, p);
        to_x[size(p)] += dt * gradient_[at] * head_.b(i, n);
        to_dt += gradient_[at] * head_.b(i, n) * head_.x(i, p);
        to_decay += gradient_[at] * states[size(i)][at];
        gradient_[at] *= keep;
      }
    }
    const double d = Reader(k_.in.d)(number_);
    for (Index p = 0; p < p_; ++p) {
      const double g = dy_(i, sample_, number_ * p_ + p);
      sums.d += g * head_.x(i, p);
      Writer(k_.dx).set(to_x[size(p)] + d * g, i, sample_, number_ * p_ + p);
    }
    sums.a += to_decay * keep * dt;
    const double to_raw = (to_dt + to_decay * keep * head_.a()) / (1 + std::exp(-head_.raw(i)));
    sums.bias += to_raw;
    Writer(k_.ddt).set(to_raw, i, sample_, number_);
  }

  const SelectiveScanBackward& k_;
  Head head_;
  Reader dy_;
  Index sample_, number_, p_, n_;
  std::vector<double> gradient_;  // of the state behind the position, [n, p]
};

}  // namespace

/// h = exp(dt A) h + dt B x; y = C h + D x, in double.
void run(device::ReferenceStream&, const SelectiveScanForward& k) {
  const Writer y(k.y), states(k.states);
  const Reader d(k.in.d);
  const Index s = k.in.x.size(0), samples = k.in.x.size(1), p = k.in.head_dim();
  const Index n = k.in.state_dim(), heads = k.in.heads();
  for (Index row = 0; row < samples * heads; ++row) {
    const Index sample = row / heads, number = row % heads;
    const Head head(k.in, sample, number);
    std::vector<double> state(static_cast<std::size_t>(n * p), 0);
    for (Index i = 0; i < s; ++i) {
      for (Index at = 0; states && i % k.chunk == 0 && at < n * p; ++at) {
        states.set(state[static_cast<std::size_t>(at)],
                   (i / k.chunk * samples * heads + row) * n * p + at);
      }
      head.advance(state, i);
      for (Index column = 0; column < p; ++column) {
        double sum = d(number) * head.x(i, column);
        for (Index at = 0; at < n; ++at) {
          sum += state[static_cast<std::size_t>(at * p + column)] * head.c(i, at);
        }
        y.set(sum, i, sample, number * p + column);
      }
    }
  }
}

/// B and C collect the gradients of the heads of their group.
void run(device::ReferenceStream&, const SelectiveScanBackward& k) {
  const Index s = k.in.x.size(0), n = k.in.state_dim(), heads = k.in.heads();
  std::vector<ScanGradients> sums(static_cast<std::size_t>(heads));
  for (Index sample = 0; sample < k.in.x.size(1); ++sample) {
    for (Index group = 0; group < k.in.groups; ++group) {
      std::vector<double> db(static_cast<std::size_t>(s * n), 0), dc = db;
      const Index first = group * k.in.heads_of_group();
      for (Index head = first; head < first + k.in.heads_of_group(); ++head) {
        const ScanGradients own = BackwardHead(k, sample, head).run(db, dc);
        ScanGradients& sum = sums[static_cast<std::size_t>(head)];
        sum.a += own.a, sum.d += own.d, sum.bias += own.bias;
      }
      for (Index i = 0; i < s * n; ++i) {
        Writer(k.db).set(db[static_cast<std::size_t>(i)], i / n, sample, group * n + i % n);
        Writer(k.dc).set(dc[static_cast<std::size_t>(i)], i / n, sample, group * n + i % n);
      }
    }
  }
  for (Index head = 0; head < heads; ++head) {
    const ScanGradients& sum = sums[static_cast<std::size_t>(head)];
    const auto put = [&](const InOut& to, double value) {
      const Writer writer(to);
      writer.set((k.accumulate ? writer(head) : 0) + value, head);
    };
    put(k.da_log, sum.a), put(k.dd, sum.d), put(k.ddt_bias, sum.bias);
  }
}

}  // namespace mpitron::kernels
