#include "kernels/state_space/selective_scan.h"

#include "tests/kernels/state_space/documents.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace selective_scan_test {

/// A scan's sizes, and how far dt and A reach: raw dt in `dt_mean` +- `dt_spread`.
struct Case {
  Index length, heads, groups, head_dim, state_dim, chunk;
  double dt_mean = 0, dt_spread = 2, a_log = 0;
  Index document = 0;  // its length, where sequences have several
};
constexpr Case kCases[] = {{1, 1, 1, 1, 1, 4},
                           {7, 2, 1, 3, 5, 4},
                           {33, 4, 2, 16, 8, 8},
                           {50, 3, 3, 5, 33, 16},
                           {70, 2, 1, 36, 17, 64},
                           {150, 2, 1, 32, 64, 64},            // whole vectors and tiles
                           {40, 2, 1, 4, 6, 12, 35, 5, 2.77},  // decays to e^-640
                           {40, 2, 1, 4, 6, 12, -16, 1},       // decays of 1 - 1e-7
                           {45, 4, 2, 5, 6, 8, 0, 2, 0, 7},    // documents that end within chunks
                           {45, 4, 2, 5, 6, 8, 0, 2, 0, 20},
                           {141, 3, 1, 8, 9, 100},  // chunks that are cut into pieces
                           {200, 2, 2, 8, 16, 128, 0, 2, 0, 70}};

struct Scan {
  Scan(Workbench& bench, DType type, const Case& c)
      : c_(c),
        x(bench.input(type, {c.length, 2, c.heads * c.head_dim})),
        b(bench.input(type, {c.length, 2, c.groups * c.state_dim})),
        c_in(bench.input(type, {c.length, 2, c.groups * c.state_dim})),
        dt(bench.input(type, {c.length, 2, c.heads}, c.dt_spread)),
        a_log(bench.input(type, {c.heads}, 0.1)),
        d(bench.input(type, {c.heads})),
        dt_bias(bench.input(type, {c.heads}, 0.5)),
        starts(document_starts(c.length, c.document)) {
    const auto shift = [](Twin& twin, double by) {
      std::vector<double> values = twin.sides[0].values();
      for (double& value : values) {
        value += by;
      }
      twin.fill(values);
    };
    shift(dt, c.dt_mean), shift(a_log, c.a_log);
  }
  ScanInputs operator()(Side side) {
    return {x(side),     b(side), c_in(side),    dt(side),
            a_log(side), d(side), dt_bias(side), starts_view(starts, c_.document),
            c_.groups};
  }
  Shape states(DType) const {
    return {(c_.length + c_.chunk - 1) / c_.chunk * 2 * c_.heads, c_.state_dim, c_.head_dim};
  }

  const Case& c_;
  Twin &x, &b, &c_in, &dt, &a_log, &d, &dt_bias;
  TestTensor starts;
};

/// fp64 without the error of rounded inputs: chunks against the plain recurrence.
double tolerance_of(DType type) {
  return type == DType::f64 ? 1e-11 : 2e-5;
}

template <class F>
void for_cases(F&& f) {
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    if (type == DType::f64 && !kRecursInFp64) {
      continue;
    }
    for (const Case& c : kCases) {
      SCOPED_TRACE(::testing::Message() << name_of(type) << " length " << c.length << " heads "
                                        << c.heads << " dt " << c.dt_mean);
      f(type, c);
    }
  }
}

TEST(SelectiveScan, ChunksComputeTheRecurrence) {
  for_cases([](DType type, const Case& c) {
    Workbench bench;
    Scan scan(bench, type, c);
    const DType kept = type == DType::f64 ? DType::f64 : DType::f32;
    Twin &y = bench.output(type, scan.x.sides[0].shape()),
         &states = bench.output(kept, scan.states(kept));
    bench.check(
        [&](Side side) {
          return SelectiveScanForward{scan(side), y(side), states(side), c.chunk};
        },
        tolerance_of(type));
  });
}

TEST(SelectiveScan, GradientsOfChunksAreThoseOfTheRecurrence) {
  for_cases([](DType type, const Case& c) {
    Workbench bench;
    Scan scan(bench, type, c);
    const DType kept = type == DType::f64 ? DType::f64 : DType::f32;
    TestTensor states(kept, scan.states(kept)), y(type, scan.x.sides[0].shape());
    device::ReferenceStream reference;
    run(reference, SelectiveScanForward{scan(reference_side), y.view(), states.view(), c.chunk});
    Twin& dy = bench.input(type, scan.x.sides[0].shape());
    Twin& dx = bench.output(type, scan.x.sides[0].shape());
    Twin& db = bench.output(type, scan.b.sides[0].shape());
    Twin& dc = bench.output(type, scan.b.sides[0].shape());
    Twin& ddt = bench.output(type, scan.dt.sides[0].shape());
    const DType sum = type == DType::bf16 ? DType::f32 : type;
    Twin &da = bench.inout(sum, {c.heads}), &dd = bench.inout(sum, {c.heads});
    Twin& dbias = bench.inout(sum, {c.heads});
    TestTensor workspace(kept, scan.states(kept));
    bench.check(
        [&](Side side) {
          return SelectiveScanBackward{
              scan(side), dy(side), states.view(), dx(side), db(side), dc(side),        ddt(side),
              da(side),   dd(side), dbias(side),   c.chunk,  true,     workspace.view()};
        },
        tolerance_of(type) * 5);
  });
}

/// dt of softplus(ln(e - 1)) = 1, a decay of 1/e, x, B and C of 1: sums of a geometric series.
TEST(SelectiveScan, SumsUpWhatItSees) {
  const double raw = std::log(std::expm1(1.0));
  const DType type = kRecursInFp64 ? DType::f64 : DType::f32;
  TestTensor ones(type, {3, 1, 1}, {1, 1, 1}), dt(type, {3, 1, 1}, {raw, raw, raw});
  TestTensor zero(type, {1}, {0}), y(type, {3, 1, 1}), states(type, {2, 1, 1, 1});
  const ScanInputs in{ones.view(), ones.view(), ones.view(), dt.view(),
                      zero.view(), zero.view(), zero.view(), {}};
  run_on_device(SelectiveScanForward{in, y.view(), states.view(), 2});
  const double e = std::exp(-1.0), tolerance = kRecursInFp64 ? 1e-12 : 1e-6;
  EXPECT_NEAR(y.values()[0], 1, tolerance);
  EXPECT_NEAR(y.values()[2], 1 + e + e * e, tolerance);
}

}  // namespace selective_scan_test
}  // namespace mpitron::kernels
